"""The policies of an account: those it had, by the name that versions carry, and what another would change now."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from memories.ageing import silence_sql
from memories.ageing.ranking import HEADS, Branch, branches, fetch
from memories.models import PolicyVersion
from memories.rules.policy import DEFAULT, MULTIPLICATIVE, Policy
from memories.viewers import Viewer
from senselab.errors import Refusal

SAMPLE = 12
# Counting a million entries takes seconds; whoever waits longer is told so.
PATIENCE = "25s"


def name_of(policy: Policy) -> str:
    """Return the name under which versions and effects say what moved them."""
    return f"{policy.name}@{policy.version}"


def versions(account_id: int) -> list[PolicyVersion]:
    """Return the versions of an account's policy, the newest first; none when nobody ever changed it."""
    return list(PolicyVersion.objects.filter(account_id=account_id).order_by("-number"))


def version(account_id: int, number: int) -> PolicyVersion | None:
    """Return a version of an account's policy, None when it never had one of that number."""
    return PolicyVersion.objects.filter(account_id=account_id, number=number).first()


def known(account_id: int, present: Policy) -> dict[str, Policy]:
    """Return every policy whose numbers are known, by its name: the defaults, and all that the account had."""
    rows = PolicyVersion.objects.filter(account_id=account_id).values_list("number", "values")
    earlier = [Policy.from_values({**values, "version": number}) for number, values in rows]
    return {name_of(policy): policy for policy in (DEFAULT, MULTIPLICATIVE, *earlier, present)}


@dataclass(frozen=True, slots=True)
class Shift:
    """How many entries would go from one status, or tier, to another."""

    before: str | int
    after: str | int
    count: int


@dataclass(frozen=True, slots=True)
class Sample:
    """An entry that would change, and how; statuses and tiers that stay are equal."""

    entity_path: str
    key: str
    branch: str
    owner: str
    status: str
    new_status: str
    tier: int
    new_tier: int
    effective: float
    new_effective: float


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a policy would change at once, counted over the whole store."""

    looked: int
    statuses: list[Shift] = field(default_factory=list)
    tiers: list[Shift] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)

    @property
    def status_changes(self) -> int:
        return sum(shift.count for shift in self.statuses)

    @property
    def tier_changes(self) -> int:
        return sum(shift.count for shift in self.tiers)


def foresee(viewer: Viewer, policy: Policy, now: datetime) -> Foreseen:
    """Return what a policy would change; nothing is written, and no entry is locked.

    :raises TooSlow: counting took longer than anybody waits.
    """
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [PATIENCE])
            return _foresee(viewer, policy, now)
    except OperationalError as error:
        if not isinstance(error.__cause__, QueryCanceled):
            raise
        raise TooSlow(
            "Counting the store took longer than 25 seconds and was given up; nothing was changed."
        ) from error


class TooSlow(Refusal):
    """A count that was given up."""

    status = 503
    title = "Too slow"


def _foresee(viewer: Viewer, policy: Policy, now: datetime) -> Foreseen:
    statuses, ids = moved_places(viewer.account_id, policy, now)
    tiers: dict[tuple[int, int], int] = {}
    new_tiers: dict[int, int] = {}
    for branch in branches(viewer.account_id):
        ranks = Branch(viewer.account_id, branch, policy, now, settled=False)
        for before, after, count, some in moved_tiers(ranks, ids):
            tiers[before, after] = tiers.get((before, after), 0) + count
            new_tiers |= dict.fromkeys(some, after)
    shifts = [Shift(before, after, count) for (before, after), count in sorted(tiers.items())]
    chosen = [*ids, *(entry_id for entry_id in new_tiers if entry_id not in ids)][:SAMPLE]
    looked = fetch("SELECT count(*) FROM memories_entry e WHERE e.account_id = %s", [viewer.account_id])[0][0]
    return Foreseen(looked, statuses, shifts, samples(viewer, policy, now, chosen, new_tiers))


def moved_places(account_id: int, policy: Policy, now: datetime) -> tuple[list[Shift], list[int]]:
    """Return how many entries thresholds would move from where to where, and the ids of a few of them."""
    # The exact comparison is dear; whatever is clearly above both lines need not be asked.
    near = f"{silence_sql.effective_of_head(policy)} < {policy.review_below!r} + 1e-6"
    sql = f"""
        SELECT s.before, s.after, count(*), (array_agg(s.id ORDER BY s.id))[1:{SAMPLE // 2}] FROM (
            SELECT e.id, e.status AS before, {silence_sql.status_of_head(policy)} AS after FROM {HEADS}
             WHERE e.account_id = %(account)s AND e.status IN ('active', 'under_review') AND NOT e.pinned AND {near}) s
         WHERE s.before <> s.after GROUP BY 1, 2 ORDER BY 1, 2
    """
    rows = fetch(sql, {"account": account_id, "now": now})
    some = [entry_id for _, _, _, ids in rows for entry_id in ids]
    return [Shift(before, after, count) for before, after, count, _ in rows], some[: SAMPLE // 2]


def moved_tiers(ranks: Branch, chosen: list[int]) -> list[tuple[int, int, int, list[int]]]:
    """Return (tier, new tier, how many, ids of a few, those chosen among them) of what would rise or fall."""
    wanted, values = ranks.wanted()
    sql = f"""
        SELECT e.tier, w.tier, count(*), (array_agg(e.id ORDER BY w.place))[1:{SAMPLE // 2}]
               || array_agg(e.id) FILTER (WHERE e.id = ANY(%(chosen)s::bigint[])) FROM ({wanted}) w
          JOIN memories_entry e ON e.id = w.id
         WHERE e.account_id = %(account)s AND e.tier <> w.tier AND NOT e.pinned GROUP BY 1, 2 ORDER BY 1, 2
    """
    return [(before, after, count, ids) for before, after, count, ids in fetch(sql, {**values, "chosen": chosen})]


def samples(viewer: Viewer, policy: Policy, now: datetime, ids: list[int], new_tiers: dict[int, int]) -> list[Sample]:
    """Return some entries with what a policy would make of them."""
    sql = f"""
        SELECT e.id, e.entity_path, e.key, e.branch, e.owner, e.status, {silence_sql.status_of_head(policy)}, e.tier,
               {silence_sql.effective_of_head(viewer.policy)}, {silence_sql.effective_of_head(policy)}
          FROM {HEADS} WHERE {viewer.visible()} AND e.id = ANY(%(ids)s) ORDER BY e.entity_path, e.key, e.owner
    """
    values: dict[str, Any] = {**viewer.parameters, "ids": ids, "now": now}
    return [
        Sample(path, key, branch, owner, status, new_status, tier, new_tiers.get(entry_id, tier), old, new)
        for entry_id, path, key, branch, owner, status, new_status, tier, old, new in fetch(sql, values)
    ]
