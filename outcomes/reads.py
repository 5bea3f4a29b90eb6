"""What pages show of outcomes: the list, one outcome with its steps, and how a span of days went."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db import connection

from memories.rules.kinds import GRADES, SUCCESSES
from memories.viewers import Viewer
from outcomes.models import Outcome
from outcomes.querysets import within
from outcomes.rules import CONCLUSION
from senselab import cursors

PAGE = 50
GOOD = [str(word) for word in SUCCESSES]
MOVED = """(SELECT count(DISTINCT f.entry_id) FROM memories_effect f
             WHERE f.account_id = o.account_id AND f.outcome_id = o.id AND f.version_made IS NOT NULL)"""
# Entries at a path or below it; '0' follows '/', so that the range walks down the index.
TOUCHED = """o.id IN (SELECT f.outcome_id FROM memories_effect f
    JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
   WHERE f.account_id = %(account)s AND e.account_id = %(account)s
     AND (e.entity_path = %(path)s OR (e.entity_path >= %(below)s AND e.entity_path < %(beyond)s)))"""
EFFECTS = """
    SELECT f.step, f.outcome_type, e.branch, e.entity_path, e.key, e.owner, e.memory_type,
           f.version_read, f.version_made, f.before, f.weight, f.after, f.skipped, f.keys
      FROM memories_effect f
      JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
     WHERE f.account_id = %(account)s AND f.outcome_id = %(id)s
     ORDER BY f.step, e.entity_path, e.key, e.owner
"""
DAYS = """
    SELECT (o.committed_at AT TIME ZONE 'UTC')::date, count(*) FILTER (WHERE o.outcome_type = ANY(%(good)s)), count(*)
      FROM outcomes_outcome o
     WHERE o.account_id = %(account)s AND o.committed_at >= %(since)s AND o.committed_at <= %(now)s
     GROUP BY 1
