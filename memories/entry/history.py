"""The past of one entry as people read it: newest first, bounded, without values; one statement each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from django.db import connection

from memories import reads, rows
from memories.entry import why
from memories.entry.why import Act, Effect, Told
from memories.heads import Name
from memories.rows import Row
from memories.rules import integrity
from memories.rules.explain import Line, explain
from memories.rules.kinds import SUCCESSES, Change, EvidenceStatus
from memories.rules.policy import Policy
from memories.viewers import Viewer

SHOWN = 50
EFFECTS_SHOWN = 20
REFERENCES_SHOWN = 100
SET_BACK = frozenset({EvidenceStatus.CONTESTED.value, EvidenceStatus.DISCREDITED.value})


def head(viewer: Viewer, branch: str, name: Name, owner: str | None) -> Row | None:
    """Return the entry of a name in whatever state, expired ones too.

    `owner` '' means the shared one, a name that agent's private one, None the shared one or else the first private.
    """
    found = rows.select(
        f"{rows.HEADS} WHERE {viewer.visible()} AND {reads.NAMED} AND (%(owner)s::text IS NULL OR e.owner = %(owner)s)"
        " ORDER BY e.owner LIMIT 1",
        {**reads.named_values(viewer, branch, name), "owner": owner},
    )
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Mark:
    """A version worth going back to, and its stored confidence."""

    number: int
    confidence: float

    @property
    def label(self) -> str:
        return f"v{self.number}"


@dataclass(frozen=True, slots=True)
class Landmarks:
    """Where an entry's history turns.

    `claim_since` is the first version of the present claim, `claim_at`, `claim_by` and `claim_reason` say how that
    came; `validated` is the last validated version before the current one, `validated_before` the last one of another
    claim. `owners` are those of all entries of this name, '' of the shared one. The tallies count every outcome.
    """

    claim_since: int
    claim_at: datetime
    claim_change: str
    claim_by: str
    claim_reason: str
    validated: Mark | None
    validated_before: Mark | None
    owners: tuple[str, ...]
    successes: int
    failures: int

    def recommended(self, evidence_status: str) -> Mark | None:
        """Return the version to go back to: the last validated one, but not one that says what has just failed."""
        if evidence_status in SET_BACK and self.validated_before is not None:
            return self.validated_before
        return self.validated


MARK = """(SELECT ARRAY[m.number, m.confidence] FROM memories_entryversion m
            WHERE m.account_id = e.account_id AND m.entry_id = e.id AND m.number = {number})"""
LANDMARKS = f"""
    WITH entry AS (
        SELECT e.* FROM memories_entry e WHERE {{visible}} AND e.id = %(id)s
    ),
    steps AS (
        SELECT v.number, CASE WHEN c.content_hash <> '' THEN v.evidence_status END AS evidence_status,
               c.digest = now.digest AS same
          FROM entry e
          JOIN memories_claim now ON now.account_id = e.account_id AND now.id = e.claim_id
          JOIN memories_entryversion v ON v.account_id = e.account_id AND v.entry_id = e.id
          JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
    ),
    turns AS (
        SELECT coalesce(max(s.number) FILTER (WHERE NOT s.same), 0) + 1 AS since,
               max(s.number) FILTER (WHERE s.evidence_status = 'validated' AND s.number < e.version) AS validated,
               max(s.number) FILTER (WHERE s.evidence_status = 'validated' AND NOT s.same) AS before
          FROM steps s, entry e
    )
    SELECT t.since, v.at, v.change, g.actor, g.reason,
           {MARK.format(number="t.validated")}, {MARK.format(number="t.before")},
           (SELECT array_agg(o.owner ORDER BY o.owner) FROM memories_entry o
             WHERE {{namesake_visible}} AND o.branch = e.branch AND o.entity_path = e.entity_path
               AND o.key = e.key),
           (SELECT count(*) FROM memories_effect f WHERE f.account_id = e.account_id AND f.entry_id = e.id
               AND f.skipped = '' AND f.outcome_type = ANY(%(successes)s)),
           (SELECT count(*) FROM memories_effect f WHERE f.account_id = e.account_id AND f.entry_id = e.id
               AND f.skipped = '' AND f.outcome_type <> ALL(%(successes)s))
      FROM entry e, turns t
      JOIN memories_entryversion v ON v.account_id = %(account)s AND v.entry_id = %(id)s AND v.number = t.since
      JOIN memories_changeset g ON g.account_id = %(account)s AND g.id = v.change_set_id
