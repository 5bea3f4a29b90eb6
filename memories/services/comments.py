"""What people say about an entry beside deciding: a change set without versions, so that it can be taken back."""

from collections.abc import Sequence

from django.db import connection, transaction

from memories.services.acts import Act
from memories.viewers import Viewer
from senselab.errors import Conflict, Invalid, NotFound

LONGEST = 10_000
ACT = """
    INSERT INTO memories_changeset (account_id, kind, actor_kind, actor, session_id, reason, cause, request_id, at,
                                    size, undoes_id)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, 0, %s) RETURNING id
"""
SAY = """
    INSERT INTO memories_comment (account_id, entry_id, change_set_id, actor, text, at)
    SELECT %s, g.entry_id, %s, %s, %s, %s FROM unnest(%s::bigint[]) AS g(entry_id)
"""
SAID = """
    SELECT EXISTS (SELECT 1 FROM memories_changeset u WHERE u.account_id = %(account)s AND u.undoes_id = %(change_set)s)
      FROM memories_comment c JOIN memories_entry e ON e.account_id = c.account_id AND e.id = c.entry_id
     WHERE c.account_id = %(account)s AND c.change_set_id = %(change_set)s AND {visible} LIMIT 1
"""


def checked(text: str) -> str:
    """:raises Invalid: the text is empty, too long or holds NUL."""
    said = text.strip()
    if not said or len(said) > LONGEST or "\0" in said:
        raise Invalid(f"A comment has 1 to {LONGEST:,} characters, none of them NUL.", "/text")
    return said


@transaction.atomic
def say(account_id: int, entry_ids: Sequence[int], text: str, act: Act) -> int:
    """Store a comment on each of some entries and return its change set."""
    change_set_id = _act(account_id, act)
    with connection.cursor() as cursor:
        cursor.execute(SAY, [account_id, change_set_id, act.actor.name, checked(text), act.at, list(entry_ids)])
    return change_set_id


def withdraw(viewer: Viewer, change_set_id: int, act: Act) -> int:
    """Take the comments of a change set out of sight and return the change set of that.

    :raises NotFound: there is no such change set for the viewer.
    :raises Conflict: they were taken back already.
    """
    with connection.cursor() as cursor:
        cursor.execute(SAID.format(visible=viewer.visible()), {**viewer.parameters, "change_set": change_set_id})
        found = cursor.fetchone()
    if found is None:
        raise NotFound("There is no such change set.")
    if found[0]:
        raise Conflict("That comment was taken back already.")
    return _act(viewer.account_id, act)


def _act(account_id: int, act: Act) -> int:
    actor = act.actor
    with connection.cursor() as cursor:
        cursor.execute(
            ACT,
            [
                account_id,
                act.kind,
                actor.kind,
                actor.name,
                actor.session_id,
                act.reason,
                act.cause,
                actor.request_id,
                act.at,
                act.undoes_id,
            ],
        )
        return int(cursor.fetchone()[0])
