"""The dashboard's queries, run by a real Prometheus over what a real server tells."""

import contextlib
import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

import pytest

from tests.conftest import PATIENCE, Server, free_port
from tests.db import acts
from tests.db.promql import queries
from tests.ops.programs import program


class Prometheus:
    """A Prometheus that has read a server's figures."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, query: str) -> dict[str, Any]:
        with urlopen(f"{self.url}/api/v1/query?query={quote(query)}", timeout=PATIENCE) as answer:
            told: dict[str, Any] = json.load(answer)
        return told

    def wait_for(self, query: str) -> None:
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            with contextlib.suppress(OSError):
                if self.ask(query)["data"]["result"]:
                    return
        raise AssertionError(f"Prometheus knows nothing of {query}")


@pytest.fixture
def prometheus(server: Server, tmp_path: Path) -> Iterator[Prometheus]:
    config, port = tmp_path / "prometheus.yml", free_port()
    config.write_text(
        "global: {scrape_interval: 1s}\n"
        "scrape_configs:\n"
        f"  - job_name: senselab\n    static_configs: [{{targets: ['{urlsplit(server.url).netloc}']}}]\n"
    )
    said = [f"--config.file={config}", f"--storage.tsdb.path={tmp_path}", f"--web.listen-address=127.0.0.1:{port}"]
    process = subprocess.Popen([program("prometheus"), *said], stderr=subprocess.DEVNULL)
    try:
        yield Prometheus(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_every_query_of_the_dashboard_runs_on_a_real_prometheus(account, server, prometheus):
    acts.put(account, "calm retries")
    with urlopen(f"{server.url}/health", timeout=PATIENCE):
        pass
    prometheus.wait_for("count_over_time(senselab_entries_by_status[1m]) > 1")
    # Grafana puts in which accounts are asked for; all of them here.
    asked = [re.sub(r"\$\w+", ".*", query) for query in queries()]
    answers = {query: prometheus.ask(query) for query in asked}
    assert len(asked) > 10
    assert {query: told for query, told in answers.items() if told["status"] != "success"} == {}
    # Of entries there is a figure at once.
    there = [bool(told["data"]["result"]) for query, told in answers.items() if "senselab_entries_by" in query]
    assert there == [True] * 3
