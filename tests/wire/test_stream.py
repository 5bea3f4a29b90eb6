"""GET /stream against a live server: what is written comes, in order, to those who may see it; nothing is lost."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from queue import Empty, Queue
from typing import Any

import httpx
import psycopg
import pytest
from django.db import transaction

from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.conftest import Server
from tests.db import acts

PATIENCE = 15
Event = dict[str, Any]


class Reader:
    """Somebody at the stream: what came is in a queue."""

    def __init__(self, url: str, headers: dict[str, str], **query: str) -> None:
        self.events: Queue[Event] = Queue()
        self.client = httpx.Client(base_url=url, headers=headers, timeout=httpx.Timeout(PATIENCE, read=30))
        self.stack = self.client.stream("GET", "/api/v1/stream", params=query)
        self.answer = self.stack.__enter__()
        self.place = ""
        if self.answer.status_code == 200:
            self.lines = self.answer.iter_lines()
            self.begin()

    def begin(self) -> None:
        self.place = self.frame()["id"]
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def frame(self) -> Event:
        told: Event = {}
        for line in self.lines:
            if not line and told:
                return told
            if line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                told[name] = value
        raise EOFError

    def listen(self) -> None:
        try:
            while True:
                self.events.put(self.frame())
        except (EOFError, httpx.HTTPError, RuntimeError):
            return

    def next(self) -> Event:
        told = self.events.get(timeout=PATIENCE)
        assert told["event"] == "write"
        self.place = told["id"]
        return json.loads(told["data"])

    def is_quiet(self) -> bool:
        """Tell whether nothing comes within two looks of the server."""
        try:
            told = self.events.get(timeout=2.5)
        except Empty:
            return True
        raise AssertionError(told)

    def close(self) -> None:
        """Hang up: a socket that is only closed lives on for as long as its own thread waits at its number, and that
        may be a new socket's by now."""
        with contextlib.suppress(OSError):
            self.answer.extensions["network_stream"].get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        if self.place:
            self.thread.join(PATIENCE)
        self.client.close()


@pytest.fixture
def read(server: Server, api_key: str) -> Iterator[Callable[..., Reader]]:
    """Return `read(agent, last=...)`: one more reader."""
    readers: list[Reader] = []

    def joined(agent: str = "", *, last: str = "", key: str = api_key, **query: str) -> Reader:
        headers = {"X-AMFS-API-Key": key} | ({"X-AMFS-Agent-Id": agent} if agent else {})
        readers.append(Reader(server.url, headers | ({"Last-Event-ID": last} if last else {}), **query))
        return readers[-1]

    yield joined
    for reader in readers:
        reader.close()


def test_a_write_comes_as_an_event_with_the_entry(read, deploy_bot):
    reader = read("oncall_helper")
    deploy_bot.write("shop", "retry", {"max": 3}, confidence=0.7)
    told = reader.next()
    assert (told["entity_path"], told["key"], told["value"], told["version"]) == ("shop", "retry", {"max": 3}, 1)
    assert told["agent_id"] == "deploy_bot"


def test_a_path_narrows_it_and_private_entries_and_other_accounts_stay_apart(read, deploy_bot, stranger):
    reader, own = read("oncall_helper", entity_path="shop"), read("deploy_bot", entity_path="*")
    deploy_bot.write("shop", "own", 1, shared=False)
    deploy_bot.write("elsewhere", "a", 1)
    stranger.write("shop", "theirs", 1)
    deploy_bot.write("shop", "last", 1)
    assert reader.next()["key"] == "last"
    assert [own.next()["key"] for _ in range(3)] == ["own", "a", "last"]
    assert own.is_quiet()


def test_what_an_open_transaction_holds_back_comes_when_it_ends_and_nothing_is_lost(
    read, deploy_bot, account: Account, database_url: str
):
    reader = read()
    with psycopg.connect(database_url) as held:
        # Somebody takes a number and stays open: what others commit meanwhile has a larger one.
        held.execute("SELECT pg_current_xact_id()")
        deploy_bot.write("shop", "while it is open", 1)
        assert reader.is_quiet()
    assert reader.next()["key"] == "while it is open"


def test_a_write_that_commits_after_a_later_one_is_not_skipped(read, deploy_bot, account: Account):
    reader = read()
    with transaction.atomic():
        acts.put(account, 1, key="early but slow", by="slow_bot")
        deploy_bot.write("shop", "late but quick", 1)
        assert reader.is_quiet()
    assert [reader.next()["key"] for _ in range(2)] == ["early but slow", "late but quick"]


def test_who_comes_back_goes_on_where_the_stream_ended(read, deploy_bot):
    first = read()
    deploy_bot.write("shop", "a", 1)
    assert first.next()["key"] == "a"
    first.close()
    for key in ("b", "c"):
        deploy_bot.write("shop", key, 1)
    again = read(last=first.place)
    assert [again.next()["key"] for _ in range(2)] == ["b", "c"]
    unheard = read()
    unheard.close()
    deploy_bot.write("shop", "d", 1)
    assert read(last=unheard.place).next()["key"] == "d"


def until_open(read: Callable[..., Reader], **said: str) -> Reader:
    """Return a reader as soon as there is room for one."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        reader = read(**said)
        if reader.answer.status_code == 200:
            return reader
    raise AssertionError("no room")


def many_keys(account: Account, settings: Any) -> list[str]:
    """Return a key for each stream there is room for: no key may have them all."""
    made = [
        accounts.create_key(account, name=f"key {n}") for n in range(-(-settings.STREAMS // settings.STREAMS_PER_KEY))
    ]
    return [made[n // settings.STREAMS_PER_KEY] for n in range(settings.STREAMS)]


def test_one_key_holds_no_more_than_its_share_and_leaves_room_for_others(read, account, settings):
    for _ in range(settings.STREAMS_PER_KEY):
        until_open(read)
    refused = read()
    assert refused.answer.status_code == 429
    assert int(refused.answer.headers["Retry-After"]) >= 1
    assert until_open(read, key=accounts.create_key(account, name="another")).place


def test_beyond_their_number_a_stream_is_refused(read, deploy_bot, account, settings):
    for key in many_keys(account, settings):
        until_open(read, key=key)
    refused = read(key=accounts.create_key(account, name="one more"))
    assert refused.answer.status_code == 503
    assert int(refused.answer.headers["Retry-After"]) >= 1
    # Ordinary calls still find a thread.
    assert deploy_bot.stats() is not None


def test_a_reader_that_leaves_makes_room(read, settings):
    readers = [until_open(read) for _ in range(settings.STREAMS_PER_KEY)]
    readers[0].close()
    assert until_open(read).place


def test_a_place_that_is_none_is_refused(read, curl):
    answer = curl.get("/api/v1/stream", headers={"Last-Event-ID": "yesterday"})
    assert answer.status_code == 400
    assert curl.get("/api/v1/stream", headers={"X-AMFS-API-Key": "wrong"}).status_code == 401
