"""What clients do in the benchmark: each a call with a name, and whether its answer is the right one."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from urllib.parse import quote

from tests.load import dataset
from tests.load.connection import Connection

TYPES = ("success", "success", "failure")


@dataclass
class Client:
    """One client at work on a store of `size` entries; `tag` makes what it writes its own."""

    connection: Connection
    size: int
    seed: int
    random: Random = field(init=False)
    tag: str = field(init=False)
    count: int = 0

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.tag = f"{self.seed}-{os.getpid()}-{time.monotonic_ns()}"

    def entry(self) -> int:
        self.count += 1
        return self.random.randrange(self.size)

    def path(self) -> str:
        return dataset.path(self.entry(), self.size)


def read(client: Client) -> bool:
    i = client.entry()
    name = dataset.key(i)
    status, body = client.connection.get(f"/api/v1/entries/{dataset.path(i, client.size)}/{name}")
    return status == 200 and f'"{name}"'.encode() in body and b"not_found" not in body


def write(client: Client) -> bool:
    """Write the next version of an entry."""
    i = client.entry()
    return posted(client, "entries", dataset.body(i, client.size, 1 + client.count))


def create(client: Client) -> bool:
    i = client.entry()
    return posted(client, "entries", dataset.body(i, client.size, name=f"new-{client.tag}-{client.count}"))


def history(client: Client) -> bool:
    i = client.entry()
    return client.connection.get(f"/api/v1/history/{dataset.path(i, client.size)}/{dataset.key(i)}")[0] == 200


def entries(client: Client) -> bool:
    path = quote(client.path(), safe="")
    return client.connection.get(f"/api/v1/entries?entity_path={path}&limit=50")[0] == 200


def search_rare(client: Client) -> bool:
    return posted(client, "search", {"query": dataset.rare_words(client.random, 2), "limit": 10})


def search_common(client: Client) -> bool:
    return posted(client, "search", {"query": dataset.words(client.random, 2), "limit": 10})


def search_scoped(client: Client) -> bool:
    asked = {"query": dataset.words(client.random, 2), "entity_path": client.path(), "limit": 10}
    return posted(client, "search", asked)


def retrieve(client: Client) -> bool:
    return posted(client, "retrieve", {"query": dataset.rare_words(client.random, 4), "limit": 10})


def retrieve_scoped(client: Client) -> bool:
    asked = {"query": dataset.words(client.random, 4), "entity_path": client.path(), "limit": 10}
    return posted(client, "retrieve", asked)


def briefing(client: Client) -> bool:
    return client.connection.get(f"/api/v1/briefing?entity_path={quote(client.path(), safe='')}&limit=10")[0] == 200


def outcome(client: Client) -> bool:
    """Report how a task ended that relied on three entries."""
    client.count += 1
    i = client.random.randrange(client.size - 3)
    report = {
        "outcome_ref": f"o-{client.tag}-{client.count}",
        "outcome_type": TYPES[client.count % 3],
        "causal_entry_keys": [f"{dataset.path(j, client.size)}/{dataset.key(j)}" for j in (i, i + 1, i + 2)],
        "agent_id": f"agent-{i % 25}",
        "trace_follows": True,
    }
    return posted(client, "outcomes", report)


def stats(client: Client) -> bool:
    return client.connection.get("/api/v1/stats")[0] == 200


def totals(client: Client) -> bool:
    return client.connection.get("/api/v1/stats?breakdown=false")[0] == 200


def mixed(client: Client) -> bool:
    """Do what agents do, in a hundred: 65 reads, 12 searches of an entity, 13 writes, 5 histories, 5 outcomes."""
    share = client.random.random()
    shares = ((0.65, read), (0.77, search_scoped), (0.90, write), (0.95, history), (1.0, outcome))
    return next(do for limit, do in shares if share < limit)(client)


def posted(client: Client, route: str, body: object) -> bool:
    return client.connection.post(f"/api/v1/{route}", body)[0] in (200, 201)


OPERATIONS: dict[str, Callable[[Client], bool]] = {
    do.__name__: do
    for do in (
        read, write, create, mixed, history, entries, search_rare, search_common, search_scoped, retrieve,
        retrieve_scoped, briefing, outcome, stats, totals,
    )
}  # fmt: skip
