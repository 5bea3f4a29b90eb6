"""What happens when a task ends: the outcome is stored once, and credits or discredits what it relied on."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db import connection

from memories import heads, reads
from memories.heads import Head
from memories.rows import Row, row_of
from memories.rules import lifecycle
from memories.rules.confidence import apply_outcome
from memories.rules.kinds import Change, Status
from memories.rules.lifecycle import Place
from memories.rules.policy import Policy
from memories.rules.silence import Silence
from memories.rules.standing import Step
from memories.rules.state import State
from memories.services import ledger, marks
from memories.services.ledger import Act, Actor, Effect, Move, Next
from memories.viewers import Viewer
from outcomes import rules
from outcomes.rules import Judged, Report
from outcomes.services import storing, tracing
from senselab import pipeline

STORED = """
    SELECT o.id, o.committed_at, f.entry_id, max(f.version_made), max(e.entity_path || '/' || e.key),
           (SELECT t.id FROM outcomes_trace t WHERE t.account_id = o.account_id AND t.outcome_id = o.id LIMIT 1)
      FROM outcomes_outcome o
      LEFT JOIN memories_effect f ON f.account_id = o.account_id AND f.outcome_id = o.id
      LEFT JOIN memories_entry e ON e.account_id = f.account_id AND e.id = f.entry_id
     WHERE o.account_id = %s AND o.digest = %s
     GROUP BY o.account_id, o.id, o.committed_at, f.entry_id
