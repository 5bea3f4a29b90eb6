"""What the trail tells of calls: keys, refusals, and who may read it."""

import pytest
from django.utils import timezone

from senselab.accounts import audit, services
from senselab.accounts.audit import SYSTEM
from senselab.accounts.models import AuditRecord
from tests.api.conftest import Caller


@pytest.fixture
def admin(account) -> Caller:
    return Caller(services.create_key(account, name="admin key", scopes=("admin",), rate_per_minute=1_000_000))


@pytest.fixture(autouse=True)
def nothing_waits(db: None) -> None:
    audit.refusals.write(everything=True)


def actions(account) -> list[tuple[str, str, str]]:
    audit.refusals.write()
    found = AuditRecord.objects.filter(account=account).order_by("id")
    return [(one.action, one.actor, one.target) for one in found if one.actor_kind != "system"]


def test_keys_made_rotated_and_revoked_are_told_without_a_secret(account, admin):
    told = admin.post("admin/api-keys", {"name": "new", "globs": [{"pattern": "shop/**"}]}).json()
    turned = admin.post(f"admin/api-keys/{told['id']}/rotate", {}).json()
    admin.delete(f"admin/api-keys/{told['id']}")
    name = f"new ({told['prefix'].removeprefix('sl_')})"
    assert actions(account) == [(f"key_{word}", "admin key", name) for word in ("made", "rotated", "revoked")]
    whole = admin.get("admin/audit").content.decode()
    assert "shop/**" in whole
    assert all(text.split("_", 2)[2] not in whole for text in (told["key"], turned["key"]))


def test_what_a_key_may_not_do_is_told_with_its_route_and_never_its_values(account, bot):
    assert bot.get("admin/api-keys", secret="hunter2").status_code == 403
    assert actions(account) == [("refused", "test key", "GET /api/v1/admin/api-keys")]
    one = AuditRecord.objects.get(account=account, action="refused")
    assert (one.after, one.address) == ({"status": 403}, "127.0.0.1")
    assert one.request_id != ""


def test_a_wrong_secret_of_a_known_key_is_told_and_an_unknown_key_is_nobodys(account, bot):
    bot.headers["X-AMFS-API-Key"] = bot.headers["X-AMFS-API-Key"][:-1] + "?"
    assert bot.get("entries").status_code == 401
    assert Caller("sl_0123456789abcdef_x").get("entries").status_code == 401
    assert actions(account) == [("refused", "test key", "GET /api/v1/entries")]


def test_no_call_waits_for_the_trail(bot, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert bot.get("admin/api-keys").status_code == 403


def test_the_trail_needs_the_scope_admin(bot, reviewer, admin):
    assert [who.get("admin/audit").status_code for who in (bot, reviewer, admin)] == [403, 403, 200]


def test_the_trail_of_another_account_is_not_there(account, other_account, admin):
    audit.record(other_account.pk, "sign_in", by=SYSTEM, at=timezone.now(), target="theirs")
    assert "theirs" not in admin.get("admin/audit").content.decode()
    assert admin.get("admin/audit", target="theirs").json()["records"] == []


def test_the_trail_is_walked_by_cursor_and_filtered(account, admin):
    for n in range(5):
        audit.record(account.pk, "sign_in", by=SYSTEM, at=timezone.now(), target=f"p{n}")
    first = admin.get("admin/audit", action="sign_in", limit=3).json()
    rest = admin.get("admin/audit", action="sign_in", limit=3, cursor=first["next"]).json()
    assert [one["target"] for one in first["records"] + rest["records"]] == ["p4", "p3", "p2", "p1", "p0"]
    assert rest["next"] is None
    assert [one["target"] for one in admin.get("admin/audit", target="P3").json()["records"]] == ["p3"]
    for query in ({"action": "fly"}, {"address": "here"}, {"limit": "0"}, {"target": "a\0"}):
        assert admin.get("admin/audit", **query).status_code == 422
    assert admin.get("admin/audit", cursor="?").status_code == 400
    assert admin.get("admin/audit", since="yesterday").status_code == 400


@pytest.mark.parametrize("count", [10, 1_000])
def test_a_page_of_the_trail_takes_as_many_statements_however_long_it_is(
    account, admin, django_assert_num_queries, count
):
    records = [
        AuditRecord(account=account, at=timezone.now(), action="sign_in", actor_kind="person", salt=b"x")
        for _ in range(count)
    ]
    AuditRecord.objects.bulk_create(records, batch_size=500)
    with django_assert_num_queries(2):
        assert admin.get("admin/audit").status_code == 200
