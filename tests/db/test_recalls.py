"""Recalls are gathered and written in batches: what is read is counted a moment later, and nobody waits for it."""

from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError

from memories import recalls
from memories.recalls import Buffer, Read
from memories.rules.policy import DEFAULT
from senselab.accounts import keys
from senselab.accounts.models import ApiKey
from tests.db import acts
from tests.db.acts import NOON

DAY = timedelta(days=1)


def kept(account) -> list[tuple]:
    return acts.rows_of(
        "SELECT recall_count, freshness, accessed_at FROM memories_recall WHERE account_id = %s", account.pk
    )


def read(entry_id: int, at=NOON, *, agent: str = acts.BOB, version: int = 1) -> Read:
    return Read(entry_id, version, agent, "", at, 200)


def test_a_recall_keeps_the_freshness_earned_so_far_and_silence_starts_anew(db, account):
    entry_id = acts.put(account, confidence=0.8).entry_id
    recalls.write(account.pk, DEFAULT, [read(entry_id, NOON + 69 * DAY)])
    assert kept(account) == [(1, pytest.approx(0.5, rel=1e-12), NOON + 69 * DAY)]
    row = acts.entry(account, now=NOON + 70 * DAY)
    assert row.version == 1
    assert row.freshness(NOON + 69 * DAY, DEFAULT) == pytest.approx(0.5, rel=1e-12)


def test_a_recall_that_arrives_late_only_adds_to_the_count(db, account):
    entry_id = acts.put(account).entry_id
    recalls.write(account.pk, DEFAULT, [read(entry_id, NOON + 69 * DAY)])
    ((_, freshness, accessed_at),) = kept(account)
    recalls.write(account.pk, DEFAULT, [read(entry_id, NOON + 3 * DAY)])
    assert kept(account) == [(2, freshness, accessed_at)]


def test_a_recall_before_the_last_write_does_not_wear_it_down(db, account):
    entry_id = acts.put(account).entry_id
    acts.put(account, 2, now=NOON + 69 * DAY)
    recalls.write(account.pk, DEFAULT, [read(entry_id, NOON + 3 * DAY)])
    assert kept(account)[0][:2] == (1, 1.0)
    assert acts.entry(account, now=NOON + 69 * DAY).freshness(NOON + 69 * DAY, DEFAULT) == 1.0


def test_readings_are_filed_by_month_version_and_agent(db, account):
    entry_id = acts.put(account).entry_id
    acts.put(account, 2)
    reads = [read(entry_id), read(entry_id), read(entry_id, version=2), read(entry_id, agent=acts.ADA)]
    recalls.write(account.pk, DEFAULT, [*reads, read(entry_id, agent="")])
    recalls.write(account.pk, DEFAULT, [read(entry_id, NOON + 31 * DAY)])
    sql = "SELECT month::text, version, agent_id, count FROM memories_reading WHERE account_id = %s ORDER BY 1, 2, 3"
    assert acts.rows_of(sql, account.pk) == [
        ("2026-03-01", 1, acts.ADA, 1),
        ("2026-03-01", 1, acts.BOB, 2),
        ("2026-03-01", 2, acts.BOB, 1),
        ("2026-04-01", 1, acts.BOB, 1),
    ]


def test_a_batch_names_entries_of_its_own_account_only(db, account, other_account):
    theirs = acts.put(other_account).entry_id
    recalls.write(account.pk, DEFAULT, [read(theirs)])
    assert kept(account) == kept(other_account) == []


def test_what_cannot_be_written_is_told_and_dropped(db, account, monkeypatch, caplog):
    buffer = Buffer()
    monkeypatch.setattr(buffer, "start", lambda: None)
    buffer.note(account.pk, DEFAULT, read(acts.put(account).entry_id))

    def fail(*_):
        raise OperationalError from psycopg.OperationalError("the server went away")

    monkeypatch.setattr(recalls, "write", fail)
    buffer.flush()
    assert "1 recalls of account" in caplog.text
    monkeypatch.undo()
    buffer.flush()
    assert kept(account) == []


def test_it_is_known_when_a_key_was_last_used_even_if_it_never_reads(db, account, bot):
    bot.write("shop", "k", 1)
    mine = ApiKey.objects.filter(account_id=account.pk)
    assert mine.get().last_used_at is None
    keys.write_uses()
    used_at = mine.get().last_used_at
    assert used_at is not None
    bot.write("shop", "k", 2)
    keys.write_uses()
    # To the minute: a busy key's row is left alone for the rest of it.
    assert mine.get().last_used_at == used_at


def test_a_refused_key_was_not_used(db, account, bot):
    bot.headers["X-AMFS-API-Key"] = bot.headers["X-AMFS-API-Key"][:-1] + "?"
    assert bot.get("entries").status_code == 401
    keys.write_uses()
    assert ApiKey.objects.get(account_id=account.pk).last_used_at is None
