"""Deciding about entries: one act, one change set, one undo; whoever decided first, or wrote since, is not overrun."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from memories import heads
from memories.heads import Head
from memories.rules.decisions import Item, Word, made, told
from memories.services import comments, ledger, marks, superseding
from memories.services.acts import Act, Actor
from memories.services.decisions import Batch, Decision
from memories.services.feedback import is_over, is_visible
from memories.services.marks import Claim
from memories.services.rollback import NoSuchVersion, head_for
from memories.services.writing import stale
from memories.viewers import Viewer
from senselab.errors import Conflict, Invalid, NotFound, Refusal

AT_ONCE = 200
# The newest decision since the version somebody saw, unless it was undone.
DECIDED = """
    SELECT DISTINCT ON (v.entry_id) v.entry_id, v.change, v.number, s.id, s.actor, s.cause, s.reason, s.at
      FROM unnest(%s::bigint[], %s::int[]) AS g(entry_id, seen)
      JOIN memories_entryversion v ON v.account_id = %s AND v.entry_id = g.entry_id AND v.number > g.seen
      JOIN memories_changeset s ON s.account_id = v.account_id AND s.id = v.change_set_id
     WHERE s.kind IN ('decision', 'rollback')
       AND NOT EXISTS (SELECT 1 FROM memories_changeset u WHERE u.account_id = s.account_id AND u.undoes_id = s.id)
     ORDER BY v.entry_id, v.number DESC
"""


@dataclass(frozen=True, slots=True)
class Done:
    """An entry that was decided about, at the version that made."""

    entry_id: int
    entity_path: str
    key: str
    version: int


@dataclass(frozen=True, slots=True)
class Failed:
    """An entry that was left alone, and the refusal that says why; without names it is not there for the viewer."""

    entry_id: int
    entity_path: str
    key: str
    refusal: Refusal

    @property
    def why(self) -> str:
        return self.refusal.detail


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision did. Nothing was written when there is no change set."""

    change_set_id: int | None
    done: list[Done] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    replacement_id: int | None = None


def decide(
    viewer: Viewer,
    items: Sequence[Item],
    decision: Decision,
    *,
    actor: Actor,
    author: str,
    now: datetime,
    reason: str = "",
) -> Decided:
    """Decide about entries alike, in one change set; `author` is who an edit or a replacement is written by.

    One item that cannot be decided about is refused; of several, those that cannot are in `failed`.

    :raises NotFound: there is no such entry for the viewer, or no such version.
    :raises Conflict: a colleague decided since the version seen (`extra` says who, what and when); or the decision
        makes no sense for this entry.
    :raises StaleVersion: it changed otherwise since the version seen.
    :raises Invalid: no item, more than 200, or something the decision needs is missing.
    """
    decision.check(now)
    if not items:
        raise Invalid("Nothing is selected.", "/items")
    if len(items) > AT_ONCE:
        raise Invalid(f"At most {AT_ONCE} entries are decided about at once; more are a bulk run.", "/items")
    act = Act(decision.kind(), actor, now, viewer.policy, reason=reason, cause=decision.cause())
    decided = apply(viewer, items, decision, act=act, author=author)
    if len(items) == 1 and decided.failed:
        raise decided.failed[0].refusal
    return decided


@transaction.atomic
def apply(
    viewer: Viewer,
    items: Sequence[Item],
    decision: Decision,
    *,
    act: Act,
    author: str,
    change_set_id: int | None = None,
) -> Decided:
    """Decide about one batch; with `change_set_id` it joins that set. A fixed number of statements."""
    asked = {item.entry_id: item for item in items}
    if decision.word == Word.SUPERSEDE:
        # Before the entries, as everybody takes it: two orders of locks are a deadlock.
        superseding.lock(viewer.account_id)
    found, failed = look(viewer, asked, decision, act)
    if decision.word == Word.SKIP:
        marks.release(viewer.account_id, [head.id for head in found], act.actor.name)
        return Decided(None, [_done(head, head.version) for head in found], failed)
    if decision.word == Word.COMMENT:
        text = comments.checked(decision.text)
        made = comments.say(viewer.account_id, [head.id for head in found], text, act) if found else None
        return Decided(made, [_done(head, head.version) for head in found], failed)
    batch = Batch(viewer, decision, act, author, found, asked)
    batch.prepare()
    planned, refused = batch.moves()
    by_id = {head.id: head for head in found}
    failed += [Failed(i, by_id[i].entity_path, by_id[i].key, refusal) for i, refusal in refused.items()]
    if not planned:
        return Decided(None, [], failed)
    return _write(batch, planned, failed, change_set_id)


