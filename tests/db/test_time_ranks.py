"""Ranks: found among few, they are those among all; what moved is kept with its reason, and each day's tiers."""

import random
from datetime import timedelta

import psycopg
import pytest

from memories import jobs, recalls
from memories.ageing import ranking
from memories.ageing.ranking import Branch
from memories.models import TierDay, TierMove
from memories.recalls import Read
from memories.rules import tiers
from memories.rules.policy import DEFAULT, Policy
from memories.rules.silence import Silence
from tests.db import acts
from tests.db.acts import NOON

DAY = timedelta(days=1)
LATER = NOON + 100 * DAY
SMALL = Policy(hot_capacity=3, warm_capacity=5)


@pytest.fixture
def crowd(account):
    """A hundred entries of many ages, some recalled often, some important, some pinned, some about to go."""
    chance = random.Random(50)
    for n in range(100):
        now = NOON + chance.choice((0, 60, 90, 95, 99, 99.9)) * DAY + chance.random() * DAY / 10
        entry_id = acts.put(
            account, n, key=f"k{n}", confidence=round(chance.uniform(0.2, 1), 2), pinned=n % 20 == 0, now=now,
            importance_score=chance.choice((None, None, None, 0.0, 1.0)),
            ttl_at=LATER + chance.choice((1, 5)) * DAY if n % 7 == 0 else None,
        ).entry_id  # fmt: skip
        if n % 5 == 0:
            count = chance.choice((1, 2, 9, 40))
            recalls.write(account.pk, DEFAULT, [Read(entry_id, 1, acts.BOB, "", now, 200)] * count)
    return account


def order(account, policy: Policy, now) -> list[int]:
    """Return the ids of those that take a rank, first place first, computed one by one in Python."""
    ids = [entry_id for (entry_id,) in acts.rows_of("SELECT id FROM memories_entry WHERE account_id = %s", account.pk)]
    found = []
    for entry_id in ids:
        head = acts.head(account, entry_id)
        silence = Silence(head.state, head.kept, head.accessed_at, head.recall_count)
        due, ttl_at = silence.due_at(policy), head.state.ttl_at
        over = (due is not None and due <= now) or (ttl_at is not None and ttl_at <= now)
        if head.state.status != "active" or head.state.pinned or over:
            continue
        parts = tiers.priority(
            importance=head.importance_score, effective=silence.effective(now, policy),
            written_at=head.claim.written_at, now=now, recall_count=head.recall_count, policy=policy,
        )  # fmt: skip
        found.append((-parts.value, entry_id))
    return [entry_id for _, entry_id in sorted(found)]


def first(ranks: Branch, floor: float | None) -> list[int]:
    sql, values = ranks.first(floor)
    return [entry_id for entry_id, _ in sorted(ranking.fetch(sql, values), key=lambda row: row[1])]


@pytest.mark.parametrize("ahead", [0, 3, 10, 40])
def test_ranks_found_among_few_are_those_among_all(db, crowd, clock, ahead):
    clock(LATER)
    jobs.tiers()
    ranks = Branch(crowd.pk, "main", SMALL, LATER + ahead * DAY)
    wanted = order(crowd, SMALL, ranks.now)
    floor = ranks.floor()
    assert floor is not None
    assert first(ranks, floor) == first(ranks, None) == wanted[: ranks.ranks]
    for place in (0, 2, 7, 30, len(wanted) - 1):
        assert ranks.rank(wanted[place]) == place + 1


def test_the_bound_leaves_out_what_is_too_old_to_rank(db, account, clock):
    acts.fill(account, 300, now=NOON)
    acts.fill(account, 8, path="new", now=LATER)
    clock(LATER)
    jobs.tiers()
    ranks = Branch(account.pk, "main", SMALL, LATER)
    since = ranks.since(ranks.floor())
    assert since is not None
    assert since > LATER - DAY


@pytest.mark.parametrize(
    ("policy", "priority"),
    [(SMALL, None), (SMALL, 0.0), (Policy(age_rate=0.0), 0.5), (SMALL, 1e-300)],
)
def test_without_a_bound_everybody_is_looked_at(policy, priority):
    assert Branch(1, "main", policy, NOON).since(priority) is None