"""


def landmarks(viewer: Viewer, entry_id: int) -> Landmarks:
    """Return the landmarks of an entry the viewer may see."""
    sql = LANDMARKS.format(visible=viewer.visible(), namesake_visible=viewer.visible("o"))
    values = {**viewer.parameters, "id": entry_id, "successes": [str(word) for word in SUCCESSES]}
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        found = cursor.fetchone()
    validated, before = (Mark(int(mark[0]), mark[1]) if mark else None for mark in found[5:7])
    since, at, change, actor, reason = found[:5]
    owners, successes, failures = found[7:]
    return Landmarks(since, at, change, actor, reason, validated, before, tuple(owners), successes, failures)


@dataclass(frozen=True, slots=True)
class Shown:
    """A version with its act and arithmetic; `renews` tells whether it says something else than the one before it."""

    told: Told
    renews: bool

    @property
    def row(self) -> Row:
        return self.told.row

    @property
    def act(self) -> Act:
        return self.told.act

    @property
    def what(self) -> str:
        """Return in a few words what made it; the outcome, its reference and the reason stand beside it."""
        act = self.act
        if act.change == Change.WRITTEN:
            return "claim rewritten" if self.renews else "written again"
        if act.change == Change.ROLLBACK:
            return f"undid {act.cause}" if act.kind == "undo" else f"rolled back to {act.cause}"
        return act.change


@dataclass(frozen=True, slots=True)
class Versions:
    """Some versions, newest first; the list goes on below `older`, and what is newer begins below `newer`."""

    shown: list[Shown]
    older: int | None
    newer: int | None

    @property
    def last(self) -> int:
        return self.shown[-1].row.version

    @property
    def chained(self) -> bool:
        """Tell whether each version's hash stands on its predecessor's, as far as they are here."""
        pairs = zip((shown.row for shown in self.shown), (shown.row for shown in self.shown[1:]), strict=False)
        return all(
            integrity.chain(later.content_hash, earlier.integrity_chain) == later.integrity_chain
            for later, earlier in pairs
            if later.content_hash
        )


ACTS = """
    SELECT v.number, v.change, v.at, v.before, v.weight, v.policy, s.id, s.kind, s.actor_kind, s.actor, s.reason,
           s.cause, s.session_id,
           c.digest IS DISTINCT FROM (
               SELECT d.digest FROM memories_entryversion p
                 JOIN memories_claim d ON d.account_id = p.account_id AND d.id = p.claim_id
                WHERE p.account_id = v.account_id AND p.entry_id = v.entry_id AND p.number = v.number - 1),
           f.version_made, f.outcome_id, f.outcome_ref, f.outcome_type, f.agent_id, f.step, f.at, f.version_read,
           f.causal_confidence, f.keys, f.verified, f.verified_by, f.credit, f.before, f.weight, f.after, f.skipped
      FROM memories_entryversion v
      JOIN memories_changeset s ON s.account_id = v.account_id AND s.id = v.change_set_id
      JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
      LEFT JOIN memories_effect f ON f.account_id = v.account_id AND f.entry_id = v.entry_id AND f.at = v.at
                                 AND f.version_made = v.number
     WHERE v.account_id = %s AND v.entry_id = %s AND v.number BETWEEN %s AND %s
