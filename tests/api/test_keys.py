"""Keys over their life: used, rotated, ended; ten thousand of them cost no more than one."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from senselab.accounts import keys, services
from senselab.accounts.models import ApiKey
from senselab.errors import Conflict, Invalid
from tests.api.conftest import Caller


@pytest.fixture
def made(account) -> services.MadeKey:
    return services.make_key(account, name="deploys")


def status(text: str) -> int:
    return Caller(text).get("entries").status_code


def test_only_the_hash_of_a_secret_is_kept(made):
    secret = made.text.split("_", 2)[2]
    assert bytes(made.key.secret_sha256) == services.sha256(secret)
    assert len(secret) >= 43


def test_after_a_rotation_both_secrets_work_until_the_old_one_ends(account, made):
    now = timezone.now()
    new = services.rotate_key(account.pk, made.key.pk, now=now, overlap=timedelta(hours=1))
    assert new.text != made.text
    assert (status(made.text), status(new.text)) == (200, 200)
    ApiKey.objects.filter(account=account).update(old_until=now)
    assert (status(made.text), status(new.text)) == (401, 200)


def test_a_second_rotation_ends_the_first_secret(account, made):
    second = services.rotate_key(account.pk, made.key.pk, now=timezone.now())
    third = services.rotate_key(account.pk, made.key.pk, now=timezone.now())
    assert [status(text) for text in (made.text, second.text, third.text)] == [401, 200, 200]


def test_without_overlap_the_old_secret_ends_at_once(account, made):
    new = services.rotate_key(account.pk, made.key.pk, now=timezone.now(), overlap=timedelta())
    assert (status(made.text), status(new.text)) == (401, 200)


def test_a_revoked_key_ends_at_once_with_both_its_secrets(account, made):
    new = services.rotate_key(account.pk, made.key.pk, now=timezone.now())
    services.revoke_key(account.pk, made.key.pk, now=timezone.now())
    assert (status(made.text), status(new.text)) == (401, 401)
    with pytest.raises(Conflict):
        services.rotate_key(account.pk, made.key.pk, now=timezone.now())


def test_an_expired_key_is_no_key(account):
    ended = services.create_key(account, name="short", expires_at=timezone.now() - timedelta(seconds=1))
    assert status(ended) == 401


def test_a_key_of_another_account_is_not_there(account, other_account, made):
    for change in (services.revoke_key, services.rotate_key):
        with pytest.raises(services.NoSuchKey):
            change(other_account.pk, made.key.pk, now=timezone.now())
    assert status(made.text) == 200


def test_an_overlap_lasts_thirty_days_at_most(account, made):
    with pytest.raises(Invalid):
        services.rotate_key(account.pk, made.key.pk, now=timezone.now(), overlap=timedelta(days=31))


def test_it_is_known_from_where_a_key_was_last_used(account, made):
    caller = Caller(made.text)
    caller.client.get("/api/v1/entries", headers=caller.headers, REMOTE_ADDR="192.0.2.7")
    keys.write_uses()
    caller.client.get("/api/v1/entries", headers=caller.headers, REMOTE_ADDR="::ffff:192.0.2.8")
    keys.write_uses()
    assert ApiKey.objects.get(account=account).last_used_from == "192.0.2.8"


def test_only_a_trusted_proxy_says_where_a_call_comes_from(account, made, settings):
    caller = Caller(made.text)
    told = {"X-Forwarded-For": "198.51.100.1, 192.0.2.9, 10.0.0.2"} | caller.headers
    for proxies, seen in (([], "10.0.0.1"), (["10.0.0.0/8"], "192.0.2.9"), (["172.16.0.0/12"], "10.0.0.1")):
        settings.TRUSTED_PROXIES = proxies
        caller.client.get("/api/v1/entries", headers=told, REMOTE_ADDR="10.0.0.1")
        keys.write_uses()
        assert ApiKey.objects.get(account=account).last_used_from == seen


def test_among_ten_thousand_keys_one_is_found_down_an_index(account, made):
    rows = [
        ApiKey(account=account, public_id=f"{n:016x}", secret_sha256=b"x" * 32, name=f"key {n}", scopes=["read"])
        for n in range(10_000)
    ]
    ApiKey.objects.bulk_create(rows, batch_size=1_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_apikey")
    # Past the wall that every statement of ours goes through: this one is only explained.
    asked = keys.FIND.replace("%s", f"'{made.key.public_id}'")
    plan = "\n".join(line for (line,) in connection.connection.execute(f"EXPLAIN {asked}").fetchall())
    assert "Index Scan using a_key_is_found_by_its_public_id" in plan
    assert "Seq Scan on accounts_apikey" not in plan
    assert status(made.text) == 200
