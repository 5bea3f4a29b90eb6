"""Sums that nobody has to count again: whatever happened, they are what a recount of the entries gives."""

import secrets
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories import figures, recalls
from memories.figures import NAMES, Totals
from memories.recalls import Read, tokens_of
from memories.rules.policy import DEFAULT
from memories.services import ledger
from memories.services.ledger import Act, Actor, Move, Next
from senselab.accounts import services as accounts
from senselab.errors import Refusal
from tests.db import acts
from tests.db.acts import NOON

HOUR = timedelta(hours=1)
LISTED = "e.status IN ('active', 'under_review')"
WHERE = {
    "entries": LISTED,
    "under_review": "e.status = 'under_review'",
    "superseded": "e.status = 'superseded'",
    "archived": "e.status = 'archived'",
    "hot": f"{LISTED} AND e.tier = 1",
    "warm": f"{LISTED} AND e.tier = 2",
    "cold": f"{LISTED} AND e.tier = 3",
    "facts": f"{LISTED} AND e.memory_type = 'fact'",
    "beliefs": f"{LISTED} AND e.memory_type = 'belief'",
    "experiences": f"{LISTED} AND e.memory_type = 'experience'",
    "procedures": f"{LISTED} AND e.memory_type = 'procedure'",
    "outcome_linked": f"{LISTED} AND e.outcome_count > 0",
} | {
    word: f"{LISTED} AND e.evidence_status = '{word}'" for word in ("untested", "validated", "contested", "discredited")
}


def recounted(account_id: int) -> dict[tuple[str, str, str, str], dict[str, int]]:
    """Return the figures by branch, path, author and owner, counted from the entries as they stand."""
    counts = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in WHERE.values())
    sql = f"""
        SELECT e.branch, e.entity_path, e.agent_id, e.owner, {counts},
               coalesce(sum(round(e.confidence * 1e9)::bigint) FILTER (WHERE {LISTED}), 0)::bigint
          FROM memories_entry e WHERE e.account_id = %s GROUP BY 1, 2, 3, 4
    """
    names = [*WHERE, "confidence_nanos"]
    return {tuple(row[:4]): dict(zip(names, row[4:], strict=True)) for row in acts.rows_of(sql, account_id)}


def summed(account_id: int) -> dict[tuple[str, str, str, str], dict[str, int]]:
    """Return the same from the sums; what has come to nothing is left out."""
    sums = ", ".join(f"sum(s.{name})::bigint" for name in NAMES)
    sql = f"""SELECT s.branch, s.entity_path, s.agent_id, s.owner, {sums} FROM {figures.SOURCE}
               WHERE s.account_id = %s GROUP BY 1, 2, 3, 4"""
    found = {tuple(row[:4]): dict(zip(NAMES, row[4:], strict=True)) for row in acts.rows_of(sql, account_id)}
    counted = {key: {name: sums[name] for name in [*WHERE, "confidence_nanos"]} for key, sums in found.items()}
    return {key: sums for key, sums in counted.items() if any(sums.values())}


def deltas(account_id: int) -> int:
    ((count,),) = acts.rows_of("SELECT count(*) FROM memories_counterdelta WHERE account_id = %s", account_id)
    return int(count)


def entry_ids(account_id: int) -> list[int]:
    sql = "SELECT id FROM memories_entry WHERE account_id = %s ORDER BY id"
    return [entry_id for (entry_id,) in acts.rows_of(sql, account_id)]


