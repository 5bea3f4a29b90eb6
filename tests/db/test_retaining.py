"""What clients report about reading and doing is kept as long as the account's policy says; what was learned stays."""

from datetime import timedelta

import pytest

from memories import recalls
from memories.jobs import retaining
from memories.models import Effect, EntryVersion, Reading
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from outcomes.models import Event, Outcome, Trace
from tests.db import acts
from tests.db.acts import ADA, NOON

OLD = NOON - timedelta(days=500)


@pytest.fixture
def told(account):
    """An entry, an outcome with its trace, and of each kind of report an old and a new one."""
    stored = acts.put(account, "wait before the retry", now=OLD)
    acts.told(account, "task-1", "success", now=OLD + timedelta(hours=1))
    for at in (OLD, NOON):
        recalls.write(account.pk, DEFAULT, [Read(stored.entry_id, 1, ADA, f"s{at:%Y}", at, 300)])
        Event.objects.create(account=account, agent_id=ADA, event_type="note", created_at=at)
        Trace.objects.create(account=account, agent_id=ADA, outcome_ref=f"task-{at:%Y}", created_at=at)
    return account


def kept(account):
    return [model.objects.filter(account_id=account.pk).count() for model in (Reading, Event, Trace)]


def learned(account):
    return [model.objects.filter(account_id=account.pk).count() for model in (EntryVersion, Effect, Outcome)]


def test_what_is_older_than_the_policy_keeps_goes_and_what_was_learned_stays(told):
    before = learned(told)
    assert retaining.retain(told, NOON) == 4
    assert kept(told) == [1, 1, 1]
    assert learned(told) == before
    assert retaining.retain(told, NOON) == 0


def test_each_kind_is_kept_for_as_long_as_it_says(told):
    told.policy_values = {"keep_readings": 0, "keep_events": 600, "keep_traces": 400}
    assert retaining.retain(told, NOON) == 2
    assert kept(told) == [2, 2, 1]


def test_it_goes_on_batch_by_batch_until_nothing_is_left(told, monkeypatch):
    monkeypatch.setattr(retaining, "BATCH", 1)
    for n in range(3):
        Event.objects.create(account=told, agent_id=ADA, event_type="note", created_at=OLD + timedelta(days=n))
    assert retaining.retain(told, NOON) == 7
    assert kept(told) == [1, 1, 1]


def test_a_month_that_is_not_over_for_the_policy_stays_whole(told):
    days = (NOON - OLD).days
    told.policy_values = {"keep_readings": days - 1, "keep_events": 0, "keep_traces": 0}
    assert retaining.retain(told, NOON) == 0
    told.policy_values["keep_readings"] = days - 31
    assert retaining.retain(told, NOON) == 1


def test_nothing_of_another_account_goes(told, other_account):
    Event.objects.create(account=other_account, agent_id=ADA, event_type="note", created_at=OLD)
    retaining.retain(told, NOON)
    assert kept(other_account) == [0, 1, 0]