"""
NAMED = """
    e.branch = %s AND e.owner = ANY(%s)
    AND (e.entity_path, e.key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
"""
DIGESTS = """
    SELECT v.entry_id, v.number, c.digest
      FROM unnest(%s::bigint[], %s::int[]) AS asked(entry_id, number)
      JOIN memories_entryversion v ON v.account_id = %s AND v.entry_id = asked.entry_id AND v.number = asked.number
      JOIN memories_claim c ON c.account_id = v.account_id AND c.id = v.claim_id
"""


@dataclass(frozen=True, slots=True)
class Committed:
    """What an outcome did: the last version it made of each entry, by entry id, and whether it had been told before;
    `moved` are these versions as the viewer may see them.

    `unknown` are the entry keys it cited that name nothing its reporter may see, and so taught nothing.
    """

    outcome_id: int
    made: dict[int, int]
    repeated: bool
    change_set_id: int | None
    at: datetime
    trace_id: UUID | None = None
    unknown: tuple[str, ...] = ()
    moved: tuple[Row, ...] = ()


@dataclass(slots=True)
class Course:
    """An entry on its way through the steps of one outcome; `sent` to review by a person, it stays there."""

    head: Head
    state: State
    kept: float
    accessed_at: datetime
    steps: list[Next]
    sent: bool


def commit(
    account_id: int, report: Report, *, actor: Actor, policy: Policy, now: datetime, viewer: Viewer | None = None
) -> Committed:
    """Store an outcome and move the entries it relied on, in one change set; those outside the globs of the key that
    reports (`viewer`) are skipped as if they were not there.

    An outcome told again changes nothing and answers as it did at first; a replayed one is stored and teaches nothing.
    Two round trips: the first locks what it relied on, the second writes, reads what was made, and commits.
    """
    judged = [] if report.replayed else rules.steps(report)
    named = _named(account_id, report, judged)
    with pipeline.begun(storing.query(account_id, report, actor, now), *named) as begun:
        stored, heard = begun.found[0], begun.found[-1] if named else []
        if not stored:
            return _stored(account_id, report, viewer)
        found = _resolve(heard, now, viewer)
        outcome_id, act = stored[0][0], Act("outcome", actor, now, policy, cause=report.outcome_ref)
        courses, skipped = _follow(account_id, outcome_id, report, judged, found, act)
        moves = [Move(steps=course.steps, head=course.head) for course in courses if course.steps]
        made = {course.head.id: course.head.version + len(course.steps) for course in courses if course.steps}
        last: dict[str, pipeline.Query] = {}
        if moves or skipped:
            last["written"] = ledger.appending(account_id, act, moves, skipped=skipped)
        if made and viewer is not None:
            last["moved"] = reads.versions_made_query(viewer, made)
        trace = tracing.of_outcome(report, actor.session_id, list(found.values()), now)
        if not report.told.get("trace_follows"):
            last["trace"] = tracing.query(account_id, trace, outcome_id=outcome_id)
        told = dict(zip(last, begun.finish(*last.values()), strict=True))
    moved = tuple(map(row_of, told.get("moved", ())))
    written = ledger.written(told.get("written", ()), moves)
    done = Committed(outcome_id, made, False, written.change_set_id, now, None, _unknown(report, found), moved)
    if "trace" not in told:
        return done
    # Nothing came back when somebody told the same trace meanwhile: theirs is found then.
    trace_id = told["trace"][0][0] if told["trace"] else tracing.keep(account_id, trace, outcome_id=outcome_id)
    return replace(done, trace_id=trace_id)


def _stored(account_id: int, report: Report, viewer: Viewer | None) -> Committed:
    with connection.cursor() as cursor:
        cursor.execute(STORED, [account_id, rules.digest(report)])
        rows = cursor.fetchall()
    made = {entry_id: version for _, _, entry_id, version, _, _ in rows if version is not None}
    known = {row[4] for row in rows}
    moved = tuple(reads.versions_made(viewer, made)) if made and viewer is not None else ()
    return Committed(rows[0][0], made, True, None, rows[0][1], rows[0][5], _unknown(report, known), moved)


def _unknown(report: Report, found: Collection[str]) -> tuple[str, ...]:
    """Return the keys that named nothing; a replayed outcome looks none up."""
    cited = [] if report.replayed else [key for step in rules.steps(report) for key in step.keys]
    return tuple(key for key in rules.distinct(cited) if key not in found)


def _named(account_id: int, report: Report, judged: Sequence[Judged]) -> list[pipeline.Query]:
    """Return the statements that lock and read what stands behind entry keys. One with several slashes is looked up,
    not split by guess."""
    keys = rules.distinct([key for step in judged for key in step.keys])
    splits = [(key[:at], key[at + 1 :]) for key in keys for at in range(len(key)) if key[at] == "/"]
    owners = ["", report.agent_id] if report.agent_id else [""]
    parameters = [report.branch, owners, [path for path, _ in splits], [key for _, key in splits]]
    return heads.queries(account_id, NAMED, parameters, lock=True) if splits else []


def _resolve(rows: pipeline.Rows, now: datetime, viewer: Viewer | None) -> dict[str, Head]:
    """Return the head behind each entry key."""
    found: dict[str, Head] = {}
    for head in map(heads.head_of, rows):
        if viewer is not None and not viewer.reaches_path(head.entity_path):
            continue
        other = found.get(head.entry_key)
        if other is None or _nearness(head, now) > _nearness(other, now):
            found[head.entry_key] = head
    return found


def _nearness(head: Head, now: datetime) -> tuple[bool, bool, bool, int]:
    """Return what decides who answers to an entry key: the living, the reporter's own, the shortest key."""
    gone = head.state.ttl_at is not None and head.state.ttl_at <= now
    return (not gone, head.state.status != Status.ARCHIVED, head.owner != "", len(head.entity_path))


def _kept_in_review(account_id: int, report: Report, found: dict[str, Head]) -> set[int]:
    """Return the entries whose review no success ends: a person sent them, or they are on probation.

    A probation ends by what something outside saw, told by somebody who is on none and is not the author.
    """
    asked = [head.id for head in found.values() if head.state.status == Status.UNDER_REVIEW]
    sent = marks.sent(account_id, asked) if asked else set()
    from_outside = report.verified_by != "" and not report.on_probation
    waiting = [head for head in found.values() if head.on_probation]
    return sent | {head.id for head in waiting if not from_outside or head.claim.agent_id == report.agent_id}


def _follow(
    account_id: int, outcome_id: int, report: Report, judged: Sequence[Judged], found: dict[str, Head], act: Act
) -> tuple[list[Course], list[tuple[int, Effect]]]:
    sent = _kept_in_review(account_id, report, found)
    courses = {
        head.id: Course(head, head.state, head.kept, head.accessed_at, [], head.id in sent) for head in found.values()
    }
    rewritten = _rewritten(account_id, judged, found)
    skipped = []
    for step in judged:
        for key in step.keys:
            head = found.get(key)
            if head is None:
                continue
            course = courses[head.id]
            effect = Effect(
                outcome_id=outcome_id,
                outcome_ref=report.outcome_ref,
                outcome_type=step.outcome_type,
                agent_id=report.agent_id,
                step=step.number,
                causal_confidence=report.causal_confidence,
                keys=len(step.keys),
                verified=report.verified_by != "",
                verified_by=report.verified_by,
                version_read=_version_read(step, key, head),
            )
            if head.state.ttl_at is not None and head.state.ttl_at <= act.at:
                skipped.append((head.id, replace(effect, skipped="expired")))
            elif (key, step.number) in rewritten:
                skipped.append((head.id, replace(effect, skipped="rewritten")))
            else:
                _advance(course, effect, act)
    return list(courses.values()), skipped


def _version_read(step: Judged, key: str, head: Head) -> int | None:
    version = step.versions.get(key)
    return version if version is not None and 1 <= version <= head.version else None


def _rewritten(account_id: int, judged: Sequence[Judged], found: dict[str, Head]) -> set[tuple[str, int]]:
    """Return (key, step) of those that named a version whose claim has since been rewritten."""
    asked = [
        (key, step.number, found[key], version)
        for step in judged
        for key in step.keys
        if key in found and (version := _version_read(step, key, found[key])) and version < found[key].version
    ]
    if not asked:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(DIGESTS, [[head.id for _, _, head, _ in asked], [v for _, _, _, v in asked], account_id])
        digests = {(entry_id, number): bytes(digest) for entry_id, number, digest in cursor.fetchall()}
    return {
        (key, number)
        for key, number, head, version in asked
        if digests.get((head.id, version), head.claim.digest) != head.claim.digest
    }


def _advance(course: Course, effect: Effect, act: Act) -> None:
    """Add the version that one step makes of an entry."""
    state, policy, now = course.state, act.policy, act.at
    silence = Silence(state, course.kept, course.accessed_at, course.head.recall_count)
    before = silence.effective(now, policy)
    step = Step(
        effect.outcome_type,  # type: ignore[arg-type]
        effect.keys,
        effect.causal_confidence,
        effect.verified,
        effect.agent_id,
        now,
        effect.credit,
    )
    applied = apply_outcome(state.standing, step, policy)
    cause = lifecycle.cause_of(step.outcome_type)
    freshness = 1.0 if lifecycle.refreshes(cause) else silence.earned(now, policy)
    place = lifecycle.settle(
        Place(Status(state.status), state.held_at),
        applied.after * freshness,
        cause=cause,
        policy=policy,
        before=before,
        sent_by_person=course.sent,
    )
    after = replace(
        state.with_standing(applied.standing, policy), status=place.status, held_at=place.held_at, freshness=freshness
    )
    told = replace(effect, before=applied.before, weight=applied.weight, after=applied.after)
    course.steps.append(Next(Change.OUTCOME, after, before=applied.before, weight=applied.weight, effect=told))
    course.state, course.kept, course.accessed_at = after, freshness, now
