"""Many writes that stand or fall together: one change set, named as a commit (contract.md 1.12 and 3.15)."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, connection, transaction

from memories import heads
from memories.heads import Head, Name
from memories.models import Commit
from memories.rules.policy import Policy
from memories.services import ledger, writing
from memories.services.ledger import Act, Actor
from memories.services.writing import Draft, Stored
from senselab.errors import Conflict, Invalid, Place

ATTEMPTS = 5
NAMED = """(e.entity_path, e.key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
    AND e.branch = %s AND e.owner = ANY(%s)"""
LATEST = """
    SELECT c.id FROM memories_commit c WHERE c.account_id = %s AND c.branch = %s ORDER BY c.change_set_id DESC LIMIT 1
"""
# One commit at a time on a branch, so that each has the one before as its parent.
QUEUE = "SELECT pg_advisory_xact_lock(hashtextextended('commit on ' || %s, %s))"


class SomebodyWasFirst(Exception):
    """An entry of the batch was written by somebody else meanwhile."""


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit wrote; `stored` in the order of its drafts."""

    id: str
    change_set_id: int
    tree_hash: str
    parent_ids: list[str]
    stored: list[Stored]


def commit(
    account_id: int, drafts: Sequence[Draft], *, message: str, actor: Actor, policy: Policy, now: datetime
) -> Committed:
    """Write drafts of one branch and author, each name once, all or nothing.

    :raises Conflict: others kept writing the same entries.
    :raises Refused: one holds a key or a token and the account refuses those; the pointer says which.
    """
    drafts = [guarded(draft, place, policy) for place, draft in enumerate(drafts)]
    act = Act("write", actor, now, policy, reason=message)
    for _ in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return _commit(account_id, drafts, act)
        except SomebodyWasFirst:
            continue
        except IntegrityError as error:
            # A private entry is published while somebody writes a shared one of its name.
            if "an_entry_key_is_taken_once" not in str(error):
                raise
    raise Conflict("Others are writing the same entries; try again.")


def guarded(draft: Draft, place: int, policy: Policy) -> Draft:
    """Return one draft of many as the account's rule about keys and tokens lets it be stored."""
    try:
        return draft.guarded(policy)
    except Invalid as refusal:
        refusal.places = tuple(Place(f"/writes/{place}{at.pointer}", at.detail) for at in refusal.places)
        raise


def _commit(account_id: int, drafts: Sequence[Draft], act: Act) -> Committed:
    branch = drafts[0].branch
    with connection.cursor() as cursor:
        cursor.execute(QUEUE, [branch, account_id])
        cursor.execute(LATEST, [account_id, branch])
        parents = [row[0] for row in cursor.fetchall()]
    found = _heads(account_id, drafts)
    moves = [writing.planned(draft, found.get(draft.name, ()), act) for draft in drafts]
    written = ledger.append(account_id, act, moves)
    stored = [
        done
        for move, entry_id in zip(moves, written.entry_ids, strict=True)
        if (done := writing.stored(move, entry_id, written.change_set_id))
    ]
    if written.change_set_id is None or len(stored) < len(drafts):
        raise SomebodyWasFirst
    tree = tree_hash([done.claim.content_hash for done in stored])
    made = Committed(name_of(tree, parents, act, written.change_set_id), written.change_set_id, tree, parents, stored)
    Commit.objects.create(
        account_id=account_id,
        id=made.id,
        change_set_id=made.change_set_id,
        branch=branch,
        tree_hash=tree,
        parent_ids=parents,
    )
    return made


def _heads(account_id: int, drafts: Sequence[Draft]) -> dict[Name, list[Head]]:
    """Lock the entries that drafts go to, in the order everybody locks in, and return them by name."""
    owners = ["", drafts[0].agent_id]
    paths, keys = [draft.entity_path for draft in drafts], [draft.key for draft in drafts]
    found: dict[Name, list[Head]] = {}
    named = heads.on(drafts[0].branch, NAMED)
    for head in heads.read(account_id, named, [paths, keys, drafts[0].branch, owners], lock=True):
        found.setdefault(Name(head.entity_path, head.key), []).append(head)
    return found


def tree_hash(content_hashes: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(sorted(content_hashes)).encode()).hexdigest()


def name_of(tree: str, parents: Sequence[str], act: Act, change_set_id: int) -> str:
    """Return 12 hex digits over what a commit holds and where it stands; the change set makes it one of a kind."""
    told = [tree, list(parents), act.actor.name, act.reason, act.at.isoformat(), change_set_id]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]