def test_a_place_is_nobodys_whose_time_is_over_or_who_takes_none(db, account, clock):
    pinned = acts.put(account, key="pinned", pinned=True).entry_id
    over = acts.put(account, key="over", ttl_at=NOON + DAY).entry_id
    worn = acts.put(account, key="worn", confidence=0.7).entry_id
    ranks = Branch(account.pk, "main", DEFAULT, NOON + 90 * DAY)
    assert [ranks.rank(entry_id) for entry_id in (pinned, over, worn)] == [None, None, None]
    assert Branch(account.pk, "main", DEFAULT, NOON).rank(over) == 1


def test_a_move_is_kept_with_the_parts_of_the_priority_that_decided_it(db, account, clock):
    entry_id = acts.put(account, confidence=0.8).entry_id
    recalls.write(account.pk, DEFAULT, [Read(entry_id, 1, acts.BOB, "", NOON, 200)] * 5)
    clock(NOON + 2 * DAY)
    jobs.tiers()
    (move,) = TierMove.objects.filter(account_id=account.pk)
    head = acts.head(account, entry_id)
    silence = Silence(head.state, head.kept, head.accessed_at, head.recall_count)
    parts = tiers.priority(
        importance=None, effective=silence.effective(NOON + 2 * DAY, DEFAULT), written_at=NOON, now=NOON + 2 * DAY,
        recall_count=5,
    )  # fmt: skip
    assert (move.entry_id, move.before, move.after, move.place, move.at) == (entry_id, 3, 1, 1, NOON + 2 * DAY)
    told = (move.importance, move.recency, move.frequency, move.durability, move.priority)
    assert told == pytest.approx(
        (parts.importance, parts.recency, parts.frequency, parts.durability, parts.value), rel=1e-12
    )


def test_what_leaves_the_ranks_falls_without_a_place(db, account, clock):
    entry_id = acts.put(account, ttl_at=NOON + DAY).entry_id
    clock(NOON)
    jobs.tiers()
    clock(NOON + DAY)
    jobs.expire()
    jobs.tiers()
    fallen = TierMove.objects.filter(account_id=account.pk).latest("id")
    assert (fallen.entry_id, fallen.before, fallen.after, fallen.place) == (entry_id, 1, 3, None)


def test_each_day_keeps_how_its_tiers_stood_at_last(db, account, clock):
    acts.fill(account, 60)
    clock(NOON)
    jobs.tiers()
    acts.fill(account, 3, path="more", now=NOON + DAY / 4)
    clock(NOON + DAY / 4)
    jobs.tiers()
    clock(NOON + DAY)
    jobs.tiers()
    days = TierDay.objects.filter(account_id=account.pk).order_by("day").values_list("day", "hot", "warm", "cold")
    assert list(days) == [(NOON.date(), 50, 13, 0), ((NOON + DAY).date(), 50, 13, 0)]


def test_moves_are_forgotten_after_two_days(db, account, clock):
    acts.fill(account, 2)
    clock(NOON)
    jobs.tiers()
    clock(NOON + 2 * DAY)
    jobs.fold()
    assert TierMove.objects.filter(account_id=account.pk).count() == 2
    clock(NOON + 2 * DAY + timedelta(seconds=1))
    jobs.fold()
    assert not TierMove.objects.filter(account_id=account.pk).exists()


def test_an_entry_that_somebody_holds_gets_its_tier_in_the_next_run(lasting, account, clock, database_url):
    held, free = acts.fill(account, 2)
    clock(NOON)
    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT 1 FROM memories_entry WHERE account_id = %s AND id = %s FOR UPDATE", [account.pk, held])
        jobs.retier(account, NOON)
        assert (acts.head(account, held).tier, acts.head(account, free).tier) == (3, 1)
    jobs.retier(account, NOON)
    assert acts.head(account, held).tier == 1


def test_refreshing_does_not_wait_for_a_writer_either(lasting, account, clock, database_url):
    held, _ = acts.fill(account, 2, confidence=0.7)
    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT 1 FROM memories_entry WHERE account_id = %s AND id = %s FOR UPDATE", [account.pk, held])
        assert jobs.refresh(account, NOON + 40 * DAY) == 1
    assert jobs.refresh(account, NOON + 40 * DAY) == 1
