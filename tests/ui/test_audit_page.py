"""Settings > Audit, as a page and as a file."""

import csv
import io
from datetime import UTC, datetime

import pytest

from senselab.accounts import audit
from senselab.accounts.audit import Who
from senselab.accounts.models import AuditRecord
from tests.ui.conftest import plain

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOSTILE = '=HYPERLINK("http://x")'


@pytest.fixture
def admin(client_of, ada):
    return client_of(ada)


def tell(account, target, actor="ada", action="role_given", at=NOON, **more):
    audit.record(account.pk, action, by=Who("person", actor, "192.0.2.7", "r-1"), at=at, target=target, **more)


def test_records_are_told_in_words_newest_first(account, admin):
    tell(account, "rex", before={"role": "viewer"}, after={"role": "admin"})
    tell(account, "", actor="vera", action="sign_in")
    said = plain(admin.get("/settings/audit/").content.decode())
    assert "Gave a role" in said
    assert "role viewer" in said
    assert "role admin" in said
    assert "192.0.2.7" in said
    assert said.index("vera") < said.index("rex")


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        ("action=sign_in", {"b"}),
        ("actor=vera", {"b"}),
        ("target=-A", {"a"}),
        ("since=2026-03-02", {"b"}),
        ("until=2026-03-01", {"a"}),
        ("address=192.0.2.7", {"a", "b"}),
        ("address=192.0.2.9", set()),
    ],
)
def test_filters_stand_in_the_address(account, admin, query, seen):
    tell(account, "target-a")
    tell(account, "target-b", actor="vera", action="sign_in", at=datetime(2026, 3, 2, tzinfo=UTC))
    html = admin.get(f"/settings/audit/?{query}").content.decode()
    assert {letter for letter in "ab" if f"target-{letter}" in html} == seen


@pytest.mark.parametrize("query", ["action=fly", "since=soon", "address=here", "cursor=?", "target=%00"])
def test_what_cannot_be_asked_is_said(admin, query):
    answer = admin.get(f"/settings/audit/?{query}")
    assert answer.status_code == 400
    assert 'role="alert"' in answer.content.decode()


def test_pages_follow_by_keyset(account, admin):
    for n in range(103):
        tell(account, f"t-{n:03}")
    first = admin.get("/settings/audit/?action=role_given").content.decode()
    assert "t-102" in first
    assert "t-002" not in first
    address = first.split('rel="next"')[0].rpartition('href="')[2].split('"')[0].replace("&amp;", "&")
    assert "t-002" in admin.get(f"/settings/audit/{address}").content.decode()


def test_the_file_holds_no_formula_and_its_making_is_on_record(account, admin):
    tell(account, HOSTILE, actor="@ada", after={"role": "=1+1"})
    answer = admin.get("/settings/audit/?action=role_given&format=csv")
    assert answer["Content-Type"].startswith("text/csv")
    text = b"".join(answer.streaming_content).decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["target"] == f"'{HOSTILE}"
    assert row["actor"] == "'@ada"
    assert row["action"] == "role_given"
    assert AuditRecord.objects.filter(account=account, action="exported").count() == 1


def test_hostile_words_break_out_of_nothing(account, admin):
    tell(account, "<script>alert(1)</script>\u202e", actor='"><img src=x>', after={"<b>": "<i>"})
    html = admin.get("/settings/audit/").content.decode()
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "<i>" not in html


def test_only_admins_read_the_trail(client_of, vera, rex):
    for person in (vera, rex):
        client = client_of(person)
        assert client.get("/settings/audit/").status_code == 403
        assert client.get("/settings/audit/?format=csv").status_code == 403


def test_the_trail_of_another_account_is_not_there(account, other_account, admin):
    tell(other_account, "their-target")
    assert "their-target" not in admin.get("/settings/audit/").content.decode()
    text = b"".join(admin.get("/settings/audit/?format=csv").streaming_content).decode()
    assert "their-target" not in text


@pytest.mark.parametrize("count", [10, 1_000])
def test_a_page_takes_as_many_statements_however_long_the_trail_is(
    account, admin, django_assert_max_num_queries, count
):
    AuditRecord.objects.bulk_create(
        [AuditRecord(account=account, at=NOON, action="sign_in", actor_kind="person", salt=b"x") for _ in range(count)],
        batch_size=500,
    )
    with django_assert_max_num_queries(6):
        assert admin.get("/settings/audit/").status_code == 200


def test_a_saved_policy_is_on_record(account, admin):
    html = admin.get("/policy/").content.decode()
    assert html
    from memories.services import policies
    from memories.services.acts import Actor

    policies.save(account.pk, {"mass_decay": 0.7}, expected=1, actor=Actor("person", "ada"), reason="why", now=NOON)
    saved = AuditRecord.objects.get(account=account, action="policy_saved")
    assert (saved.target, saved.after["mass_decay"], saved.before["version"]) == ("version 2", 0.7, 1)
