"""Beside the peer: `make bench` seeds both servers with the same entries, runs them in turn and prints a table.

Both stand on the same embedded PostgreSQL with the same settings, which are printed. Seeded stores stay under var/bench
for the next run. Each run leaves its figures as JSON in var/bench/runs; `make bench-compare` holds the last against the
one before. A row with errors is invalid. Figures are ratios of one run on one machine, nothing else.
"""

import argparse
import json
import os
import platform
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "var" / "bench"
os.environ |= {"SENSELAB_DATA": str(HOME / "server"), "DJANGO_SETTINGS_MODULE": "senselab.settings"}

from tests.load import measure, peer, product  # noqa: E402  the settings above come first
from tests.load.measure import Rate, Target  # noqa: E402
from tests.load.operations import OPERATIONS  # noqa: E402

CLIENTS = (1, 4, 16)
# Larger stores are seeded by SQL.
BY_API = 200_000
SHOWN = (
    "shared_buffers", "work_mem", "maintenance_work_mem", "effective_cache_size", "synchronous_commit", "fsync",
    "max_connections", "jit", "random_page_cost", "wal_level", "max_wal_size",
)  # fmt: skip
# At 16 clients and 100,000 entries, as ratios to the peer.
GOALS = {
    "read": 10, "write": 10, "create": 10, "mixed": 9, "search_scoped": 6, "outcome": 15, "retrieve": 10,
    "search_rare": 6, "search_common": 12, "history": 4, "entries": 4,
}  # fmt: skip


def rates(targets: list[Target], operations: list[str], clients: list[int], seconds: float, repeat: int) -> list[Rate]:
    """Return the median of each operation, number of clients and server; servers take turns, repeats are outermost."""
    found: dict[tuple[str, str, int], list[Rate]] = {}
    for turn in range(repeat):
        for operation in operations:
            for count in clients:
                for target in targets:
                    one = measure.rate(target, operation, count, seconds, seed=100 * turn + count)
                    found.setdefault((operation, target.name, count), []).append(one)
                    print(f"{turn} {line(one)}", file=sys.stderr, flush=True)
    return [measure.median(one) for one in found.values()]


def line(one: Rate) -> str:
    told = f"{one.target:5} {one.operation:16} {one.clients:3} {one.per_second:9.1f}/s {one.p50:8.2f} {one.p95:8.2f} ms"
    return f"{told}  {one.errors} errors" if one.errors else told


def table(found: list[Rate]) -> str:
    """Return the figures as a table, ours beside the peer's where it ran."""
    by = {(one.operation, one.clients, one.target): one for one in found}
    lines = ["| operation | clients | ours/s | p50 | p95 | peer/s | p50 | p95 | ratio |", "|---|" + "---:|" * 8]
    for operation, clients in dict.fromkeys((one.operation, one.clients) for one in found):
        ours, theirs = (by.get((operation, clients, name)) for name in ("ours", "peer"))
        lines.append(f"| {operation} | {clients} | {cells(ours)} | {cells(theirs)} | {ratio(ours, theirs)} |")
    return "\n".join(lines)


def cells(one: Rate | None) -> str:
    if one is None:
        return "| |"
    invalid = f" ({one.errors} errors)" if one.errors else ""
    return f"{one.per_second:,.1f}{invalid} | {one.p50:.2f} | {one.p95:.2f}"


def ratio(ours: Rate | None, theirs: Rate | None) -> str:
    if ours is None or theirs is None:
        return ""
    return "invalid" if ours.errors or theirs.errors else f"{ours.per_second / theirs.per_second:.1f}"


def missed(found: list[Rate]) -> list[str]:
    """Return which goals at 16 clients were not reached."""
    by = {(one.operation, one.target): one for one in found if one.clients == 16}
    told = []
    for operation, goal in GOALS.items():
        ours, theirs = by.get((operation, "ours")), by.get((operation, "peer"))
        if ours and theirs and not theirs.errors and ours.per_second < goal * theirs.per_second:
            told.append(f"{operation}: {ours.per_second / theirs.per_second:.1f} times the peer, not {goal}")
    return told


def seeded_by_sql(size: int) -> None:
    """Make our store where it is not there, faster than the API could."""
    import django

    django.setup()
    from tests.load import seed_large

    with seed_large.store(f"ours_{size}", size):
        pass


def configuration(server: str) -> dict[str, str]:
    with psycopg.connect(server) as connection:
        return {name: connection.execute(f"SHOW {name}").fetchone()[0] for name in SHOWN}


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000, help="entries in each store")
    parser.add_argument("--clients", type=int, nargs="+", default=list(CLIENTS))
    parser.add_argument("--operations", nargs="+", choices=OPERATIONS, default=list(OPERATIONS))
    parser.add_argument("--seconds", type=float, default=3.0, help="of each loop")
    parser.add_argument("--repeat", type=int, default=3, help="medians of so many loops")
    parser.add_argument("--alone", action="store_true", help="without the peer")
    return parser.parse_args()


def main() -> None:
    told = asked()
    from senselab import postgres

    HOME.mkdir(parents=True, exist_ok=True)
    held = postgres.use(HOME / "server")
    server, load = postgres.url(HOME / "server"), os.getloadavg()[0]
    try:
        if told.size > BY_API:
            seeded_by_sql(told.size)
        with ExitStack() as stack:
            ours = stack.enter_context(peer.database(server, f"ours_{told.size}"))
            targets = [stack.enter_context(product.ready(HOME, ours, told.size))]
            if not told.alone:
                targets.insert(0, stack.enter_context(peer.ready(HOME / "peer", server, told.size)))
            found = rates(targets, told.operations, told.clients, told.seconds, told.repeat)
            settings = configuration(server)
    finally:
        held.close()
    report(found, settings, told, load)


def report(found: list[Rate], settings: dict[str, str], told: argparse.Namespace, load: float) -> None:
    machine = f"{os.cpu_count()} cores, {platform.machine()}, load before {load:.1f}"
    print(f"{told.size:,} entries, {machine}, Python {platform.python_version()}")
    print("; ".join(f"{name} {value}" for name, value in settings.items()) + "\n")
    print(table(found))
    at = datetime.now(UTC)
    runs = HOME / "runs"
    runs.mkdir(exist_ok=True)
    kept = {"at": at.isoformat(), "size": told.size, "machine": machine, "settings": settings}
    kept["rates"] = [one.told() for one in found]
    (runs / f"{at:%Y%m%d-%H%M%S}.json").write_text(json.dumps(kept, indent=1))
    print("\n" + ("\n".join(missed(found)) or "Every goal that was measured was reached."))
    sys.exit(any(one.errors for one in found if one.target == "ours"))


if __name__ == "__main__":
    main()
