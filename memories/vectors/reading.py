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

LONGEST_QUERY = 2_000
# What the index looks at first, and it goes on from there while filters leave too little.
WIDTH = 100
CLAIMED = "JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id"
RECALLED = "LEFT JOIN memories_recall r ON r.account_id = e.account_id AND r.entry_id = e.id"
# Of two equations PostgreSQL expects a single row: right below a path, where entries are read and their vectors
# compared, but without one it would compare all rather than ask the index.
SAME_CLAIM = "e.claim_id = x.claim_id"
LIKELY_CLAIM = f"CASE WHEN {SAME_CLAIM} THEN TRUE ELSE FALSE END"
SETTINGS = "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %s, true)"
MANY = f"""
    SELECT count(*) FROM (SELECT 1 FROM {table.TABLE} x WHERE x.account_id = %(account)s AND x.model = %(model)s
                           LIMIT {table.EXACT + 1}) s
"""

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
    filtered = f"{CLAIMED if search.needs_claim else ''} {RECALLED} {made.where}"
    with pipeline.planned_anew():
        if search.is_in_one_entity:
            # An index of all would find few of one entity.
            return _found(pipeline.fetch((_within(filtered, distance), values)))
        if many is None:
            (((many,),),) = pipeline.fetch((MANY, {"account": viewer.account_id, "model": name}))
        claim = SAME_CLAIM if search.is_scoped else LIKELY_CLAIM
        if many <= table.EXACT:
            # A sum of distance and nothing keeps the index out.
            sql = _among_all(filtered, claim, name, distance, f"({distance}) + 0")
            return _found(pipeline.fetch((sql, values)))
        with transaction.atomic():
            sql = _among_all(filtered, claim, name, distance, distance)
            return _found(pipeline.fetch((SETTINGS, [str(max(WIDTH, limit))]), (sql, values)))


def _within(filtered: str, distance: str) -> str:
    """Return a statement that compares the vectors of some entries one by one, all read on one way down their index."""
    return f"""
        WITH seen AS MATERIALIZED (SELECT e.id, e.claim_id FROM memories_entry e {filtered})
        SELECT x.entry_id, 1 - ({distance}) FROM {table.TABLE} x
         WHERE x.account_id = %(account)s AND x.model = %(model)s
           AND x.entry_id = ANY(ARRAY(SELECT s.id FROM seen s)) AND x.claim_id IN (SELECT s.claim_id FROM seen s)
         ORDER BY ({distance}) + 0 LIMIT %(limit)s
    """


def _among_all(filtered: str, claim: str, name: str, distance: str, order: str) -> str:
    """Return a statement that looks among the vectors of all entries, in an order that an index may have."""
    # An index that is told a literal can be used.
    literal = name.replace("'", "''").replace("%", "%%")
    return f"""
        SELECT e.id, 1 - ({distance}) FROM {table.TABLE} x
          JOIN memories_entry e ON e.account_id = x.account_id AND e.id = x.entry_id AND {claim} {filtered}
           AND x.account_id = %(account)s AND x.model = '{literal}'
         ORDER BY {order} LIMIT %(limit)s
    """


def _found(results: list[list[tuple[Any, ...]]]) -> Near:
    return [(entry_id, float(cosine)) for entry_id, cosine in results[-1]]


@lru_cache(maxsize=1_024)
def _embedded(model: models.Model, text: str) -> tuple[float, ...]:
    (vector,) = model.embed([text])
    return tuple(vector)
