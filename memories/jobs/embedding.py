"""Gives every entry a vector of its current claim: never in a request, batch by batch, soon after it was written.

Vectors of clients are kept as they came, under a name of their own. When another model is chosen, those of the old one
stay until every entry has one of the new.
"""

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from memories import vectors
from memories.jobs.runs import Run
from memories.rules import embedding
from memories.vectors import Model, table
from senselab.accounts.models import Account

log = logging.getLogger(__name__)

BATCH = 64
STRETCH = 2_000
# The last run began when it began; what was written meanwhile, in a transaction that took long, is looked at twice.
OVERLAP = timedelta(minutes=10)

# Entries whose vector of a model is missing or of another claim than the current one.
LACKING = f"""
      FROM memories_entrytext t
      JOIN memories_entry e ON e.account_id = t.account_id AND e.id = t.entry_id
      LEFT JOIN {table.TABLE} x ON x.account_id = e.account_id AND x.entry_id = e.id AND x.model = %(model)s
     WHERE t.account_id = %(account)s AND t.reworded_at >= %(since)s AND x.claim_id IS DISTINCT FROM e.claim_id
"""
IDS = f"SELECT e.id {LACKING} ORDER BY e.id"
TEXTS = f"""
    SELECT e.id, e.claim_id, e.entity_path, e.key, left(c.value, {20 * embedding.CHARACTERS}), c.is_artifact
      FROM memories_entry e JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
     WHERE e.account_id = %s AND e.id = ANY(%s)
"""
SENT = """
    SELECT e.id, e.claim_id, c.embedding
      FROM memories_entrytext t
      JOIN memories_entry e ON e.account_id = t.account_id AND e.id = t.entry_id
      JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
     WHERE t.account_id = %(account)s AND t.reworded_at >= %(since)s AND c.embedding IS NOT NULL
"""
# An entry that went meanwhile, or says something else by now, is left to the next run.
STORE = f"""
    INSERT INTO {table.TABLE} AS x (account_id, model, entry_id, claim_id, vector)
    SELECT %(account)s, n.model, e.id, e.claim_id, n.vector::halfvec
      FROM unnest(%(models)s::text[], %(ids)s::bigint[], %(claims)s::bigint[], %(vectors)s::text[])
           AS n(model, id, claim_id, vector)
      JOIN memories_entry e ON e.id = n.id AND e.claim_id = n.claim_id
     WHERE e.account_id = %(account)s
    ON CONFLICT (account_id, model, entry_id) DO UPDATE SET claim_id = excluded.claim_id, vector = excluded.vector
     WHERE x.claim_id <> excluded.claim_id
"""
OTHERS = f"""
    SELECT DISTINCT x.model FROM {table.TABLE} x
     WHERE x.account_id = %s AND x.model <> %s AND x.model NOT LIKE 'client-%%'
"""
KNOWN = f"SELECT EXISTS (SELECT 1 FROM {table.TABLE} x WHERE x.account_id = %s AND x.model = %s)"
COUNT = f"SELECT count(*) FROM (SELECT 1 FROM {table.TABLE} x WHERE x.account_id = %s AND x.model = %s LIMIT %s) s"
ALWAYS = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

Vector = tuple[str, int, int, str]


def embed(account: Account, now: datetime, run: Run | None = None) -> int:
    """Embed what was written since the last run, once a day and with another model everything that lacks a vector."""
    run = run or Run()
    if not (table.exists() or vectors.prepare()):
        return 0
    since = since_of(run, now)
    keep_clients(account.pk, since, run)
    model = vectors.current()
    if model is not None:
        _embed_all(account.pk, model, since, run)
    return run.changed


def _embed_all(account_id: int, model: Model, since: datetime, run: Run) -> None:
    others = [name for (name,) in _rows(OTHERS, [account_id, model.name])]
    if not _rows(KNOWN, [account_id, model.name])[0][0]:
        since = ALWAYS
        if others:
            log.warning(
                "The embedding model is %s now: entries are embedded anew, vectors of %s stay until that is done.",
                model.name,
                ", ".join(others),
            )
    elif others:
        since = ALWAYS
    ids = [entry_id for (entry_id,) in _rows(IDS, _values(account_id, model.name, since))]
    run.total = run.looked + len(ids)
    run.terms["model"] = model.name
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        run.step(looked=len(batch), changed=store(account_id, embedded(account_id, model, batch)))
        if run.is_long and start + BATCH < len(ids):
            run.ended = False
            return
    _finish(account_id, model, others)


def _finish(account_id: int, model: Model, others: Sequence[str]) -> None:
    """Drop what another model left, and index a model that has become large."""
    for name in others:
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {table.TABLE} x WHERE x.account_id = %s AND x.model = %s", [account_id, name])
    (count,) = _rows(COUNT, [account_id, model.name, table.EXACT + 1])[0]
    if count > table.EXACT and not table.has_index(model.name):
        table.make_index(model.name, model.dimensions)


def lacking(account_id: int) -> int:
    """Return how many entries lack a vector of this process's model, none without one."""
    model = vectors.current()
    if model is None or not table.exists():
        return 0
    return int(_rows(f"SELECT count(*) {LACKING}", _values(account_id, model.name, ALWAYS))[0][0])


def since_of(run: Run, now: datetime) -> datetime:
    """Return from when on changes are looked at: everything once a day, and after a run that did not go well."""
    is_same_day = run.since is not None and run.since.date() == now.date()
    return run.since - OVERLAP if run.since is not None and is_same_day and not run.asked_by else ALWAYS


def embedded(account_id: int, model: Model, ids: Sequence[int]) -> list[Vector]:
    """Return what a model makes of entries."""
    rows = _rows(TEXTS, [account_id, list(ids)])
    texts = [embedding.text_of(*names, is_artifact=is_artifact) for _, _, *names, is_artifact in rows]
    found = model.embed(texts)
    return [(model.name, row[0], row[1], embedding.written(vector)) for row, vector in zip(rows, found, strict=True)]


def keep_clients(account_id: int, since: datetime, run: Run) -> None:
    """Keep the vectors that clients sent with what they wrote; one that points nowhere is left out."""
    for rows in _stretches(SENT, {"account": account_id, "since": since}):
        normal = ((entry_id, claim_id, embedding.normalised(sent)) for entry_id, claim_id, sent in rows)
        kept = [
            (embedding.clients(len(vector)), entry_id, claim_id, embedding.written(vector))
            for entry_id, claim_id, vector in normal
            if vector is not None
        ]
        run.step(looked=len(kept), changed=store(account_id, kept))


def store(account_id: int, found: Sequence[Vector]) -> int:
    """Store vectors and return how many were new."""
    if not found:
        return 0
    names, ids, claims, written = (list(column) for column in zip(*found, strict=True))
    values: dict[str, Any] = {"account": account_id, "models": names, "ids": ids, "claims": claims, "vectors": written}
    with connection.cursor() as cursor:
        cursor.execute(STORE, values)
        return cursor.rowcount


def _values(account_id: int, model: str, since: datetime) -> dict[str, Any]:
    return {"account": account_id, "model": model, "since": since}


def _stretches(sql: str, values: dict[str, Any]) -> Iterator[list[Any]]:
    """Yield rows of a statement that begins with an entry's id, so many at a time."""
    after = 0
    while rows := _rows(f"{sql} AND e.id > %(after)s ORDER BY e.id LIMIT {STRETCH}", {**values, "after": after}):
        yield rows
        after = rows[-1][0]


def _rows(sql: str, values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
