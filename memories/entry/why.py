"""Why an entry's confidence is what it is: every version's arithmetic, in words and numbers."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from memories import reads
from memories.ageing import policy_reads
from memories.rows import Row
from memories.rules import decisions
from memories.rules.confidence import apply_outcome
from memories.rules.explain import Line, explain
from memories.rules.kinds import Change
from memories.rules.policy import Policy
from memories.rules.silence import Silence
from memories.rules.standing import Applied, Standing, Step
from memories.viewers import Viewer

COLUMNS = """f.version_made, f.outcome_id, f.outcome_ref, f.outcome_type, f.agent_id, f.step, f.at, f.version_read,
    f.causal_confidence, f.keys, f.verified, f.verified_by, f.credit, f.before, f.weight, f.after, f.skipped"""
EFFECTS = f"""
    SELECT {COLUMNS}
      FROM memories_effect f
     WHERE f.account_id = %s AND f.entry_id = %s ORDER BY f.at, f.id
"""
ACTS = """
    SELECT v.number, v.change, v.at, v.before, v.weight, v.policy, s.id, s.kind, s.actor_kind, s.actor, s.reason,
           s.cause, s.session_id
      FROM memories_entryversion v
      JOIN memories_changeset s ON s.account_id = v.account_id AND s.id = v.change_set_id
     WHERE v.account_id = %s AND v.entry_id = %s ORDER BY v.number
"""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one step of an outcome did to the entry, or (`skipped`) why nothing; `version_made` is None then."""

    version_made: int | None
    outcome_id: int
    outcome_ref: str
    outcome_type: str
    agent_id: str
    step: int
    at: datetime
    version_read: int | None
    causal_confidence: float
    keys: int
    verified: bool
    verified_by: str
    credit: float
    before: float | None
    weight: float | None
    after: float | None
    skipped: str

    def replay(self, standing: Standing, policy: Policy) -> Applied:
        """Return the arithmetic of this effect on what stood before it."""
        step = Step(
            self.outcome_type,  # type: ignore[arg-type]
            self.keys,
            self.causal_confidence,
            self.verified,
            self.agent_id,
            self.at,
            self.credit,
        )
        return apply_outcome(standing, step, policy)


@dataclass(frozen=True, slots=True)
class Act:
    """Who made a version, when and why."""

    number: int
    change: str
    at: datetime
    before: float | None
    weight: float | None
    policy: str
    change_set_id: int
    kind: str
    actor_kind: str
    actor: str
    reason: str
    cause: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Told:
    """One version with its act, its state and, if an outcome made it, the effect with its arithmetic in lines."""

    row: Row
    act: Act
    effect: Effect | None
    lines: tuple[Line, ...]

    @property
    def words(self) -> str:
        """Return in one sentence what happened."""
        return sentence(self)


@dataclass(frozen=True, slots=True)
class Story:
    """An entry's whole history, oldest first, and the effects that moved nothing."""

    steps: list[Told]
    skipped: list[Effect]


def effects(account_id: int, entry_id: int) -> list[Effect]:
    with connection.cursor() as cursor:
        cursor.execute(EFFECTS, [account_id, entry_id])
        return [Effect(*row) for row in cursor.fetchall()]


def acts(account_id: int, entry_id: int) -> dict[int, Act]:
    with connection.cursor() as cursor:
        cursor.execute(ACTS, [account_id, entry_id])
        return {row[0]: Act(*row) for row in cursor.fetchall()}


def story(viewer: Viewer, entry_id: int) -> Story:
    """Return the history of an entry the viewer may see; three or four statements, however long it is."""
    versions = reads.versions(viewer, entry_id, values=False)
    if not versions:
        return Story([], [])
    made = acts(viewer.account_id, entry_id)
    moved = effects(viewer.account_id, entry_id)
    by_version = {effect.version_made: effect for effect in moved if effect.version_made is not None}
    policies = policies_of(viewer, {made[number].policy for number in by_version})
    steps, before = [], Standing(versions[0].state.confidence)
    for row in versions:
        effect, policy = by_version.get(row.version), policies.get(made[row.version].policy)
        # Of a policy that is kept nowhere only the result is known.
        lines = tuple(explain(effect.replay(before, policy), policy)) if effect and policy else ()
        steps.append(Told(row, made[row.version], effect, lines))
        before = row.state.standing
    return Story(steps, [effect for effect in moved if effect.skipped])


def policies_of(viewer: Viewer, names: Collection[str]) -> dict[str, Policy]:
    """Return the policies behind some names, as far as they are known; what moved an entry keeps its own."""
    present = {policy_reads.name_of(viewer.policy): viewer.policy}
    return present if present.keys() >= set(names) else policy_reads.known(viewer.account_id, viewer.policy)


SENTENCES = {
    Change.CREATED: "{actor} learned it and said {after:.2f}.",
    Change.FEEDBACK: "{actor} {cause} it.",
    Change.EVIDENCE: "{actor} brought evidence.",
    Change.DECAYED: "Silence wore it down below a threshold.",
    Change.EXPIRED: "Its time to live was over.",
    Change.REVIEW: "{actor} decided about it.",
    Change.SUPERSEDED: "{actor} replaced it by another entry.",
    Change.MERGED: "{actor} merged it.",
    Change.ERASED: "{actor} had what it said erased.",
}


def sentence(told: Told) -> str:
    act, row = told.act, told.row
    if told.effect is not None:
        verified = ", verified from outside" if told.effect.verified else ""
        kind = told.effect.outcome_type.replace("_", " ")
        return f"{kind} of {told.effect.outcome_ref}{verified}: {act.before:.3f} to {row.state.confidence:.3f}."
    if act.kind == "decision":
        return f"{act.actor} {decisions.told(act.change, act.cause)}."
    if act.change == Change.WRITTEN:
        kept = row.state.confidence == act.before and row.state.outcome_count > 0
        return f"{act.actor} wrote the same claim again." if kept else f"{act.actor} rewrote the claim."
    if act.change == Change.ROLLBACK:
        return f"{act.actor} undid {act.cause}." if act.kind == "undo" else f"{act.actor} rolled back to {act.cause}."
    return SENTENCES[Change(act.change)].format(actor=act.actor, cause=act.cause, after=row.state.confidence)


def steps_of(told: Told) -> dict[str, Any]:
    """Return a step of GET why (DESIGN.md): when, what caused it, before, weight, after, and the sum in lines."""
    return {
        "version": told.row.version,
        "at": told.act.at,
        "change": told.act.change,
        "cause": told.act.cause,
        "actor": told.act.actor,
        "reason": told.act.reason,
        "before": told.act.before,
        "weight": told.act.weight,
        "after": told.row.state.confidence,
        "policy": told.act.policy,
        "evidence_status": told.row.state.evidence_status,
        "words": [told.words, *(f"{line.words}: {line.number:.6g}" for line in told.lines)],
    }


def silence_of(row: Row) -> Silence:
    """Return the silence of a head's row, from which freshness and forecasts follow."""
    return Silence(row.state, row.kept, row.accessed_at, row.recall_count)