"""
BY_AGENT = """
    SELECT o.agent_id, count(*) FILTER (WHERE o.outcome_type = ANY(%(good)s)), count(*)
      FROM outcomes_outcome o WHERE o.account_id = %(account)s AND o.committed_at >= %(since)s{of}{narrowed} GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which outcomes: of these types, told by an agent, whose ref begins so, that touched entries under a path."""

    types: tuple[str, ...] = ()
    agent_id: str = ""
    ref: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """An outcome in a list; `moved` counts the entries whose confidence it moved."""

    id: int
    outcome_type: str
    outcome_ref: str
    agent_id: str
    committed_at: datetime
    verified_by: str
    replayed: bool
    attempts: int
    relied_on: int
    moved: int


@dataclass(frozen=True, slots=True)
class Page:
    """Some outcomes, newest first, and the cursor that goes on after them ('' on the last page)."""

    rows: list[Listed]
    next: str


def page(viewer: Viewer, asked: Asked, *, cursor: str = "", limit: int = PAGE) -> Page:
    """Return a page of outcomes.

    :raises BadCursor: the cursor cannot be read.
    """
    conditions, values = _conditions(asked)
    if cursor:
        at, outcome_id = cursors.read(cursor, datetime.fromisoformat, int)
        conditions.append("(o.committed_at, o.id) < (%(at)s, %(after)s)")
        values |= {"at": at, "after": outcome_id}
    sql = f"""
        SELECT o.id, o.outcome_type, o.outcome_ref, o.agent_id, o.committed_at, o.verified_by, o.replayed,
               jsonb_array_length(o.attempts), cardinality(o.causal_entry_keys), {MOVED}
          FROM outcomes_outcome o WHERE {" AND ".join(["o.account_id = %(account)s", *conditions])}
         ORDER BY o.committed_at DESC, o.id DESC LIMIT %(limit)s
    """
    with connection.cursor() as database:
        database.execute(sql, {"account": viewer.account_id, "limit": limit + 1, **values})
        found = [Listed(*row) for row in database.fetchall()]
    shown = found[:limit]
    more = len(found) > limit
    return Page(shown, cursors.make(shown[-1].committed_at.isoformat(), shown[-1].id) if more else "")


def _conditions(asked: Asked) -> tuple[list[str], dict[str, Any]]:
    conditions: list[str] = []
    values: dict[str, Any] = {}
    if asked.types:
        conditions.append("o.outcome_type = ANY(%(types)s)")
        values["types"] = list(asked.types)
    if asked.agent_id:
        conditions.append("o.agent_id = %(agent)s")
        values["agent"] = asked.agent_id
    if asked.ref:
        conditions.append("starts_with(o.outcome_ref, %(ref)s)")
        values["ref"] = asked.ref
    if asked.path:
        path = asked.path.rstrip("/")
        conditions.append(f"(o.entity_paths @> ARRAY[%(path)s]::text[] OR {TOUCHED})")
        values |= {"path": path, "below": f"{path}/", "beyond": f"{path}0"}
    return conditions, values


@dataclass(frozen=True, slots=True)
class Touched:
    """What a step of an outcome did to one entry; `skipped` says in a word why it did nothing."""

    step: int
    outcome_type: str
    branch: str
    entity_path: str
    key: str
    owner: str
    memory_type: str
    version_read: int | None
    version_made: int | None
    before: float | None
    weight: float | None
    after: float | None
    skipped: str
    keys: int

    @property
    def entry_key(self) -> str:
        return f"{self.entity_path}/{self.key}"


@dataclass(frozen=True, slots=True)
class Told:
    """One step as it was reported, what it did, and the keys that stood for no entry. `number` 0 is the conclusion."""

    number: int
    outcome_type: str
    summary: str
    keys: tuple[str, ...]
    effects: list[Touched]
    unknown: list[str]

    @property
    def is_conclusion(self) -> bool:
        return self.number == CONCLUSION


@dataclass(frozen=True, slots=True)
class Story:
    """An outcome and its steps, failed attempts first, oldest first."""

    outcome: Outcome
    steps: list[Told]
    moved: int


def story(viewer: Viewer, outcome_id: int) -> Story | None:
    """Return an outcome with all it did, None when there is none; two statements."""
    outcome = Outcome.objects.of(viewer.account_id).filter(pk=outcome_id).first()
    if outcome is None:
        return None
    with connection.cursor() as database:
        database.execute(EFFECTS, {"account": viewer.account_id, "id": outcome_id})
        effects = [Touched(*row) for row in database.fetchall()]
    moved = len({effect.entry_key + effect.owner for effect in effects if effect.version_made is not None})
    return Story(outcome, list(_steps(outcome, effects)), moved)


def _steps(outcome: Outcome, effects: list[Touched]) -> Iterable[Told]:
    # In the order in which services.commit took them (rules.steps).
    tried = sorted(enumerate(outcome.attempts, start=1), key=lambda pair: (pair[1]["attempt"], pair[0]))
    for number, (_, attempt) in enumerate(tried, start=1):
        yield _step(number, attempt["outcome_type"], attempt["causal_entry_keys"], attempt, effects)
    yield _step(CONCLUSION, outcome.outcome_type, outcome.causal_entry_keys, {}, effects)


def _step(number: int, outcome_type: str, keys: list[str], attempt: Mapping[str, Any], effects: list[Touched]) -> Told:
    mine = [effect for effect in effects if effect.step == number]
    known = {effect.entry_key for effect in mine}
    named = tuple(dict.fromkeys(keys))
    unknown = [key for key in named if key not in known]
    return Told(number, outcome_type, attempt.get("summary") or "", named, mine, unknown)


@dataclass(frozen=True, slots=True)
class Day:
    """How tasks went on one day in UTC."""

    day: date
    successes: int
    failures: int

    @property
    def rate(self) -> float | None:
        """Return the share of successes, None on a day without outcomes."""
        whole = self.successes + self.failures
        return self.successes / whole if whole else None


def days(viewer: Viewer, now: datetime, count: int) -> list[Day]:
    """Return the last `count` days, today included, oldest first; those without outcomes as well."""
    today = now.date()
    first = today - timedelta(days=count - 1)
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=count - 1)
    values: dict[str, Any] = {
        "account": viewer.account_id,
        "since": since,
        "now": now,
        "good": GOOD,
    }
    with connection.cursor() as database:
        database.execute(DAYS, values)
        found = {day: (good, whole - good) for day, good, whole in database.fetchall()}
    return [Day(day, *found.get(day, (0, 0))) for day in (first + timedelta(days=n) for n in range(count))]


def rate_of(span: Iterable[Day]) -> float | None:
    """Return the share of successes over some days, None when nothing ended."""
    listed = list(span)
    good, bad = sum(day.successes for day in listed), sum(day.failures for day in listed)
    return good / (good + bad) if good + bad else None


@dataclass(frozen=True, slots=True)
class Ended:
    """How the tasks of one agent ended."""

    successes: int
    whole: int

    @property
    def rate(self) -> float:
        return self.successes / self.whole


def by_agent(viewer: Viewer, since: datetime, *, agent_id: str = "") -> dict[str, Ended]:
    """Return how tasks ended since a moment, for each agent that told of any, or for one."""
    narrowed, bound = within(viewer)
    values: dict[str, Any] = {"account": viewer.account_id, "since": since, "good": GOOD, "of": agent_id, **bound}
    with connection.cursor() as database:
        database.execute(BY_AGENT.format(of=" AND o.agent_id = %(of)s" if agent_id else "", narrowed=narrowed), values)
        return {agent: Ended(good, whole) for agent, good, whole in database.fetchall()}


# What a filter may say: one type, all failures, all successes.
TYPE_GROUPS: dict[str, tuple[str, ...]] = {
    "successes": tuple(word for word in GRADES if word in SUCCESSES),
    "failures": tuple(word for word in GRADES if word not in SUCCESSES),
    **{str(word): (str(word),) for word in GRADES},
}
