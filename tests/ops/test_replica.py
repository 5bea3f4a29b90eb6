"""A hot standby on the same host: pages and searches go there, who wrote finds what they wrote, and it may go away."""

import contextlib
import http.client
import json
import pwd
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import psycopg
import pytest
from django.conf import settings
from psycopg.conninfo import make_conninfo

from senselab import cluster, engine
from senselab.cluster import Place
from tests.conftest import PATIENCE, Server, serving
from tests.db import acts

PORT, ROAD = "5433", "5434"
TOKEN = "x" * 32  # as cookie and in the form: all that the check compares


class Road:
    """A way to the primary that can be closed, as if that were stopped, and opened again."""

    def __init__(self, place: Place) -> None:
        self.there = str(place.sockets / ".s.PGSQL.5432")
        self.here = place.sockets / f".s.PGSQL.{ROAD}"
        self.ends: list[socket.socket] = []

    def open(self) -> None:
        self.here.unlink(missing_ok=True)
        self.door = socket.socket(socket.AF_UNIX)
        self.door.bind(str(self.here))
        self.door.listen(50)
        threading.Thread(target=self.lead, args=(self.door,), daemon=True).start()

    def lead(self, door: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                asker, _ = door.accept()
                primary = socket.socket(socket.AF_UNIX)
                primary.connect(self.there)
                self.ends += [asker, primary]
                for pair in ((asker, primary), (primary, asker)):
                    threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while said := source.recv(65_536):
                target.sendall(said)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.here.unlink()
        for end in (self.door, *self.ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self.ends = []


class Standby:
    """A copy of the tests' server, streamed to as it works, in the folder of its sockets."""

    def __init__(self, place: Place, database_url: str) -> None:
        self.place, self.primary, self.folder = place, database_url, place.home / "standby"
        self.binaries = engine.find(place.home, place.cluster, place.as_owner())
        self.url = make_conninfo(database_url, port=PORT)

    def start(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.let_in()
        self.folder.mkdir(mode=0o700)
        shutil.chown(self.folder, self.place.uid, self.place.gid)
        copied = [self.program("pg_basebackup"), "-D", str(self.folder), "-h", str(self.place.sockets), "-p", "5432"]
        self.run(*copied, "-U", cluster.NAME, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        said = {
            "config_file": self.place.home / "config.conf",
            "hba_file": self.place.home / "hba.conf",
            "ident_file": self.place.home / "ident.conf",
            "port": PORT,
            "fsync": "off",
        }
        options = [word for name, value in said.items() for word in ("-c", f"{name}={value}")]
        command = [self.program("postgres"), "-D", str(self.folder), *options]
        owner = self.place.as_owner()
        self.process = subprocess.Popen(command, env=engine.environment(), cwd="/", stderr=subprocess.DEVNULL, **owner)
        self.catch_up()

    def let_in(self) -> None:
        """Let the server's own user in, as whom the standby asks for what it is streamed; until the next start."""
        with (self.place.home / "ident.conf").open("a") as file:
            file.write(f'senselab "{pwd.getpwuid(self.place.uid).pw_name}" {cluster.NAME}\n')
        with psycopg.connect(self.primary, autocommit=True) as primary:
            primary.execute("SELECT pg_reload_conf()")

    def program(self, name: str) -> str:
        return str(self.binaries / name)

    def run(self, *command: str) -> None:
        done = subprocess.run(
            command, env=engine.environment(), cwd="/", check=False, capture_output=True, text=True,
            **self.place.as_owner(),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def ask(self, sql: str) -> object:
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(sql).fetchone()
        return row and row[0]

    def catch_up(self) -> None:
        """Return when all that the primary wrote so far is here."""
        with psycopg.connect(self.primary, autocommit=True) as primary:
            row = primary.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
            primary.execute("CHECKPOINT")
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            with contextlib.suppress(psycopg.OperationalError):
                if row and self.ask(f"SELECT pg_last_wal_replay_lsn() >= '{row[0]}'"):
                    return
        raise AssertionError("the standby did not catch up")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
        self.process.wait(PATIENCE)


@pytest.fixture(scope="module")
def standby(database_url: str) -> Iterator[Standby]:
    made = Standby(cluster.place_of(Path(settings.DATA_DIR)), database_url)
    made.start()
    yield made
    made.stop()
    shutil.rmtree(made.folder)


@pytest.fixture(scope="module")
def road(standby: Standby) -> Iterator[Road]:
    made = Road(standby.place)
    made.open()
    yield made
    made.close()


@pytest.fixture(scope="module")
def web(standby: Standby, road: Road, database_url: str) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPLICA_URL", standby.url)
        with serving(make_conninfo(database_url, port=ROAD)) as server:
            yield server


@dataclass
class Answer:
    status: int
    by: str
    text: str
    retry_after: str = ""


class Browser:
    """Somebody who is logged in, with their cookies."""

    def __init__(self, web: Server, session: str) -> None:
        self.host = urlsplit(web.url).netloc
        self.cookies = {"sessionid": session, "csrftoken": TOKEN}

    def get(self, path: str) -> Answer:
        return self.call("GET", path, None, {})

    def post(self, path: str, **form: str) -> Answer:
        body = urlencode({**form, "csrfmiddlewaretoken": TOKEN})
        return self.call("POST", path, body, {"Content-Type": "application/x-www-form-urlencoded"})

    def call(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Answer:
        spoken = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        with contextlib.closing(spoken):
            held = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            spoken.request(method, path, body, {**headers, "Cookie": held})
            answer = spoken.getresponse()
            for told in answer.headers.get_all("Set-Cookie") or []:
                name, _, value = told.split(";")[0].partition("=")
                self.cookies[name] = value
            by = answer.headers.get("X-Answered-By", "primary")
            return Answer(answer.status, by, answer.read().decode(), answer.headers.get("Retry-After", ""))


@pytest.fixture
def browser_of(web: Server, lasting: None, client_of: Callable) -> Callable:
    return lambda person: Browser(web, client_of(person).cookies["sessionid"].value)


def asked(web: Server, key: str, route: str, body: dict[str, str]) -> Answer:
    spoken = http.client.HTTPConnection(urlsplit(web.url).netloc, timeout=PATIENCE)
    with contextlib.closing(spoken):
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        spoken.request("POST", f"/api/v1/{route}", json.dumps(body), headers)
        answer = spoken.getresponse()
        by, wait = answer.headers.get("X-Answered-By", "primary"), answer.headers.get("Retry-After", "")
        return Answer(answer.status, by, answer.read().decode(), wait)


def search(web: Server, key: str, words: str) -> Answer:
    return asked(web, key, "search", {"query": words})


@contextlib.contextmanager
def held_back(standby: Standby) -> Iterator[None]:
    """Let the standby stay where it is, as a slow one does."""
    standby.ask("SELECT pg_wal_replay_pause()::text")
    try:
        yield
    finally:
        standby.ask("SELECT pg_wal_replay_resume()::text")
        standby.catch_up()


ARCHIVED = "/entries/?status=archived"


def test_pages_and_searches_go_to_a_standby_and_who_wrote_finds_it(
    lasting, standby, web, account, ada, vera, api_key, browser_of
):
    stored = acts.put(account, "calm retries", key="zephyr")
    standby.catch_up()
    writer, looker = browser_of(ada), browser_of(vera)
    standby.catch_up()
    assert [one.get("/entries/").by for one in (writer, looker)] == ["standby", "standby"]
    assert "zephyr" in writer.get("/entries/").text
    assert search(web, api_key, "zephyr").status == 200

    with held_back(standby):
        assert writer.post(f"/changes/{stored.change_set_id}/undo/", reason="never mind").status == 302
        own, others = writer.get(ARCHIVED), looker.get(ARCHIVED)
        assert (own.by, "zephyr" in own.text) == ("primary", True)
        # Who wrote nothing may see what was true a moment ago.
        assert (others.by, "zephyr" in others.text) == ("standby", False)
        acts.put(account, "quick retries", key="mistral")
        found = search(web, api_key, "mistral")
        assert (found.by, "mistral" in found.text) == ("primary", True)

    own, others = writer.get(ARCHIVED), looker.get(ARCHIVED)
    assert (own.by, "zephyr" in own.text) == ("standby", True)
    assert (others.by, "zephyr" in others.text) == ("standby", True)


PAGES = ("/", "/entries/", "/review/", "/outcomes/", "/traces/", "/agents/", "/jobs/", "/policy/")


def test_without_a_primary_pages_and_searches_are_read_and_writes_come_back_later(
    lasting, standby, web, road, account, ada, api_key, browser_of
):
    stored = acts.put(account, "calm retries", key="zephyr")
    reader = browser_of(ada)
    standby.catch_up()
    written = {"entity_path": "checkout", "key": "mistral", "value": "quick retries", "agent_id": "agent/one"}
    road.close()
    try:
        pages = [reader.get(path) for path in PAGES]
        assert [(page.status, page.by) for page in pages] == [(200, "standby")] * len(PAGES)
        assert "zephyr" in pages[1].text
        found = search(web, api_key, "zephyr")
        assert (found.status, found.by, "zephyr" in found.text) == (200, "standby", True)
        undone = reader.post(f"/changes/{stored.change_set_id}/undo/", reason="never mind")
        refused = [undone, asked(web, api_key, "entries", written)]
        assert [(one.status, one.retry_after) for one in refused] == [(503, "2")] * 2
    finally:
        road.open()
    # Nobody does anything: the next call finds the primary.
    assert asked(web, api_key, "entries", written).status == 200
    assert reader.post(f"/changes/{stored.change_set_id}/undo/", reason="never mind").status == 302
    assert "zephyr" in reader.get(ARCHIVED).text


def test_a_standby_that_went_away_is_missed_by_nobody(lasting, standby, web, account, vera, browser_of):
    acts.put(account, "calm retries", key="zephyr")
    looker = browser_of(vera)
    standby.catch_up()
    assert looker.get("/entries/").by == "standby"
    standby.stop()
    pages = [looker.get("/entries/") for _ in range(3)]
    assert [(page.status, page.by, "zephyr" in page.text) for page in pages] == [(200, "primary", True)] * 3