def look(viewer: Viewer, asked: dict[int, Item], decision: Decision, act: Act) -> tuple[list[Head], list[Failed]]:
    """Return the locked heads that still are what was seen, and those that are not there or moved since."""
    found = heads.by_ids(viewer.account_id, list(asked), lock=True)
    # What is over can still be put back to a version that is not.
    goes_back = decision.word in {Word.RESTORE, Word.UNDO}
    present = [head for head in found if is_visible(viewer, head) and (goes_back or not is_over(head, act.at))]
    missing = set(asked) - {head.id for head in present}
    failed = [Failed(entry_id, "", "", NotFound("There is no such entry.")) for entry_id in sorted(missing)]
    # A comment is about the entry, whatever became of it meanwhile.
    moved = [head for head in present if decision.is_written and head.version != asked[head.id].version]
    deciders = decided_since(viewer.account_id, {head.id: asked[head.id].version for head in moved}) if moved else {}
    for head in moved:
        refusal = refusal_of(head, asked[head.id].version, deciders.get(head.id))
        failed.append(Failed(head.id, head.entity_path, head.key, refusal))
    gone = {head.id for head in moved}
    return [head for head in present if head.id not in gone], failed


def refusal_of(head: Head, seen: int, decided: dict[str, Any] | None) -> Refusal:
    """Return why somebody who saw version `seen` cannot decide about an entry."""
    if seen > head.version or seen < 1:
        return NoSuchVersion(f"There is no version {seen}; they go from 1 to {head.version}.")
    if decided is None:
        return stale(head, seen)
    words = f"{decided['decided_by']} {decided.pop('told')} at {decided['decided_at']:%H:%M on %-d %B} (UTC)."
    return Conflict(words, extra={**decided, "current_version": head.version, "status_now": head.state.status})


def decided_since(account_id: int, seen: dict[int, int]) -> dict[int, dict[str, Any]]:
    """Return who decided what about entries since the versions seen, and when, by entry id."""
    with connection.cursor() as cursor:
        cursor.execute(DECIDED, [list(seen), list(seen.values()), account_id])
        rows = cursor.fetchall()
    return {
        entry_id: {
            "decided_by": actor,
            "decision": made(change, cause),
            "told": told(change, cause),
            "decided_at": at,
            "reason": reason,
            "change_set": change_set_id,
            "version_made": number,
        }
        for entry_id, change, number, change_set_id, actor, cause, reason, at in rows
    }


def _done(head: Head, version: int) -> Done:
    return Done(head.id, head.entity_path, head.key, version)


def _write(
    batch: Batch, planned: Sequence[tuple[Head, ledger.Move]], failed: list[Failed], change_set_id: int | None
) -> Decided:
    account_id, act, moved = batch.viewer.account_id, batch.act, [head for head, _ in planned]
    new = [batch.new] if batch.new is not None else []
    moves = [*(move for _, move in planned), *new]
    written = ledger.append(account_id, act, moves, change_set_id=change_set_id)
    if written.change_set_id is None or not written.complete:
        raise Conflict("Somebody wrote an entry of the replacement's name just now.")
    if batch.decision.word == Word.UNDO:
        assert act.undoes_id is not None
        if batch.silences:
            marks.restore(account_id, undone=act.undoes_id, by=written.change_set_id, moved=moved, now=act.at)
    else:
        marks.settle(account_id, written.change_set_id, moved, batch.decision.marking(act.actor.name), act.at)
    done = [_done(head, head.version + len(move.steps)) for head, move in planned]
    return Decided(written.change_set_id, done, failed, written.entry_ids[-1] if new else None)


def claim(viewer: Viewer, entry_id: int, person: str, now: datetime) -> Claim:
    """Claim an item for a minute for a person who opens it, and return who has it: they, or who came first.

    :raises NotFound: there is no such entry for the viewer.
    """
    head_for(viewer, entry_id)
    return marks.claim(viewer.account_id, entry_id, person, now)
