"""/api/v1/admin/: keys made, listed and revoked, what is used and what is set; for keys with the scope admin."""

import pytest

from senselab.accounts import services as accounts
from senselab.accounts.models import ApiKey
from tests.api.conftest import Caller


@pytest.fixture
def admin(account) -> Caller:
    """A key that may everything."""
    return Caller(accounts.create_key(account, name="admin key", scopes=("admin",), rate_per_minute=1_000_000))


@pytest.mark.parametrize("path", ["api-keys", "usage", "config"])
def test_it_needs_the_scope_admin(bot, reviewer, path):
    assert [who.get(f"admin/{path}").status_code for who in (bot, reviewer)] == [403, 403]
    assert bot.post("admin/api-keys", {"name": "mine", "scopes": ["admin"]}).status_code == 403


def test_a_key_is_shown_once_works_and_can_be_revoked(admin):
    made = admin.post("admin/api-keys", {"name": "new", "agent_id": "agent/new", "rate_limit_rpm": 100})
    told = made.json()
    assert (made.status_code, told["scopes"], told["agent_id"]) == (201, ["read", "write"], "agent/new")
    new = Caller(told["key"])
    assert new.write("shop", "a", 1).json()["provenance"]["agent_id"] == "agent/new"
    listed = admin.get("admin/api-keys")
    assert told["key"] not in listed.content.decode()
    assert told["key"].startswith(listed.json()["keys"][0]["prefix"] + "_")
    assert admin.delete(f"admin/api-keys/{told['id']}").json()["active"] is False
    assert new.get("entries").status_code == 401


def test_patterns_of_the_public_server_become_globs(admin):
    part = {"name": "old", "scopes": [{"pattern": "shop/**", "permission": "read"}]}
    told = admin.post("admin/api-keys", part).json()
    assert told["scopes"] == ["read"]
    assert told["globs"] == part["scopes"]
    narrow = Caller(told["key"])
    assert [narrow.get(f"entries/{path}/k").status_code for path in ("shop/checkout", "vault")] == [200, 403]
    odd = {"name": "old", "scopes": [{"pattern": "shop/**", "permission": "fly"}]}
    assert admin.post("admin/api-keys", odd).status_code == 422


def test_a_rotated_key_has_a_new_text_that_works_at_once(admin):
    told = admin.post("admin/api-keys", {"name": "new"}).json()
    turned = admin.post(f"admin/api-keys/{told['id']}/rotate", {"overlap_hours": 0})
    assert turned.json()["key"] != told["key"]
    assert Caller(turned.json()["key"]).get("entries").status_code == 200
    assert Caller(told["key"]).get("entries").status_code == 401
    assert admin.post("admin/api-keys/0/rotate", {}).status_code == 404
    assert admin.post(f"admin/api-keys/{told['id']}/rotate", {"overlap_hours": 9999}).status_code == 422


def test_what_is_no_scope_is_refused(admin):
    assert admin.post("admin/api-keys", {"name": "odd", "scopes": ["fly"]}).status_code == 422


def test_keys_of_other_accounts_do_not_exist(admin, other_account):
    theirs = accounts.make_key(other_account, name="theirs").key
    assert admin.delete(f"admin/api-keys/{theirs.pk}").status_code == 404
    assert "theirs" not in admin.get("admin/api-keys").content.decode()


def test_usage_counts_private_entries_and_config_tells_no_secret(admin, bot, settings):
    bot.write("shop", "a", 1, shared=False)
    assert admin.get("admin/usage").json()["entries"] == 1
    told = admin.get("admin/config")
    assert told.json()["policy"] == "evidence-v1@1"
    assert settings.SECRET_KEY not in told.content.decode()


def test_every_answer_to_a_key_tells_its_rate(account, bot):
    few = Caller(accounts.create_key(account, name="few", rate_per_minute=2))
    answers = [few.get("entries") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    rates = [(answer["X-RateLimit-Limit"], answer["X-RateLimit-Remaining"]) for answer in answers]
    assert rates == [("2", "1"), ("2", "0"), ("2", "0")]
    assert {answer["X-RateLimit-Window"] for answer in answers} == {"60"}
    assert int(answers[2]["Retry-After"]) >= 1
    assert "X-RateLimit-Limit" not in bot.client.get("/health")


def test_a_moment_that_no_calendar_of_ours_has_is_refused(admin):
    for moment in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        refused = admin.post("admin/api-keys", {"name": "odd", "expires_at": moment})
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/expires_at")
    assert admin.get("admin/api-keys").status_code == 200
    assert admin.get("admin/audit", since="0001-01-01T00:00:00+14:00").status_code == 422


def test_a_key_that_makes_keys_takes_no_globs(admin):
    asked = {"name": "both", "scopes": ["admin"], "globs": [{"pattern": "shop/**"}]}
    refused = admin.post("admin/api-keys", asked)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/globs")
    mixed = {"name": "both", "scopes": ["admin", {"pattern": "shop/**", "permission": "read"}]}
    assert admin.post("admin/api-keys", mixed).status_code == 422


def test_a_key_that_had_both_before_looks_after_no_keys(account, admin):
    made = accounts.make_key(account, name="both", scopes=("admin",))
    ApiKey.objects.filter(account=account, pk=made.key.pk).update(globs=[{"pattern": "shop/**"}])
    both = Caller(made.text)
    assert both.post("admin/api-keys", {"name": "wide"}).status_code == 403
    assert both.post(f"admin/api-keys/{made.key.pk}/rotate", {}).status_code == 403
    assert both.write("shop/checkout", "a", 1).status_code == 200
