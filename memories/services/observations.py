"""A user's words as feedback (RULES.md 3): what they say, and about which entries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec
from django.db import connection

from memories.entry.history import months
from memories.rules.detection import Signal, SignalType
from memories.rules.values import read_value
from memories.services import feedback
from memories.services.acts import Actor
from memories.services.feedback import Feedback, Given, Verdict
from memories.services.superseding import Replacement
from memories.viewers import Viewer
from senselab.errors import Invalid

# What was read within so long before a session's last reading was read for the same answer.
TOGETHER = timedelta(minutes=1)
FEW = 5
BACK = timedelta(days=2)
READ_LAST = """
    SELECT r.entry_id FROM memories_reading r
      JOIN memories_entry e ON {visible} AND e.id = r.entry_id AND (e.ttl_at IS NULL OR e.ttl_at > %(now)s)
     WHERE r.account_id = %(account)s AND r.month = ANY(%(months)s::date[]) AND r.session_id = %(session)s
       AND (%(agent)s = '' OR r.agent_id = %(agent)s) AND r.last_at > %(since)s
     GROUP BY r.entry_id
    HAVING max(r.last_at) >= (
        SELECT max(l.last_at) FROM memories_reading l
         WHERE l.account_id = %(account)s AND l.month = ANY(%(months)s::date[]) AND l.session_id = %(session)s
           AND (%(agent)s = '' OR l.agent_id = %(agent)s)) - %(together)s
     ORDER BY max(r.last_at) DESC, r.entry_id LIMIT {few}
"""


@dataclass(frozen=True, slots=True)
class Applied:
    """What a signal did; nothing (None) when there was no signal, or no entry to apply it to."""

    entry_ids: list[int]
    given: Given | None


def read_last(viewer: Viewer, session_id: str, now: datetime) -> list[int]:
    """Return the entries a session read last, newest first: at most five, read within a minute, within two days."""
    values = {
        **viewer.parameters,
        "now": now,
        "since": now - BACK,
        "months": months(now - BACK, now),
        "session": session_id,
        "together": TOGETHER,
    }
    with connection.cursor() as cursor:
        cursor.execute(READ_LAST.format(visible=viewer.visible(), few=FEW), values)
        return [entry_id for (entry_id,) in cursor.fetchall()]


def apply(
    viewer: Viewer,
    signal: Signal,
    entry_ids: Sequence[int],
    *,
    words: str,
    replace: bool,
    actor: Actor,
    keeps: bool,
    author: str,
    now: datetime,
    on_probation: bool = False,
) -> Applied:
    """Judge entries by a signal, in one change set; with `replace` what a correction suggests takes the place of one.

    :raises NotFound: one of the entries is not there for the viewer.
    :raises Invalid: a replacement for several entries at once.
    """
    ids = list(dict.fromkeys(entry_ids))
    if not ids:
        return Applied([], None)
    if signal.type == SignalType.APPROVAL:
        said = Feedback(Verdict.ACCEPTED, note=words)
    elif not replace:
        said = Feedback(Verdict.REJECTED, note=words)
    elif len(ids) > 1:
        raise Invalid("A replacement takes the place of one entry; name which.", "/replace")
    else:
        value = read_value(msgspec.json.encode(signal.suggested), key="")
        said = Feedback(Verdict.REJECTED, note=words, replacement=Replacement(value, on_probation=on_probation))
    judged: dict[int, int | None] = dict.fromkeys(ids)
    given = feedback.give_all(viewer, judged, said, actor=actor, keeps=keeps, author=author, now=now)
    return Applied(ids, given)
