"""Against the limit: `make bench-limit` lets pgbench run what a request says to the database, and compares the rates.

The statements of one read and one first write are taken from the product as it says them (key look-up included), become
pgbench scripts over the same entries and the same socket, and run with prepared statements and 8 clients. The store is
that of `make bench`.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "var" / "bench"
os.environ |= {"SENSELAB_DATA": str(HOME / "server"), "DJANGO_SETTINGS_MODULE": "senselab.settings"}

from tests.load import dataset, measure, peer, product  # noqa: E402  the settings above come first

CLIENTS = 8
# At least so much of what pgbench reaches.
GOALS = {"create": 0.15, "read": 0.05}
MOMENT = re.compile(r"'\d{4}-\d\d-\d\d \d\d:\d\d[^']*'::timestamptz")
VARIABLES = "\\set i random(0, {last})\n\\set o :i % 7\n\\set s (:i / 20) % {services}\n\\set n random(1, 2000000000)\n"


def said(do: str, key: str, size: int) -> list[str]:
    """Return the statements that one request says, parameters filled in, with the entry's own words left to pgbench."""
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from psycopg import ClientCursor

    settings.ALLOWED_HOSTS = ["testserver"]
    i, new = 4321, "new-entry-of-pgbench"
    heard: list[str] = []

    def hear(execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        heard.append(ClientCursor(connection.connection).mogrify(sql, params))
        return execute(sql, params, many, context)

    client = Client(headers={"X-AMFS-API-Key": key})
    connection.ensure_connection()
    with connection.execute_wrapper(hear):
        if do == "read":
            answer = client.get(f"/api/v1/entries/{dataset.path(i, size)}/{dataset.key(i)}")
        else:
            body = {**dataset.body(i, size, name=new), "value": "a value of some words " * 12}
            answer = client.post("/api/v1/entries", body, content_type="application/json")
    if answer.status_code != 200:
        raise RuntimeError(f"the request answered {answer.status_code}")
    path = "('org' || :o || '/service-' || :s)"
    words = {dataset.path(i, size): path, dataset.key(i): "('note-' || :i)", new: "('pg-' || :n || '-' || :client_id)"}
    return [anywhere(statement, words) for statement in heard]


def anywhere(statement: str, words: dict[str, str]) -> str:
    for literal, expression in words.items():
        statement = statement.replace(f"'{literal}'", f"{expression}::text")
    # What follows a comment would be part of it in one line.
    statement = re.sub(r"--[^\n']*\n", "\n", statement)
    # A moment holds colons, which mean variables to pgbench; any moment will do.
    return " ".join(MOMENT.sub("now()", statement).split()) + ";\n"


def pgbench(server: str, statements: list[str], size: int, seconds: int) -> float:
    """Return how many transactions a second pgbench makes of the statements."""
    from senselab import engine
    from senselab.cluster import place_of

    place = place_of(HOME / "server")
    binary = engine.find(place.home, place.cluster, place.as_owner()) / "pgbench"
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(VARIABLES.format(last=size - 1, services=max(1, size // 20)) + "".join(statements))
        script.flush()
        os.chmod(script.name, 0o644)
        command = [str(binary), "-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "2", "-T", str(seconds)]
        done = subprocess.run(
            [*command, "-f", script.name, server], capture_output=True, text=True, env=engine.environment(), check=False
        )
    found = re.search(r"tps = ([\d.]+) \(without", done.stdout)
    if found is None or done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return float(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=5)
    told = parser.parse_args()
    from senselab import postgres

    held = postgres.use(HOME / "server")
    missed = []
    try:
        with ExitStack() as stack:
            database = stack.enter_context(peer.database(postgres.url(HOME / "server"), f"ours_{told.size}"))
            os.environ["DATABASE_URL"] = database
            target = stack.enter_context(product.ready(HOME, database, told.size))
            for do, goal in GOALS.items():
                ours = measure.rate(target, do, CLIENTS, told.seconds, seed=1).per_second
                limit = pgbench(database, said(do, target.key, told.size), told.size, told.seconds)
                print(f"{do}: {ours:,.0f} a second, pgbench {limit:,.0f}: {ours / limit:.1%} (at least {goal:.0%})")
                missed += [do] if ours < goal * limit else []
    finally:
        held.close()
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
