"""Copies entries of the data set into the peer's table, with vectors by its own embedder; runs in its virtualenv.

Arguments: address of the database, size of the data set, which part of how many.
"""

import json
import sys
import uuid
from datetime import UTC, datetime

import psycopg
from amfs_core.content import embedding_input
from amfs_core.default_embedder import HashEmbedder

from tests.load import dataset

COLUMNS = (
    "id, namespace, entity_path, key, version, value, agent_id, session_id, written_at, confidence, memory_type,"
    " branch, embedding"
)


def main() -> None:
    dsn, size, at, parts = sys.argv[1], *map(int, sys.argv[2:5])
    embedder, now = HashEmbedder(), datetime.now(UTC)
    with (
        psycopg.connect(dsn) as connection,
        connection.cursor() as cursor,
        cursor.copy(f"COPY amfs_memory_entries ({COLUMNS}) FROM STDIN") as rows,
    ):
        for i in range(at, size, parts):
            body = dataset.body(i, size)
            _, text = embedding_input(body["key"], body["value"])
            vector = "[" + ",".join(map(str, embedder.embed(text))) + "]"
            value = json.dumps(body["value"])
            place = (uuid.uuid4(), "default", body["entity_path"], body["key"], 1, value, body["agent_id"], "seed", now)
            rows.write_row((*place, body["confidence"], body["memory_type"], "main", vector))


if __name__ == "__main__":
    main()
