"""What pages cost: `make bench-pages` opens each of them, signed in, on a store of 1,000,000 entries.

Prints milliseconds of the server (half of the calls, nineteen in twenty), statements and kilobytes of HTML, and says
which limits were kept. Whole requests inside one process, without a network; the store is that of `make bench` at this
size (tests.load.seed_large), made by SQL when it is not there and left for the next run.
`BENCH="--size 100000 --only entries"` asks less.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "var" / "bench"
os.environ |= {"SENSELAB_DATA": str(HOME / "server"), "DJANGO_SETTINGS_MODULE": "senselab.settings"}
os.environ.setdefault("LOG_LEVEL", "ERROR")
WARM = 2


def measured(client, address: str, times: int) -> tuple[float, float, int, float]:
    """Open a page so often and return its milliseconds, statements and kilobytes."""
    from tests.load import pages

    took: list[float] = []
    for _ in range(WARM + times):
        started = time.perf_counter()
        answer = client.get(address)
        took.append((time.perf_counter() - started) * 1_000)
        if answer.status_code != 200:
            raise RuntimeError(f"{address}: {answer.status_code}")
    cost, told = pages.opened(client, address), sorted(took[WARM:])
    return told[len(told) // 2], told[int(len(told) * 0.95)], cost.queries, cost.size / 1_000


@contextmanager
def signed_in(size: int) -> Iterator[object]:
    """Give a browser of the first person, on a store of so many entries."""
    import django

    django.setup()
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    from senselab import launch
    from tests.load import seed_large

    settings.ALLOWED_HOSTS = ["testserver"]
    with seed_large.store(f"ours_{size}", size):
        launch.collect_static()
        client = Client()
        client.force_login(get_user_model().objects.get(username="admin"))
        yield client


def report(found: dict[str, tuple[float, float, int, float]]) -> list[str]:
    """Print a table and return which limits were not kept."""
    from tests.load import pages

    print("| page | p50 ms | p95 ms | statements | KB |\n|---|---:|---:|---:|---:|")
    broken = []
    for name, (p50, p95, queries, kilobytes) in found.items():
        print(f"| {name} | {p50:.0f} | {p95:.0f} | {queries} | {kilobytes:.0f} |")
        told = [f"p95 {p95:.0f} ms"] * (p95 > pages.MILLISECONDS) + [f"{queries} statements"] * (
            queries > pages.QUERIES
        )
        broken += [f"{name}: {one}" for one in told + [f"{kilobytes:.0f} KB"] * (kilobytes * 1_000 > pages.BYTES)]
    return broken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--only", default="", help="open what has this in its name")
    parser.add_argument("--times", type=int, default=20)
    told = parser.parse_args()
    from senselab import postgres
    from tests.load import pages

    HOME.mkdir(parents=True, exist_ok=True)
    server = postgres.use(HOME / "server")
    try:
        with signed_in(told.size) as client:
            chosen = {name: address for name, address in pages.ADDRESSES.items() if told.only in name}
            found = {}
            for name, address in chosen.items():
                found[name] = measured(client, address, told.times)
                print(f"{name}: p50 {found[name][0]:.0f}, p95 {found[name][1]:.0f} ms", file=sys.stderr)
    finally:
        server.close()
    print(f"{told.size:,} entries, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores.\n")
    broken = report(found)
    print("\n" + ("\n".join(broken) or "All limits were kept."))
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
