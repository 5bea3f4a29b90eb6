"""Closed loops: so many clients, each with one call in flight, for so many seconds."""

import multiprocessing
import statistics
import time
from dataclasses import asdict, dataclass

from tests.load.connection import Connection
from tests.load.operations import OPERATIONS, Client


@dataclass(frozen=True)
class Target:
    """A server to be measured, and how many entries of the data set it holds."""

    name: str
    url: str
    key: str
    size: int


@dataclass(frozen=True)
class Rate:
    """What came of one loop: calls a second, milliseconds, and calls that failed (which make the row invalid)."""

    target: str
    operation: str
    clients: int
    per_second: float
    p50: float
    p95: float
    errors: int

    def told(self) -> dict[str, object]:
        return asdict(self)


def loop(target: Target, operation: str, seed: int, seconds: float, start, results) -> None:
    client, do = Client(Connection(target.url, target.key), target.size, seed), OPERATIONS[operation]
    taken, errors = [], 0
    do(client)  # opens the connection
    start.wait()
    began = time.perf_counter()
    while (now := time.perf_counter()) < began + seconds:
        try:
            errors += not do(client)
        except OSError:
            errors += 1
            client.connection.close()
        taken.append(time.perf_counter() - now)
    results.put((taken, errors, time.perf_counter() - began))


def rate(target: Target, operation: str, clients: int, seconds: float, seed: int) -> Rate:
    """Return how fast a server is at one thing with so many clients, each a process."""
    fork = multiprocessing.get_context("fork")
    start, results = fork.Barrier(clients), fork.Queue()
    asked = [(target, operation, seed * 1000 + i, seconds, start, results) for i in range(clients)]
    processes = [fork.Process(target=loop, args=arguments) for arguments in asked]
    for process in processes:
        process.start()
    found = [results.get() for _ in processes]
    for process in processes:
        process.join()
    taken = sorted(one for times, _, _ in found for one in times)
    return Rate(
        target.name,
        operation,
        clients,
        len(taken) / max(elapsed for _, _, elapsed in found),
        1000 * percentile(taken, 0.5),
        1000 * percentile(taken, 0.95),
        sum(errors for _, errors, _ in found),
    )


def percentile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def median(rates: list[Rate]) -> Rate:
    """Return the medians of repeated loops; errors add up."""
    first = rates[0]
    return Rate(
        first.target,
        first.operation,
        first.clients,
        statistics.median(one.per_second for one in rates),
        statistics.median(one.p50 for one in rates),
        statistics.median(one.p95 for one in rates),
        sum(one.errors for one in rates),
    )
