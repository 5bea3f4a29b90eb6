"""Vectors for the benchmark of searching: what a model might say of its entries, without an hour of embedding them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from memories.vectors import Model, table
from tests.load.seed_time import Store

NAME, DIMENSIONS, TOPICS = "bench", 384, 50
# Entries of a topic lie about its middle, as far from it as texts about one thing do: each by a sum of two of so many
# ways, so that no two are the same and nothing is computed a thousand times for each of a million.
WAYS = (997, 1_009)
RANDOM = f"""(SELECT array_agg(1.4 * (random() - 0.5) + n * 0 ORDER BY d)::real[]::halfvec
                FROM generate_series(1, {DIMENSIONS}) AS d)"""
VECTORS = f"""
    WITH middles AS MATERIALIZED (
        SELECT n, (SELECT array_agg(sin(n * 12.9898 + d * 78.233) ORDER BY d)::real[]::halfvec
                     FROM generate_series(1, {DIMENSIONS}) AS d) AS at
          FROM generate_series(0, {TOPICS - 1}) AS n),
    ones AS MATERIALIZED (SELECT n, {RANDOM} AS at FROM generate_series(0, {WAYS[0] - 1}) AS n),
    others AS MATERIALIZED (SELECT n, {RANDOM} AS at FROM generate_series(0, {WAYS[1] - 1}) AS n)
    INSERT INTO {table.TABLE} (account_id, model, entry_id, claim_id, vector)
    SELECT e.account_id, '{NAME}', e.id, e.claim_id, l2_normalize(m.at + a.at + b.at)
      FROM memories_entry e
      JOIN middles m ON m.n = e.id %% {TOPICS}
      JOIN ones a ON a.n = e.id %% {WAYS[0]}
      JOIN others b ON b.n = e.id %% {WAYS[1]}
     WHERE e.account_id = %(account)s
"""


@dataclass(frozen=True)
class Synthetic:
    """A model that knows topics; it takes the time of a real one where that is installed."""

    real: Model | None = None
    name: str = NAME
    dimensions: int = DIMENSIONS

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.real is not None:
            self.real.embed(texts)
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> list[float]:
        found = re.search(r"topic(\d+)", text)
        topic, other = int(found[1]) if found else TOPICS, len(text)
        near = [math.sin(topic * 12.9898 + d * 78.233) + math.sin(other * d) for d in range(1, DIMENSIONS + 1)]
        length = math.hypot(*near)
        return [part / length for part in near]


def seed(store: Store) -> None:
    """Give every entry a vector, and the vectors their index where there are many."""
    if not table.prepare():
        return
    store.execute(VECTORS)
    if store.entries > table.EXACT:
        with connection.cursor() as cursor:
            cursor.execute("SET maintenance_work_mem = '4GB'")
        table.make_index(NAME, DIMENSIONS)
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {table.TABLE}")
