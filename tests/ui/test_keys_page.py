"""Settings > Keys."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from senselab.accounts import services
from senselab.accounts.models import ApiKey
from tests.api.conftest import Caller
from tests.ui.conftest import plain


@pytest.fixture
def admin(client_of, ada):
    return client_of(ada)


FORM = {"name": "deploy bot", "scope": ["read", "write"], "globs": "shop/**\nread:docs/*", "rate": "60"}


def made(admin, **said):
    answer = admin.post("/settings/keys/", FORM | said)
    found = re.search(r'id="made-key" readonly value="([^"]+)"', answer.content.decode())
    return answer, found[1] if found else ""


def test_a_key_is_made_shown_once_and_works(account, admin):
    answer, text = made(admin)
    assert answer.status_code == 200
    assert text not in admin.get("/settings/keys/").content.decode()
    bot = Caller(text)
    assert [bot.write(path, "k", 1).status_code for path in ("shop/checkout", "docs/a", "vault")] == [200, 403, 403]
    key = ApiKey.objects.get(account=account, name="deploy bot")
    assert (key.rate_per_minute, key.globs[1]) == (60, {"pattern": "docs/*", "permission": "read"})


@pytest.mark.parametrize(
    "said",
    [{"name": " "}, {"scope": []}, {"scope": "fly"}, {"rate": "0"}, {"rate": "x"}, {"expires": "2020-01-01"},
     {"expires": "soon"}, {"globs": "x" * 2000}, {"agent_id": "a\0"}, {"name": "a\nb"}],
)  # fmt: skip
def test_what_cannot_be_a_key_is_refused_in_words(account, admin, said):
    answer, text = made(admin, **said)
    assert (answer.status_code, text) == (422, "")
    assert "No key was made." in plain(answer.content.decode())
    assert not ApiKey.objects.filter(account=account).exists()


def test_a_key_is_rotated_and_revoked(account, admin):
    _, text = made(admin)
    key = ApiKey.objects.get(account=account)
    turned = admin.post(f"/settings/keys/{key.pk}/rotate/", {"overlap": "0"}).content.decode()
    new = re.search(r'id="made-key" readonly value="([^"]+)"', turned)[1]
    assert [Caller(one).get("entries").status_code for one in (text, new)] == [401, 200]
    assert admin.post(f"/settings/keys/{key.pk}/revoke/").status_code == 302
    assert Caller(new).get("entries").status_code == 401
    assert admin.post(f"/settings/keys/{key.pk}/rotate/", {"overlap": "1"}).status_code == 409
    assert admin.post(f"/settings/keys/{key.pk}/rotate/", {"overlap": "7"}).status_code == 422


def test_only_admins_see_keys(client_of, vera, rex):
    for person in (vera, rex):
        client = client_of(person)
        assert client.get("/settings/keys/").status_code == 403
        assert client.post("/settings/keys/", FORM).status_code == 403
        assert "/settings/keys/" not in client.get("/settings/you/").content.decode()


def test_the_keys_of_another_account_are_not_there(admin, other_account):
    theirs = services.make_key(other_account, name="their key").key
    assert "their key" not in admin.get("/settings/keys/").content.decode()
    for what in ("rotate", "revoke"):
        assert admin.post(f"/settings/keys/{theirs.pk}/{what}/", {"overlap": "24"}).status_code == 404
    theirs.refresh_from_db(from_queryset=ApiKey.objects.filter(account=other_account))
    assert theirs.revoked_at is None


def test_a_name_breaks_out_of_nothing(account, admin):
    made(admin, name='<img src=x onerror=alert(1)>"\u202e')
    html = admin.get("/settings/keys/").content.decode()
    assert "<img" not in html
    assert "\u202e" not in html.split("<title>")[0]


@pytest.mark.parametrize("count", [10, 1_000])
def test_the_list_takes_as_many_statements_however_long_it_is(account, admin, count):
    rows = [
        ApiKey(account=account, public_id=f"{n:016x}", secret_sha256=b"x" * 32, name=f"key {n}", scopes=["read"],
               last_used_at=timezone.now())
        for n in range(count)
    ]  # fmt: skip
    ApiKey.objects.bulk_create(rows, batch_size=500)
    admin.get("/settings/keys/")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert admin.get("/settings/keys/").status_code == 200
    assert len(asked) <= 6
