"""Erasing what was said: entries by the room below, and here what outcomes, traces, events and edges told of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.db import connection, transaction

from memories.heads import Name
from memories.rules.policy import Policy
from memories.services import erasing
from memories.services.acts import Act, Actor
from memories.services.erasing import KIND, Found, Target
from outcomes.services import erasing_sql as sql
from senselab.accounts import audit
from senselab.accounts.audit import Who
from senselab.errors import Invalid, NotFound

LONGEST_REASON = 2_000
# What nobody here can reach.
ELSEWHERE = (
    "backups and dumps made before",
    "replicas and standby servers until they caught up, and archived write-ahead logs",
    "exports, files and notes that somebody took out of here",
    "what agents keep of what they read",
    "logs of the database, where statements are logged with their values",
)


@dataclass(frozen=True, slots=True)
class Told:
    """What an erasure blanks: counts by what they count, whose name is to be typed, and what is out of reach."""

    counts: dict[str, int]
    confirmation: str
    elsewhere: Sequence[str] = ELSEWHERE


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased."""

    change_set_id: int
    counts: dict[str, int]


def foresee(account_id: int, target: Target, confirmation: str) -> Told:
    """Return what an erasure would blank.

    :raises NotFound: there is nothing of that name, or nothing left of it.
    """
    found = erasing.look(account_id, target)
    counts = found.counts | _counts(_reached(account_id, target, found))
    if not found.touched and not any(number for word, number in counts.items() if word != "entries"):
        raise NotFound("There is nothing left of it to erase.")
    return Told(counts, confirmation)


@transaction.atomic
def erase(
    account_id: int,
    target: Target,
    *,
    confirmation: str,
    typed: str,
    actor: Actor,
    by: Who,
    policy: Policy,
    reason: str,
    now: datetime,
) -> Erased:
    """Erase for good, for somebody who typed the name of it and said why.

    :raises Invalid: there is no reason, or what was typed is another name.
    :raises NotFound: there is nothing left of it.
    :raises Conflict: something about it is on its way.
    """
    text = checked(reason, typed, confirmation)
    foresee(account_id, target, confirmation)
    act = Act(KIND, actor, now, policy, reason=text)
    # What relied on it is asked for before its names go.
    found = erasing.look(account_id, target)
    reached = _reached(account_id, target, found)
    done = erasing.erase(account_id, target, act)
    values = _values(account_id, target, found) | reached
    with connection.cursor() as cursor:
        for statement in sql.BLANK:
            cursor.execute(statement, values)
        for old, new in done.renamed.items():
            for statement in sql.RENAME_AGENT if target.agent_id else sql.RENAME_ENTRY:
                cursor.execute(statement, values | {"old": old, "new": new})
        for statement in sql.ERASE:
            cursor.execute(statement, {"account": account_id, "at": now, "what": _past(target, reached, done.renamed)})
    counts = found.counts | _counts(reached)
    what_of = "an agent" if target.agent_id else "an entry"
    named_as = what_of if target.names else f"{what_of}: {confirmation}"
    told = {"change_set": done.change_set_id, "names": target.names, "reason": text, **counts}
    audit.record(account_id, "erased", by=by, at=now, target=named_as, after=told)
    return Erased(done.change_set_id, counts)


def checked(reason: str, typed: str, confirmation: str) -> str:
    """:raises Invalid: there is no reason, or what was typed is another name."""
    text = reason.strip()
    if not text or len(text) > LONGEST_REASON or "\0" in text:
        raise Invalid(
            f"Say why, in 1 to {LONGEST_REASON:,} characters; the reason stays with the tombstone.", "/reason"
        )
    if typed != confirmation:
        raise Invalid("What was typed is not the name of what shall be erased. Nothing was erased.", "/confirm")
    return text


def _reached(account_id: int, target: Target, found: Found) -> dict[str, Any]:
    """Return the ids of what told about it in this room."""
    values = _values(account_id, target, found)
    reached: dict[str, Any] = {}
    with connection.cursor() as cursor:
        for name, statement in sql.REACHED.items():
            cursor.execute(statement, values | reached)
            rows = cursor.fetchall()
            reached[name] = [row[0] for row in rows]
    return reached


def _past(target: Target, reached: dict[str, Any], renamed: dict[str, str]) -> str:
    """Return what the functions that get past the triggers are told."""
    kind = "agent" if target.agent_id else "entry"
    names = [{"kind": kind, "old": old, "new": new} for old, new in renamed.items()]
    refs = reached["refs"] if target.agent_id and target.names else []
    return _json({"outcomes": reached["outcomes"], "names": names, "refs": refs})


def _counts(reached: dict[str, Any]) -> dict[str, int]:
    return {word: len(reached[word]) for word in ("outcomes", "traces", "events", "edges")}


def _values(account_id: int, target: Target, found: Found) -> dict[str, Any]:
    return {
        "account": account_id,
        "ids": found.entries,
        "agent": target.agent_id,
        "keys": [f"{name.entity_path}/{name.key}" for name in found.names],
        "paths": sorted({name.entity_path for name in found.names}),
        "entry_paths": [name.entity_path for name in found.names],
        "entry_keys": [name.key for name in found.names],
        "literals": [literal for name in found.names for literal in _literals(name)],
    }


def _literals(name: Name) -> list[str]:
    """Return how a key may stand in JSON text, in whatever way it escapes."""
    return sorted({json.dumps(name.key), _json(name.key)})


def _json(told: Any) -> str:
    return msgspec.json.encode(told).decode()
