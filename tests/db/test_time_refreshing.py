"""What lists are sorted by follows effective confidence hour by hour, though most entries are passed over."""

import random
from datetime import timedelta

import pytest
from django.db import connection

from memories import jobs, recalls
from memories.jobs import refreshing
from memories.models import JobRun
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from memories.rules.silence import Silence
from tests.db import acts
from tests.db.acts import NOON

HOUR = timedelta(hours=1)


def settled(account) -> dict[int, float]:
    return dict(acts.rows_of("SELECT id, settled_confidence FROM memories_entry WHERE account_id = %s", account.pk))


def exact(account, now) -> dict[int, float]:
    told = {}
    for entry_id in settled(account):
        head = acts.head(account, entry_id)
        silence = Silence(head.state, head.kept, head.accessed_at, head.recall_count)
        told[entry_id] = silence.effective(now, DEFAULT)
    return told


def test_after_each_hour_every_stored_value_is_the_effective_one(db, account, clock):
    chance = random.Random(24)
    ids = [
        acts.put(account, n, key=f"k{n}", confidence=0.5 + n / 100, now=NOON - chance.random() * 90 * HOUR).entry_id
        for n in range(30)
    ]
    hour = 0.0
    for _ in range(40):
        hour += chance.choice((0.25, 1, 1, 1, 3, 30))
        now = NOON + hour * HOUR
        for entry_id in chance.sample(ids, 2):
            read = Read(entry_id, 1, acts.BOB, "", now - chance.random() * HOUR / 5, 200)
            recalls.write(account.pk, DEFAULT, [read])
        clock(now)
        jobs.decay()
        assert settled(account) == pytest.approx(exact(account, now), rel=1e-8), hour


def test_whoever_ended_no_day_since_the_last_run_is_not_computed_anew(db, account):
    acts.fill(account, 3, confidence=0.7, now=NOON)
    acts.fill(account, 2, path="later", confidence=0.7, now=NOON + 5 * HOUR)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE memories_entry SET settled_confidence = 0 WHERE account_id = %s", [account.pk])
    now = NOON + 30 * HOUR
    found = refreshing.drifted(account.pk, DEFAULT, now, now - HOUR)
    assert {acts.head(account, entry_id).entity_path for entry_id in found} == {"later"}
    assert len(refreshing.drifted(account.pk, DEFAULT, now, None)) == 5


@pytest.mark.parametrize("ago", [-1, 24, 100])
def test_after_a_long_pause_or_with_a_clock_set_back_everybody_is_looked_at(db, account, ago):
    acts.fill(account, 3, confidence=0.7, now=NOON)
    now = NOON + 30 * HOUR
    assert len(refreshing.drifted(account.pk, DEFAULT, now, now - ago * HOUR)) == 3


def test_once_a_day_everybody_is_looked_at_even_who_was_held_at_the_time(db, account, clock):
    entry_id = acts.put(account, confidence=0.7, now=NOON).entry_id
    clock(NOON + HOUR)
    jobs.decay()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE memories_entry SET settled_confidence = 0 WHERE account_id = %s", [account.pk])
    for hour in (2, 11):
        clock(NOON + hour * HOUR)
        jobs.decay()
        assert settled(account)[entry_id] == 0
    clock(NOON + 12 * HOUR)
    jobs.decay()
    assert settled(account)[entry_id] == 0.7


def test_a_run_that_failed_leaves_nothing_out_of_the_next(db, account, clock):
    acts.fill(account, 3, confidence=0.7, now=NOON)
    JobRun.objects.create(account=account, job="refresh", state="failed", created_at=NOON, started_at=NOON + 29 * HOUR)
    clock(NOON + 30 * HOUR)
    jobs.decay()
    assert set(settled(account).values()) != {0.7}
