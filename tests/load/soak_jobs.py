"""Work for the worker while parts are killed: decisions about many, each of which has to come about once and whole."""

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import psycopg

from tests.load.careful import again, call, rest

MANY, COMMITS = 500, 4
PATIENCE = 300
WHOLE = """
    SELECT count(*), count(DISTINCT v.entry_id), count(*) FILTER (WHERE v.number = 2 AND v.status = 'archived')
      FROM memories_entryversion v JOIN memories_entry e ON e.account_id = v.account_id AND e.id = v.entry_id
     WHERE v.change_set_id = %s AND e.entity_path = %s
"""
BEYOND = "SELECT count(*) FROM memories_entry WHERE entity_path = %s AND version <> 2"


@dataclass(frozen=True)
class Decided:
    """A decision about many that was asked for and told as done: where, in which change set, how it ended."""

    path: str
    change_set: int
    state: str
    done: int


def foreman(url: str, key: str, ends: float, out: Any, busy: Any) -> None:
    """Write doubtful entries and let the worker archive them, again and again; `busy` is set while it is at work."""
    found: list[Decided] = []
    statuses: Counter[int] = Counter()
    while time.time() < ends:
        path = f"jobs/{len(found)}"
        for part in range(COMMITS):
            names = [f"{part}-{n}" for n in range(MANY)]
            # Each says something of its own, as the soak counts what was said twice.
            rows = [{"entity_path": path, "key": name, "value": f"{path} {name}", "confidence": 0.2} for name in names]
            sent = {"writes": rows, "agent_id": "agent/foreman"}
            again(f"{url}/api/v1/commits", sent, key, f"{path}-{part}", ends, statuses)
        order = {"filter": {"entity_path": path}, "decision": "archive", "reason": "soak", "agent_id": "agent/foreman"}
        status, told = again(f"{url}/api/v1/review/decisions", order, key, path, ends, statuses)
        if status == 202:
            found.append(watched(url, key, path, told["run"], busy))
    out.put(found)


def watched(url: str, key: str, path: str, run: int, busy: Any) -> Decided:
    """Return how a run ended, however long it takes within patience."""
    until, told = time.time() + PATIENCE, {"change_set": 0, "state": "lost", "done": 0}
    while time.time() < until:
        status, answer = call(f"{url}/api/v1/review/runs/{run}", None, key)
        if status == 200:
            told = answer
            # Half-way is when a kill hurts most.
            busy.set() if 0 < told["done"] < told["total"] else busy.clear()
            if told["finished_at"]:
                break
        rest(0.1)
    busy.clear()
    return Decided(path, told["change_set"] or 0, told["state"], told["done"])


def faults(connection: psycopg.Connection[Any], found: list[Decided]) -> list[str]:
    """Return which decisions did not come about once for each entry."""
    wrong = []
    for one in found:
        (versions, entries, archived), (beyond,) = (
            connection.execute(sql, values).fetchone() or ()
            for sql, values in ((WHOLE, [one.change_set, one.path]), (BEYOND, [one.path]))
        )
        if (one.state, one.done, versions, entries, archived, beyond) != ("finished", *[MANY * COMMITS] * 4, 0):
            wrong.append(f"{one}: {versions} versions of {entries} entries, {archived} archived, {beyond} not of two")
    return wrong
