"""Three web nodes and three worker nodes on one machine over one database: they share the work and lose none of it."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib import error, request

import psutil
import psycopg
import pytest

from senselab import postgres
from tests.ops.conftest import PATIENCE, ROOT, Started, free_port, left_after

NODES = 3


class Nodes:
    """Six processes of `manage.py up --only`, started side by side with nothing but the database between them."""

    def __init__(self, folder: Path, environment: dict[str, str], database: str) -> None:
        self.database = database
        ports = [free_port() for _ in range(NODES)]
        self.urls = [f"http://127.0.0.1:{port}" for port in ports]
        shared = environment | {"DATABASE_URL": database, "SECRET_KEY": "the same on every node " * 3}
        shared |= {"WEB_WORKERS": "1", "WORKERS": "1"}
        self.manage_env = shared | {"SENSELAB_DATA": str(folder / "here")}
        up = [sys.executable, "manage.py", "up", "--only"]
        self.webs = [
            Started([*up, "web"], shared | {"PORT": str(port), "SENSELAB_DATA": str(folder / f"web {port}")}, {})
            for port in ports
        ]
        self.workers = [
            Started([*up, "worker"], shared | {"SENSELAB_DATA": str(folder / f"worker {number}")}, {})
            for number in range(NODES)
        ]
        for web in self.webs:
            web.wait_for("web", "Listening at", patience=NODES * PATIENCE)
        for worker in self.workers:
            worker.wait_for("worker", "running", patience=NODES * PATIENCE)

    @property
    def all(self) -> list[Started]:
        return [*self.webs, *self.workers]

    def manage(self, *words: str) -> str:
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(command, cwd=ROOT, env=self.manage_env, capture_output=True, text=True, check=True).stdout

    def ask(self, sql: str, *values: Any) -> Any:
        with psycopg.connect(self.database) as connection:
            row = connection.execute(sql, values).fetchone()
        return row and row[0]

    def wait_until(self, sql: str, expected: Any) -> Any:
        """Return what the database answers as soon as it is this, or at the end of patience."""
        ends = time.monotonic() + PATIENCE
        while (found := self.ask(sql)) != expected and time.monotonic() < ends:
            pass
        return found


@pytest.fixture(scope="module")
def nodes(anywhere: Path, static: Path) -> Iterator[Nodes]:
    folder = anywhere / "nodes"
    folder.mkdir()
    held = postgres.use(folder / "data", durable=False)
    environment = {
        "PATH": os.environ["PATH"],
        "STATIC_ROOT": str(static),
        "PYTHONUNBUFFERED": "1",
        "EMBEDDING_MODEL": "off",
    }
    made = Nodes(folder, environment, postgres.url(folder / "data"))
    try:
        yield made
    finally:
        families = [process for one in made.all for process in one.family()]
        for one in made.all:
            one.process.terminate()
        codes = [one.process.wait(PATIENCE) for one in made.all]
        psutil.wait_procs(families, timeout=10)
        held.close()
        assert codes == [0] * len(codes)
        assert left_after(families, 1) == []


@pytest.fixture(scope="module")
def key(nodes: Nodes) -> str:
    return nodes.manage("createkey", "nodes", "--rate", "1000000").strip()


def call(url: str, key: str, body: Any = None) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with contextlib.closing(request.urlopen(request.Request(url, data, headers), timeout=PATIENCE)) as answer:
            return answer.status, json.load(answer)
    except error.HTTPError as refused:
        return refused.code, dict(refused.headers)


def test_every_node_goes_on_where_another_left_off(nodes: Nodes, key: str) -> None:
    def write(number: int) -> tuple[int, Any]:
        body = {"entity_path": "shop", "key": "retry", "value": number, "agent_id": f"agent/{number % 4}"}
        return call(f"{nodes.urls[number % NODES]}/api/v1/entries", key, body)

    with ThreadPoolExecutor(6) as together:
        answers = list(together.map(write, range(30)))
    assert {status for status, _ in answers} == {200}
    assert sorted(told["version"] for _, told in answers) == list(range(1, 31))

    told = {"outcome_ref": "t-1", "outcome_type": "success", "causal_entry_keys": ["shop/retry"], "agent_id": "agent/1"}
    with ThreadPoolExecutor(NODES) as together:
        outcomes = list(together.map(lambda url: call(f"{url}/api/v1/outcomes", key, told), nodes.urls))
    assert [status for status, _ in outcomes] == [200] * NODES
    assert nodes.ask("SELECT outcome_count FROM memories_entry WHERE key = 'retry'") == 1


def test_what_the_nodes_served_adds_up(nodes: Nodes, key: str) -> None:
    body = {"entity_path": "shop", "key": "served", "value": 1, "agent_id": "agent/1"}
    assert call(f"{nodes.urls[0]}/api/v1/entries", key, body)[0] == 200
    for _ in range(4):
        for url in nodes.urls:
            assert call(f"{url}/api/v1/entries/shop/served", key)[0] == 200
    counted = """SELECT recall_count FROM memories_recall r JOIN memories_entry e ON e.id = r.entry_id
                  WHERE r.account_id = e.account_id AND e.key = 'served'"""
    assert nodes.wait_until(counted, 4 * NODES) == 4 * NODES


def test_each_schedule_runs_once_however_many_workers_there_are(nodes: Nodes) -> None:
    hourly = (
        "SELECT count(DISTINCT func) FROM django_q_task WHERE func IN ('memories.jobs.decay', 'memories.jobs.fold')"
    )
    assert nodes.wait_until(hourly, 2) == 2
    # All of them have looked at the schedules by now, the one that runs each hour among them.
    assert nodes.ask("SELECT count(*) FROM django_q_task WHERE func = 'memories.jobs.decay'") == 1
    assert nodes.ask("SELECT count(*) FROM django_q_task WHERE NOT success") == 0


def test_each_web_process_counts_a_keys_calls_by_itself(nodes: Nodes) -> None:
    key = nodes.manage("createkey", "slow", "--rate", "3").strip()
    first, second, _ = nodes.urls
    assert [call(f"{first}/api/v1/entries", key)[0] for _ in range(4)] == [200, 200, 200, 429]
    assert call(f"{second}/api/v1/entries", key)[0] == 200