PATHS, KEYS, AGENTS = (
    st.sampled_from(["shop", "shop/pay"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from([acts.ADA, acts.BOB]),
)
TYPES = st.sampled_from(["fact", "belief", "experience", "procedure"])
OUTCOMES = st.sampled_from(["success", "failure", "critical_failure"])
STATUSES = st.sampled_from(["superseded", "archived", "under_review", "active"])
ACT = st.one_of(
    st.tuples(st.just("write"), PATHS, KEYS, AGENTS, TYPES, st.floats(0, 1), st.booleans(), st.integers(0, 2)),
    st.tuples(st.just("report"), PATHS, KEYS, AGENTS, OUTCOMES),
    st.tuples(st.just("roll back"), st.integers(0, 2)),
    st.tuples(st.just("undo"), st.integers(0, 30)),
    st.tuples(st.just("move"), st.integers(0, 2), STATUSES),
    st.tuples(st.just("tier"), st.integers(0, 2), st.integers(1, 3)),
    st.tuples(st.just("expire")),
    st.tuples(st.just("fold")),
)


class Life:
    """An account to which things happen, an hour after one another."""

    def __init__(self, account) -> None:
        self.account = account
        self.now = NOON

    def live(self, what: str, *how) -> None:
        self.now += HOUR
        getattr(self, what.replace(" ", "_"))(*how)

    def write(self, path, key, agent, kind, confidence, shared, hours) -> None:
        ttl = {"ttl_at": self.now + hours * HOUR} if hours else {}
        more = {"memory_type": kind, "confidence": confidence, "shared": shared, **ttl}
        acts.put(self.account, [kind, hours], path=path, key=key, by=agent, now=self.now, **more)

    def report(self, path, key, agent, kind) -> None:
        acts.told(self.account, str(self.now), kind, f"{path}/{key}", by=agent, now=self.now)

    def roll_back(self, which) -> None:
        if ids := entry_ids(self.account.pk):
            head = acts.head(self.account, ids[which % len(ids)])
            if head.version > 1:
                acts.back(self.account, head.id, to=1, expected=head.version, now=self.now)

    def undo(self, which) -> None:
        sets = acts.rows_of("SELECT id FROM memories_changeset WHERE account_id = %s ORDER BY id", self.account.pk)
        if sets:
            try:
                acts.undone(self.account, sets[which % len(sets)][0], now=self.now)
            except Refusal:
                return

    def move(self, which, status) -> None:
        if ids := entry_ids(self.account.pk):
            self.to(ids[which % len(ids)], status)

    def to(self, entry_id, status, **more) -> None:
        head = acts.head(self.account, entry_id)
        act = Act("review", Actor("person", "rex"), self.now, DEFAULT)
        step = Next("review", replace(head.state, status=status, **more), before=head.state.confidence)
        ledger.append(self.account.pk, act, [Move([step], head)])

    def tier(self, which, tier) -> None:
        if ids := entry_ids(self.account.pk):
            run(
                "UPDATE memories_entry SET tier = %s WHERE account_id = %s AND id = %s",
                tier,
                self.account.pk,
                ids[which % len(ids)],
            )

    def expire(self) -> None:
        for entry_id in entry_ids(self.account.pk):
            state = acts.head(self.account, entry_id).state
            if state.ttl_at is not None and state.ttl_at <= self.now:
                self.to(entry_id, "archived", confidence=0.0)

    def fold(self) -> None:
        figures.fold(self.account.pk)


def run(sql: str, *parameters) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ACT, min_size=3, max_size=16))
def test_whatever_happens_the_sums_are_what_a_recount_gives(db, happened):
    account = accounts.create_account(f"life-{secrets.token_hex(6)}")
    life = Life(account)
    for act in happened:
        life.live(*act)
    expected = {key: counts for key, counts in recounted(account.pk).items() if any(counts.values())}
    assert summed(account.pk) == expected
    before = figures.totals(acts.viewer(account, sees_all=True))
    figures.fold(account.pk)
    assert deltas(account.pk) == 0
    assert summed(account.pk) == expected
    assert figures.totals(acts.viewer(account, sees_all=True)) == before


def test_folding_changes_nothing_that_anybody_sees(db, account, bot, helper, counted):
    for number in range(5):
        bot.write("shop", f"k{number}", number, shared=number % 2 == 0)
    bot.report("DEP-1", "failure", "shop/k0", "shop/k1")
    helper.read("shop", "k0")
    counted()
    asked = [(caller, route) for caller in (bot, helper) for route in ("stats", "entities")]
    before = [caller.get(route).json() for caller, route in asked]
    assert figures.fold(account.pk) > 0
    assert [caller.get(route).json() for caller, route in asked] == before
    assert figures.fold(account.pk) == 0
    helper.write("shop", "more", 1)
    assert bot.get("stats").json()["total_entries"] == before[0]["total_entries"] + 1


def test_sums_are_exact_at_once_and_hold_no_lock_on_a_row_of_sums(db, account):
    acts.put(account, confidence=0.7)
    assert figures.totals(acts.viewer(account)).confidence_avg == pytest.approx(0.7, abs=1e-9)
    folded = "SELECT count(*) FROM memories_counter WHERE account_id = %s"
    assert acts.rows_of(folded, account.pk) == [(0,)]
    assert deltas(account.pk) == 1


def test_a_change_that_moves_no_figure_adds_nothing_to_fold(db, account):
    entry_id = acts.put(account, "said", confidence=0.7).entry_id
    figures.fold(account.pk)
    acts.put(account, "said", confidence=0.7, now=NOON + HOUR)
    run("UPDATE memories_entry SET settled_confidence = 0.1 WHERE account_id = %s AND id = %s", account.pk, entry_id)
    assert deltas(account.pk) == 0


@pytest.mark.parametrize("status", ["archived", "superseded"])
def test_what_lists_do_not_show_counts_as_that_and_as_nothing_else(db, account, status):
    entry_id = acts.put(account, confidence=0.7, memory_type="procedure").entry_id
    acts.told(account, "DEP-1")
    run("UPDATE memories_entry SET tier = 1 WHERE account_id = %s AND id = %s", account.pk, entry_id)
    seen = acts.viewer(account)
    before = Totals(entries=1, validated=1, hot=1, procedures=1, outcome_linked=1, confidence_nanos=818_181_818)
    assert figures.totals(seen) == before
    Life(account).to(entry_id, status)
    assert figures.totals(seen) == Totals(**{status: 1})


def test_recalls_and_tokens_are_summed_for_the_author_of_what_was_read(db, account):
    entry_id = acts.put(account, "x" * 2_000, by=acts.ADA).entry_id
    reads = [Read(entry_id, 1, acts.BOB, "", NOON, tokens_of("x" * 2_000)) for _ in range(3)]
    recalls.write(account.pk, DEFAULT, reads)
    (agent,) = figures.by_agent(acts.viewer(account)).items()
    assert (agent[0], agent[1].recalls, agent[1].tokens_saved) == (acts.ADA, 3, 1_500)


def test_an_account_without_anything_has_sums_of_nothing(db, account):
    assert figures.totals(acts.viewer(account, sees_all=True)) == Totals()