"""
ACT_COLUMNS, POLICY = 13, 5


def versions(viewer: Viewer, entry_id: int, *, current: int, below: int | None = None, most: int = SHOWN) -> Versions:
    """Return the newest versions, or those below a number, each with who, when, why and its arithmetic."""
    last = min(current, below - 1) if below is not None else current
    first = max(1, last - most + 1)
    span = (viewer.account_id, entry_id, max(1, first - 1), last)
    states = rows.select(
        f"{rows.WITHOUT_VALUES} WHERE {viewer.visible()} AND e.id = %(id)s AND v.number BETWEEN %(first)s AND %(last)s"
        " ORDER BY v.number",
        {**viewer.parameters, "id": entry_id, "first": span[2], "last": last},
    )
    with connection.cursor() as cursor:
        cursor.execute(ACTS, span)
        acts = {found[0]: found for found in cursor.fetchall()}
    policies = why.policies_of(viewer, {found[POLICY] for found in acts.values() if found[ACT_COLUMNS + 1] is not None})
    shown: list[Shown] = []
    before = None
    for row in states:
        if row.version >= first:
            shown.append(show(row, before, acts[row.version], policies))
        before = row
    newer = min(current, last + most) + 1 if last < current else None
    return Versions(shown[::-1], first if first > 1 else None, newer)


def show(row: Row, before: Row | None, found: Sequence[Any], policies: Mapping[str, Policy]) -> Shown:
    """Return a version with its act, its effect and, where the policy that moved it is known, its arithmetic."""
    act, renews, rest = Act(*found[:ACT_COLUMNS]), found[ACT_COLUMNS], found[ACT_COLUMNS + 1 :]
    effect = Effect(*rest) if rest[0] is not None else None
    lines: tuple[Line, ...] = ()
    policy = policies.get(act.policy)
    if effect is not None and before is not None and policy is not None:
        lines = tuple(explain(effect.replay(before.state.standing, policy), policy))
    return Shown(Told(row, act, effect, lines), renews)


def effects(viewer: Viewer, entry_id: int, *, most: int = EFFECTS_SHOWN) -> list[Effect]:
    """Return what the newest outcomes did to an entry, newest first, those that moved nothing included."""
    sql = f"{why.EFFECTS.rpartition('ORDER BY')[0]} ORDER BY f.at DESC, f.id DESC LIMIT %s"
    with connection.cursor() as cursor:
        cursor.execute(sql, [viewer.account_id, entry_id, most])
        return [Effect(*row) for row in cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class Reader:
    """An agent that read some versions of an entry: how often, and when last."""

    agent_id: str
    reads: int
    last_at: datetime


READERS = """
    SELECT r.agent_id, sum(r.count)::bigint, max(r.last_at)
      FROM memories_reading r
     WHERE r.account_id = %s AND r.month = ANY(%s::date[]) AND r.entry_id = %s AND r.version BETWEEN %s AND %s
     GROUP BY r.agent_id ORDER BY 2 DESC, 3 DESC
"""


def readers(viewer: Viewer, entry_id: int, *, first: int, last: int, since: datetime, until: datetime) -> list[Reader]:
    """Return who read the versions from `first` to `last`, most reads first; `since` is when the first came about."""
    with connection.cursor() as cursor:
        cursor.execute(READERS, [viewer.account_id, months(since, until), entry_id, first, last])
        return [Reader(*row) for row in cursor.fetchall()]


def months(since: datetime, until: datetime) -> list[date]:
    """Return the first day of each month that a span of time touches, in UTC, as readings are filed."""
    start, end = since.astimezone(UTC), max(since, until).astimezone(UTC)
    count = 12 * (end.year - start.year) + end.month - start.month + 1
    places = (12 * start.year + start.month - 1 + i for i in range(count))
    return [date(place // 12, place % 12 + 1, 1) for place in places]


REFERENCES = """
    SELECT DISTINCT ON (named.ref) named.ref, e.branch, e.entity_path, e.key, e.owner
      FROM unnest(%(paths)s::text[], %(keys)s::text[], %(refs)s::text[]) AS named(path, key, ref)
      JOIN memories_entry e ON {visible} AND e.branch = %(branch)s AND e.entity_path = named.path AND e.key = named.key
     ORDER BY named.ref, e.owner, length(e.key)
"""


@dataclass(frozen=True, slots=True)
class Reference:
    """What an entry refers to; `entry` names an entry by that key, None when there is none."""

    text: str
    entry: dict[str, str] | None


def references(viewer: Viewer, branch: str, refs: Sequence[str]) -> list[Reference]:
    """Return references, each with the entry it names, looked up at every slash as a key may hold some."""
    shown = refs[:REFERENCES_SHOWN]
    splits = [(ref[:at], ref[at + 1 :], ref) for ref in shown for at in range(len(ref)) if ref[at] == "/"]
    if not splits:
        return [Reference(ref, None) for ref in shown]
    paths, keys, whole = (list(part) for part in zip(*splits, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(
            REFERENCES.format(visible=viewer.visible()),
            {**viewer.parameters, "branch": branch, "paths": paths, "keys": keys, "refs": whole},
        )
        names = ("branch", "entity_path", "key", "owner")
        found = {row[0]: dict(zip(names, row[1:], strict=True)) for row in cursor.fetchall()}
    return [Reference(ref, found.get(ref)) for ref in shown]
