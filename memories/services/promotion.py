"""Reading rules that people wrote down back as entries, in one change set."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction

from memories import heads
from memories.heads import Head
from memories.rules import names
from memories.rules.kinds import MemoryType
from memories.rules.promotion import Rule
from memories.rules.values import read_value
from memories.services import ledger, writing
from memories.services.acts import Act, Actor, Move
from memories.services.writing import Draft
from memories.viewers import Viewer
from senselab.errors import Conflict, Invalid

MOST = 2_000
# How sure a rule is that a person wrote down.
CONFIDENCE = 0.9
NAMED = """
    e.branch = %s AND e.owner = '' AND (e.entity_path, e.key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
"""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import wrote; rules that say what their entries say already change nothing."""

    change_set_id: int | None
    created: int
    rewritten: int
    unchanged: int


@transaction.atomic
def read_back(
    viewer: Viewer, rules: Sequence[Rule], *, actor: Actor, author: str, cause: str, now: datetime, branch: str = "main"
) -> Imported:
    """Write rules as entries, shared ones; who the claims are by is `author`.

    :raises Invalid: there is no rule, more than 2,000, or one cannot be an entry.
    :raises Conflict: somebody wrote an entry of one of the names meanwhile.
    """
    if not rules or len(rules) > MOST:
        raise Invalid(f"There are {len(rules):,} rules between the markers; 1 to {MOST:,} are taken.")
    drafts = [_draft(rule, author, branch) for rule in rules]
    parameters = [branch, [draft.entity_path for draft in drafts], [draft.key for draft in drafts]]
    found = {(head.entity_path, head.key): head for head in heads.read(viewer.account_id, NAMED, parameters, lock=True)}
    act = Act("write", actor, now, viewer.policy, cause=cause)
    moves = [move for draft in drafts if (move := _move(draft, found.get(draft.name), act))]
    created = sum(move.head is None for move in moves)
    unchanged = len(drafts) - len(moves)
    if not moves:
        return Imported(None, 0, 0, unchanged)
    written = ledger.append(viewer.account_id, act, moves)
    if not written.complete:
        raise Conflict("Somebody wrote one of these entries just now.")
    return Imported(written.change_set_id, created, len(moves) - created, unchanged)


def _draft(rule: Rule, author: str, branch: str) -> Draft:
    key = names.clean_key(rule.key, pointer=f"line {rule.line}")
    return Draft(
        entity_path=names.clean_path(rule.entity_path, pointer=f"line {rule.line}"),
        key=key,
        value=read_value(rule.value, key=key),
        agent_id=author,
        confidence=CONFIDENCE,
        memory_type=MemoryType.PROCEDURE.value,
        branch=branch,
    )


def _move(draft: Draft, head: Head | None, act: Act) -> Move | None:
    if head is not None and head.claim.digest == draft.value.digest:
        return None
    typed = draft if head is None else replace(draft, memory_type=head.state.memory_type)
    return writing.plan(typed, head, act)
