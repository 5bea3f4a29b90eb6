"""A large database comes forward while the release before writes: `make bench-upgrade` says how long anybody waited.

Checks a release out beside this tree (its requirements must be installed), lets it make a database of 100,000 entries,
change sets and outcomes and ten times as many readings, and lets two of its processes write, read and report while
`manage.py migrate` of this tree runs, and for some seconds after it. Exit code 1 when a call waited for more than a
second for a lock, or failed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "var" / "bench"
NAME, WRITERS, MOST = "bench_upgrade", 2, 1.0
FIRST = "27cbba4"  # what stands in tests/ops/dumps/2026-11-first.sql.gz
SEED = """
import sys, django
django.setup()
from django.core.management import call_command
from tests.load.seed_time import seeded
seeded(int(sys.argv[1]))
call_command("createkey", "bench", account="bench", rate=100_000_000)
"""
MORE = """
INSERT INTO memories_changeset (account_id, kind, actor_kind, actor, session_id, reason, cause, request_id, at, size)
SELECT a.id, 'write', 'agent', 'agent/' || n % 20, '', '', '', '', now() - n * interval '1 minute', 1
  FROM generate_series(1, {size}) n, accounts_account a WHERE a.slug = 'bench';
INSERT INTO outcomes_outcome (account_id, digest, outcome_ref, outcome_type, agent_id, session_id, branch,
    causal_confidence, verified_by, replayed, committed_at, causal_entry_keys, causal_entry_versions, attempts,
    actions_taken, entity_paths, task_input, covariates, tool_calls, trace_follows)
SELECT a.id, sha256(n::text::bytea), 'seeded-' || n, 'success', 'agent/' || n % 20, '', 'main', 1, '', false,
       now() - n * interval '1 minute', ARRAY['team-1/service-1/k' || n], '{{}}', '[]', '[]', ARRAY['team-1'],
       'retry the payment of order ' || n, '{{}}', '[]', false
  FROM generate_series(1, {size}) n, accounts_account a WHERE a.slug = 'bench';
INSERT INTO memories_reading (account_id, month, entry_id, version, agent_id, session_id, count)
SELECT e.account_id, (date_trunc('month', now()) - n * interval '1 month')::date, e.id, 1, 'agent/' || n, 'seeded', 1
  FROM generate_series(0, 9) n, memories_entry e;
"""
WRITE = """
import json, sys, time, django
django.setup()
from pathlib import Path
from random import Random
from django.test import Client
client, chance = Client(headers={"Authorization": "Bearer " + sys.argv[1]}), Random(int(sys.argv[2]))
size, stop, taken, bad, n = int(sys.argv[3]), Path(sys.argv[4]), [], [], 0
while not stop.exists():
    n += 1
    i = chance.randrange(1, size)
    path, key = f"team-{i % 40}/service-{i % 1000}", f"k{i}"
    body, route = {"entity_path": path, "key": key, "value": {"n": n, "text": "written meanwhile"}}, "entries"
    if n % 3 == 0:
        body, route = {"outcome_ref": f"{sys.argv[2]}-{n}", "outcome_type": "success",
                       "causal_entry_keys": [f"{path}/{key}"], "agent_id": "agent/1"}, "outcomes"
    if n % 4 == 0:
        client.get("/api/v1/entries/" + path + "/" + key)
    began = time.time()
    answer = client.post("/api/v1/" + route, body, content_type="application/json")
    taken.append((began, time.time() - began))
    if answer.status_code not in (200, 201):
        bad.append((answer.status_code, answer.content.decode()[:200]))
print(json.dumps({"taken": taken, "bad": bad}))
"""
WAITING = """
SELECT extract(epoch FROM clock_timestamp() - query_start)::float, left(query, 60) FROM pg_stat_activity
 WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'senselab'
   AND query !~ '^(CREATE|DROP|ALTER)' ORDER BY 1 DESC LIMIT 1
