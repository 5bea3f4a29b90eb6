"""Keeps a small dump of a release, for tests that migrate it: `python tests/ops/keep_dump.py NAME [FOLDER]`.

Run it once for each release, in that release's tree: it starts a server in a folder of its own, lets some agents and
reviewers act through the API, and writes FOLDER/NAME.sql.gz. Then the release writes once more, and what it says to the
database goes into FOLDER/NAME.after.sql.gz: a test says the same to the migrated database, as a node would that still
runs the release.
"""

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

OUTCOMES = ("success", "failure", "success", "critical_failure")
OPTIONS = ("--no-owner", "--no-privileges", "--rows-per-insert=200")


def posted(client: Any, route: str, body: dict[str, Any], *, fine: tuple[int, ...] = (200, 201)) -> Any:
    answer = client.post(f"/api/v1/{route}", body, content_type="application/json")
    if answer.status_code not in fine:
        raise SystemExit(f"{route} answered {answer.status_code}: {answer.content[:500]!r}")
    return answer.json()


def written(client: Any, name: str, value: Any, **more: Any) -> Any:
    body = {"entity_path": "shop/checkout", "key": name, "value": value, "agent_id": "agent/one", **more}
    return posted(client, "entries", body)


def told(client: Any, ref: str, kind: str, *names: str) -> None:
    keys = [f"shop/checkout/{name}" for name in names]
    posted(client, "outcomes", {"outcome_ref": ref, "outcome_type": kind, "causal_entry_keys": keys,
                                "agent_id": "agent/two", "entity_paths": ["shop/checkout"],
                                "task_input": "retry the payment"})  # fmt: skip


def story(client: Any) -> None:
    """Write entries of every kind, rewrite some, report outcomes, judge, look for a word."""
    for n in range(12):
        more = {"memory_type": ("fact", "belief", "experience")[n % 3], "confidence": 0.5 + n / 40}
        written(client, f"größe-{n}", {"text": f"Wait {n} seconds before the retry", "n": n}, **more)
    for n in range(4):
        written(client, f"größe-{n}", {"text": f"Wait {n + 5} seconds", "n": n}, confidence=0.7)
    written(client, "mine", "only the author sees this", shared=False)
    for n, kind in enumerate(OUTCOMES):
        told(client, f"task-{n}", kind, f"größe-{n}", f"größe-{n + 1}")
    for n, verdict in enumerate(("accepted", "rejected", "rejected")):
        posted(client, "feedback", {"entity_path": "shop/checkout", "key": f"größe-{n + 5}", "outcome": verdict})
    client.get("/api/v1/entries/shop/checkout/größe-1")


def after(client: Any) -> None:
    """Do what a node of the release still does after the migration: a first write, another version, an outcome."""
    written(client, "after", {"text": "written by the release before"})
    written(client, "größe-3", {"text": "another version"}, confidence=0.6)
    told(client, "task-after", "success", "größe-2", "größe-3")


def heard(client: Any) -> list[str]:
    """Return what the release says to the database meanwhile, parameters filled in."""
    from django.db import connection
    from psycopg import ClientCursor

    said: list[str] = []

    def hear(execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        said.append(ClientCursor(connection.connection).mogrify(sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(hear):
        after(client)
    return said


def dump(address: str) -> str:
    """Return the database as SQL that needs no psql: nothing but statements."""
    from senselab import engine

    wheel = engine.wheel()
    program = (wheel / engine.BINARIES if wheel else Path("/usr/bin")) / "pg_dump"
    done = subprocess.run([str(program), *OPTIONS, address], capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith(("--", "\\"))]
    # Settings of this server that an older one does not know, or that would outlive the dump.
    return "\n".join(line for line in lines if "transaction_timeout" not in line and "search_path" not in line) + "\n"


def keep(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path}: {path.stat().st_size:,} bytes")


def main(name: str, folder: Path) -> None:
    import django
    from django.core.management import call_command

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test import Client

    from senselab import postgres
    from senselab.accounts import services as accounts

    held = postgres.use(settings.DATA_DIR, durable=False)
    call_command("migrate", verbosity=0)
    made = accounts.first_run()
    if made is None:
        raise SystemExit("the folder was not empty")
    client = Client(headers={"Authorization": f"Bearer {made.key}"})
    story(client)
    keep(folder / f"{name}.sql.gz", dump(settings.DATABASE_URL))
    keep(folder / f"{name}.after.sql.gz", ";\n".join(heard(client)) + ";\n")
    connection.close()
    held.close()


if __name__ == "__main__":
    sys.path[0] = os.getcwd()
    where = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent / "dumps")
    with tempfile.TemporaryDirectory(prefix="senselab-dump-") as temporary:
        Path(temporary).chmod(0o755)
        os.environ |= {"SENSELAB_DATA": f"{temporary}/data", "DATABASE_URL": "", "ALLOWED_HOSTS": "testserver"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "senselab.settings"
        main(sys.argv[1], where)
