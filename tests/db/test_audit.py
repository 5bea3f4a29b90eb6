"""The audit trail: nobody changes it, its chain shows whoever tries, and refusals do not drown it."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from senselab.accounts import audit, sealing, services
from senselab.accounts.audit import Refusals, Who
from senselab.accounts.models import AuditRecord

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ADA = Who("person", "ada", "192.0.2.7", "r-1")


@pytest.fixture
def told(account) -> list[AuditRecord]:
    """Three records, one after the other."""
    made = [
        audit.record(account.pk, "role_given", by=ADA, at=NOON, target=name, before={"role": "viewer"}, after={"n": n})
        for n, name in enumerate(("rex", "vera", "ida"))
    ]
    with connection.cursor() as cursor:
        # Keys that wait to be checked at the end would stand in the way of what these tests try.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    return made


def chain(account) -> list[tuple[int, bytes]]:
    found = AuditRecord.objects.filter(account=account).order_by("id")
    return [(one.number, bytes(one.seal) if one.seal else b"") for one in found]


def test_records_are_sealed_in_the_order_they_came_in(account, told):
    assert sealing.seal_everywhere() >= 3
    assert [number for number, _ in chain(account)] == [1, 2, 3]
    audit.record(account.pk, "sign_in", by=ADA, at=NOON)
    assert sealing.seal(account.pk) == 1
    assert list(sealing.findings(account.pk)) == []


def test_sealing_twice_changes_nothing(account, told):
    sealing.seal(account.pk)
    before = chain(account)
    assert sealing.seal(account.pk) == 0
    assert chain(account) == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE accounts_auditrecord SET actor = 'eve' WHERE account_id = %s",
        "UPDATE accounts_auditrecord SET seal = NULL, number = NULL, digest = NULL WHERE account_id = %s",
        "DELETE FROM accounts_auditrecord WHERE account_id = %s",
        "TRUNCATE accounts_auditrecord",
    ],
)
def test_the_database_refuses_to_change_the_trail(account, told, statement):
    sealing.seal(account.pk)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, [account.pk] if "%s" in statement else [])


def test_what_is_not_sealed_yet_cannot_be_changed_either(account, told):
    sql = "UPDATE accounts_auditrecord SET actor = 'eve', number = 1, digest = 'x', seal = 'x' WHERE account_id = %s"
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, [account.pk])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE accounts_auditrecord SET actor = 'eve' WHERE account_id = %s AND number = 2", "2 says something else"),
        ("UPDATE accounts_auditrecord SET count = 9 WHERE account_id = %s AND number = 2", "2 does not fit"),
        ("DELETE FROM accounts_auditrecord WHERE account_id = %s AND number = 2", "2 is missing"),
    ],
)
def test_verify_finds_what_somebody_changed_behind_the_wall(account, told, change, words):
    sealing.seal(account.pk)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_auditrecord DISABLE TRIGGER the_trail_is_append_only")
        cursor.execute(change, [account.pk])
        cursor.execute("ALTER TABLE accounts_auditrecord ENABLE TRIGGER the_trail_is_append_only")
    assert words in " ".join(sealing.findings(account.pk))
    said = StringIO()
    with pytest.raises(SystemExit):
        call_command("verify", account=account.slug, stdout=said)
    assert words in said.getvalue()


def test_verify_tells_how_old_the_unsealed_part_is(account, told):
    assert sealing.open_words(account.pk, NOON + timedelta(seconds=90)).endswith("for the last 90 s")
    sealing.seal(account.pk)
    assert sealing.open_words(account.pk, NOON) == ""
    said = StringIO()
    call_command("verify", account=account.slug, stdout=said)
    assert "3 audit records" in said.getvalue()


def test_the_chain_of_an_account_knows_nothing_of_another(account, other_account, told):
    audit.record(other_account.pk, "sign_in", by=ADA, at=NOON)
    sealing.seal_everywhere()
    assert [number for number, _ in chain(other_account)] == [1]
    assert list(sealing.findings(other_account.pk)) == []


def test_names_may_go_one_day_and_every_seal_still_fits(account, told):
    """The digest of the names stands in the seal, not the names."""
    sealing.seal(account.pk)
    one = AuditRecord.objects.get(account=account, number=2)
    before = AuditRecord.objects.get(account=account, number=1)
    one.actor = ""
    assert sealing.seal_of(bytes(before.seal), 2, bytes(one.digest), one) == bytes(one.seal)


def refused(account) -> list[tuple[str, int]]:
    found = AuditRecord.objects.filter(account=account, action="refused").order_by("id")
    return [(one.actor, one.count) for one in found]


def test_more_than_ten_refusals_a_minute_from_one_source_become_one_record_with_a_count(account):
    gathered = Refusals()
    for second in range(50):
        gathered.note(account.pk, ADA, status=403, target="GET /x", now=NOON + timedelta(seconds=second))
    gathered.write(NOON + timedelta(seconds=50))
    assert refused(account) == [("ada", 1)] * 10
    gathered.write(NOON + timedelta(seconds=61))
    assert refused(account) == [("ada", 1)] * 10 + [("ada", 40)]


def test_another_source_and_the_next_minute_are_told_apart(account):
    gathered, rex = Refusals(), Who("person", "rex", "192.0.2.8")
    for _ in range(12):
        gathered.note(account.pk, ADA, status=403, target="GET /x", now=NOON)
    gathered.note(account.pk, rex, status=403, target="GET /x", now=NOON)
    gathered.note(account.pk, ADA, status=403, target="GET /x", now=NOON + timedelta(minutes=1))
    gathered.write(NOON, everything=True)
    assert sorted(refused(account)) == sorted([("ada", 1)] * 11 + [("ada", 2), ("rex", 1)])


def test_an_account_goes_with_its_trail(account, told):
    pk = account.pk
    services.drop_account(account)
    assert not AuditRecord.objects.filter(account_id=pk).exists()
