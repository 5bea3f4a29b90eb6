"""What is near: entries by the angle between their vectors and another."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import transaction

from memories.rules import embedding
from memories.search.described import Search
from memories.vectors import model as models
from memories.vectors import table
from memories.viewers import Viewer
from senselab import pipeline
from senselab.pipeline import Query

# The model was trained on texts about as long (128 tokens): more of a query costs time and says little new.
LONGEST_QUERY = 500
# What the index looks at first, and it goes on from there while filters leave too little.
WIDTH = 100
CLAIMED = "JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id"
RECALLED = "LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id"
# For a transaction. Without the last one PostgreSQL would rather compare and sort all than ask the index.
SETTINGS = """
    SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %s, true),
           set_config('enable_sort', 'off', true)
"""
MANY = f"""
    SELECT count(*) FROM (SELECT 1 FROM {table.TABLE} x WHERE x.account_id = %(account)s AND x.model = %(model)s
                           LIMIT {table.EXACT + 1}) s
"""
BELOW = f"SELECT count(*) FROM (SELECT 1 FROM {{}} LIMIT {table.EXACT + 1}) s"

Near = list[tuple[int, float]]


def query_vector(text: str) -> list[float] | None:
    """Return what a query means to this process's model, None without one. Short, and remembered."""
    model = models.current()
    return (
        list(_embedded(model, " ".join(text.split())[:LONGEST_QUERY])) if model is not None and text.strip() else None
    )


def counting(viewer: Viewer) -> Query | None:
    """Return the statement for how many vectors of this process's model there are; None where none can be."""
    model = models.current()
    known = {"account": viewer.account_id, "model": model.name if model else ""}
    return (MANY, known) if model is not None and table.exists() else None


def nearest(
    viewer: Viewer,
    asked: str | Sequence[float],
    search: Search,
    now: datetime,
    limit: int,
    *,
    many: int | None = None,
) -> Near:
    """Return (entry id, cosine) of the nearest entries that meet a search's filters, the nearest first.

    A text needs a model; a vector is compared with what clients sent, or with the model's if it is one of its own
    (query_vector). Nothing where there is no model or no table; entries not embedded yet are not among them. `many` is
    what `counting` found, where it was asked already.
    """
    if many == 0:
        return []
    model = models.current()
    vector = query_vector(asked) if isinstance(asked, str) else embedding.normalised(asked)
    if vector is None or not table.exists():
        return []
    own = model is not None and (isinstance(asked, str) or len(vector) == model.dimensions)
    name = model.name if own and model is not None else embedding.clients(len(vector))
    return of_model(viewer, name, vector, search, now, limit, many=many)


def of_model(
    viewer: Viewer,
    name: str,
    vector: Sequence[float],
    search: Search,
    now: datetime,
    limit: int,
    *,
    many: int | None = None,
) -> Near:
    """Return (entry id, cosine) of the nearest entries to a vector of a model."""
    made = replace(search, words="").conditions(viewer, now)
    values: dict[str, Any] = {**made.values, "model": name, "near": embedding.written(vector), "limit": limit}
    kind = f"halfvec({len(vector)})"
    distance = f"x.vector::{kind} <=> %(near)s::text::{kind}"
    entries = f"memories_entry e {CLAIMED if search.needs_claim else ''} {RECALLED} {made.where}"
    with pipeline.planned_anew():
        is_few = _few(MANY, {"account": viewer.account_id, "model": name}) if many is None else many <= table.EXACT
        # An index of all would find little of a small part.
        if search.is_in_one_entity or (search.entity_path and not is_few and _few(BELOW.format(entries), values)):
            part = f"AND x.entry_id = ANY(ARRAY(SELECT e.id FROM {entries}))"
            return _found(pipeline.fetch((_statement(entries, name, f"({distance}) + 0", part), values)))
        if is_few:
            return _found(pipeline.fetch((_statement(entries, name, f"({distance}) + 0"), values)))
        with transaction.atomic():
            settings = (SETTINGS, [str(max(WIDTH, limit))])
            return _found(pipeline.fetch(settings, (_statement(entries, name, distance), values)))


def _few(sql: str, values: dict[str, Any]) -> bool:
    (((many,),),) = pipeline.fetch((sql, values))
    return bool(many <= table.EXACT)


def _statement(entries: str, name: str, order: str, part: str = "") -> str:
    """Return a statement that takes vectors in an order, until enough of their entries are among those wanted.

    So it costs the same whatever PostgreSQL thinks of how many there are: it has sampled no vector when the first are
    there. An index that is told a literal can be used; a sum of distance and nothing keeps it out.
    """
    literal = name.replace("'", "''").replace("%", "%%")
    return f"""
        SELECT n.entry_id, 1 - n.distance
          FROM (SELECT x.entry_id, x.claim_id, {order} AS distance FROM {table.TABLE} x
                 WHERE x.account_id = %(account)s AND x.model = '{literal}' {part} ORDER BY distance) n
          JOIN LATERAL (SELECT 1 FROM {entries} AND e.id = n.entry_id AND e.claim_id = n.claim_id LIMIT 1) s ON TRUE
         ORDER BY n.distance LIMIT %(limit)s
    """


def _found(results: list[list[tuple[Any, ...]]]) -> Near:
    return [(entry_id, float(cosine)) for entry_id, cosine in results[-1]]


@lru_cache(maxsize=1_024)
def _embedded(model: models.Model, text: str) -> tuple[float, ...]:
    (vector,) = model.embed([text])
    return tuple(vector)