"""


@contextmanager
def release(ref: str) -> Iterator[Path]:
    """Check a release out beside this tree."""
    with tempfile.TemporaryDirectory(prefix="senselab-release-") as folder:
        path = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(path), ref], cwd=ROOT, check=True)
        try:
            yield path
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(path)], cwd=ROOT, check=True)


def environment(address: str) -> dict[str, str]:
    ours = {"DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "senselab.settings", "LOG_LEVEL": "ERROR"}
    return os.environ | ours | {"SENSELAB_DATA": str(HOME), "ALLOWED_HOSTS": "testserver", "EMBEDDING_MODEL": "off"}


def run_in(tree: Path, address: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, *arguments]
    return subprocess.Popen(command, cwd=tree, env=environment(address), stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> str:
    out = process.communicate()[0]
    if process.returncode:
        raise RuntimeError(f"{process.args} ended with {process.returncode}: {out[-2000:]}")
    return out.strip().splitlines()[-1] if out.strip() else ""


class Watch(threading.Thread):
    """Looks fifty times a second who waits for a lock, and keeps the longest wait; and how long it could not look."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address, self.done, self.longest, self.query = address, threading.Event(), 0.0, ""
        self.stood_still = 0.0

    def run(self) -> None:
        with psycopg.connect(self.address, autocommit=True) as connection:
            looked = time.monotonic()
            while not self.done.wait(0.02):
                self.stood_still = max(self.stood_still, time.monotonic() - looked)
                looked = time.monotonic()
                found = connection.execute(WAITING).fetchone()
                if found and found[0] > self.longest:
                    self.longest, self.query = found


def measured(old: Path, address: str, size: int, seconds: float) -> list[str]:
    key = said(run_in(old, address, "-c", SEED, str(size)))
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(MORE.format(size=size))
        connection.execute("VACUUM ANALYZE")
    stop = HOME / "stop-writing"
    stop.unlink(missing_ok=True)
    writers = [run_in(old, address, "-c", WRITE, key, str(n), str(size), str(stop)) for n in range(WRITERS)]
    watch = Watch(address)
    try:
        threading.Event().wait(2 * seconds)
        watch.start()
        began = time.time()
        said(run_in(ROOT, address, "manage.py", "migrate", "--verbosity=0"))
        ended = time.time()
        threading.Event().wait(seconds)
    finally:
        stop.touch()
        watch.done.set()
    return held([json.loads(said(writer)) for writer in writers], began, ended, watch)


def held(told: list[dict[str, list]], began: float, ended: float, watch: Watch) -> list[str]:
    """Say how it was for who wrote, and return what is not as it should be."""
    taken, bad = ([one for writer in told for one in writer[name]] for name in ("taken", "bad"))
    print(f"migrated in {ended - began:.1f} s; longest wait for a lock {watch.longest:.2f} s ({watch.query})")
    print(f"  the machine let nobody look for {watch.stood_still:.2f} s at most")
    for words, low, high in (("before", 0.0, began), ("meanwhile", began, ended), ("after", ended, ended + 1e6)):
        some = sorted(seconds for at, seconds in taken if low <= at < high) or [0.0]
        rate = len(some) / ((high if high < ended + 1e5 else max(at for at, _ in taken)) - max(low, taken[0][0]))
        print(f"  {words}: {len(some):,} calls of the release before, {rate:.0f} a second,"
              f" p95 {some[int(len(some) * 0.95)]:.3f} s, longest {some[-1]:.3f} s")  # fmt: skip
    found = [f"{len(bad)} calls failed, such as {bad[0]}"] if bad else []
    return found + (["somebody waited for more than a second"] if watch.longest > MOST else [])


def main(ref: str, size: int, seconds: float) -> int:
    os.environ |= {"SENSELAB_DATA": str(HOME / "server"), "DJANGO_SETTINGS_MODULE": "senselab.settings"}
    from senselab import postgres

    server = postgres.use(HOME / "server")
    address = make_conninfo(postgres.url(HOME / "server"), dbname=NAME)
    with psycopg.connect(postgres.url(HOME / "server"), autocommit=True) as connection, release(ref) as old:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(NAME)))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
        said(run_in(old, address, "manage.py", "migrate", "--verbosity=0"))
        found = measured(old, address, size, seconds)
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(NAME)))
    server.close()
    for words in found:
        print(f"NOT SO: {words}.")
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default=FIRST)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=8.0)
    given = parser.parse_args()
    sys.exit(main(given.release, given.size, given.seconds))
