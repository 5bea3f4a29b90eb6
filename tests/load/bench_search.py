"""What looking for something costs: `make bench-search` seeds a store of its own under var/bench and asks it.

Prints a table of milliseconds (half of the calls, nineteen in twenty) at 100,000 and 1,000,000 entries (or those given)
and says which limits were kept: p95 under 50 ms at 100,000 and 150 ms at 1,000,000 by words, 100 ms with vectors, 50 ms
for a briefing, twice that for what is marked so. One client; whole requests inside one process, from headers to the
bytes of the answer, without a network. `BENCH="100000 --keep"` leaves the store for the next run.
"""

import argparse
import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
os.environ |= {"SENSELAB_DATA": str(ROOT / "var" / "bench"), "DJANGO_SETTINGS_MODULE": "senselab.settings"}
os.environ.setdefault("LOG_LEVEL", "WARNING")
SIZES = (100_000, 1_000_000)
# At most so many milliseconds by size; what is in HARD twice that. Vectors and briefings have a limit of their own.
LIMITS = {100_000: 50.0, 1_000_000: 150.0}
WITH_VECTORS, BRIEFING = 100.0, 50.0
SECONDS = 4.0
WARM = 5
PATH = "team-3/service-43"

Body = dict[str, Any]
# What is asked by name; each call may differ from the one before. Others add theirs: retrieve, briefing.
SEARCHES: dict[str, Callable[[int], Body]] = {
    "a rare word": lambda n: {"query": f"kind{n % 20_000}"},
    "a word of one entry in 500": lambda n: {"query": f"zone{n % 500}"},
    "a word of one entry in 50": lambda n: {"query": f"topic{n % 50}"},
    "a word of every entry": lambda n: {"query": "retry"},
    "a word of every entry, by relevance": lambda n: {"query": "retries", "sort_by": "relevance"},
    "a word of every entry, newest first": lambda n: {"query": "retry", "sort_by": "recency"},
    "two words": lambda n: {"query": f"topic{n % 50} kind{n % 20_000}"},
    "two common words": lambda n: {"query": "retry jitter"},
    "a sentence, not all of it there": lambda n: {"query": f"how to retry the call when kind{n % 20_000} explodes"},
    "common words, not all there": lambda n: {"query": "retry call jitter explodes"},
    "an identifier": lambda n: {"query": f"ERR_CONN_{n}"},
    "a part of an identifier": lambda n: {"query": str(n)},
    "a phrase": lambda n: {"query": f'"answers ERR_CONN_{n}"'},
    "a prefix": lambda n: {"query": f"kind{n % 200}*"},
    "a part of a name": lambda n: {"query": f"ervice-{n % 1_000}"},
    "with an exclusion": lambda n: {"query": f"zone{n % 500} -topic{n % 50}"},
    "in an entity": lambda n: {"query": "retry jitter", "entity_path": PATH},
    "below an entity": lambda n: {"query": "retry", "entity_path": "team-3", "include_descendants": True},
    "with filters, common": lambda n: {"query": "retry", "min_confidence": 0.8, "agent_id": "agent/3", "limit": 50},
    "with filters, rare": lambda n: {"query": f"zone{n % 500}", "max_confidence": 0.7, "memory_type": "belief"},
    "too sure, nothing found": lambda n: {"query": f"zone{n % 500}", "min_confidence": 1.0},
    "no words, by confidence": lambda n: {"min_confidence": 0.5},
    "no words, by priority": lambda n: {"sort_by": "priority"},
    "10,000 characters": lambda n: {
        "query": " ".join(f"word{(n + k) % 9_000} topic{k % 50}" for k in range(900))[:10_000]
    },
    "a value of 1 MiB": lambda n: {"query": "leviathan"},
    "nothing at all": lambda n: {"query": f"absent{n}"},
}
# Tasks in words, with what learns from past ones.
LEARNED = {"include_priors": True, "include_avoid": True, "adaptive_k": True}
RETRIEVED: dict[str, Callable[[int], Body]] = {
    "retrieve by rare words": lambda n: {"query": f"what to do when kind{n % 20_000} of zone{n % 500} explodes"},
    "retrieve by common words": lambda n: {"query": "retry the call with jitter when it answers"},
    "retrieve by both": lambda n: {"query": f"retry the call with jitter when topic{n % 50} answers kind{n % 20_000}"},
    "retrieve in an entity": lambda n: {
        "query": f"retry the call of topic{n % 50}", "entity_path": f"team-{n % 40}/service-{n % 1_000}", **LEARNED
    },
    "retrieve in a large entity": lambda n: {
        "query": f"retry the call of topic{n % 50}", "entity_path": "hub", **LEARNED
    },
    "retrieve with 10,000 characters": SEARCHES["10,000 characters"],
    "retrieve a value of 1 MiB": lambda n: {"query": "leviathan"},
}  # fmt: skip
# With a vector for every entry; what is asked is embedded.
NEAR = {f"{name}, with vectors": body for name, body in RETRIEVED.items() if "1 MiB" not in name}
BRIEFED: dict[str, Callable[[int], Body]] = {
    "a briefing": lambda n: {"entity_path": f"team-{n % 40}/service-{n % 1_000}"},
    "a briefing of 10,000 entries": lambda n: {"entity_path": "hub"},
    "a briefing of everything": lambda n: {},
}
HARD = {
    "retrieve with 10,000 characters",
    "retrieve with 10,000 characters, with vectors",
    "retrieve a value of 1 MiB",
    "10,000 characters",
    "a value of 1 MiB",
    *(name for name in SEARCHES if "every entry" in name),
}


@dataclass
class Figures:
    """What was measured at one size: (p50, p95) in milliseconds and how many calls, by name."""

    entries: int
    milliseconds: dict[str, tuple[float, float, int]] = field(default_factory=dict)


def begin(name: str) -> None:
    """Set Django up on a database of this server."""
    import django
    from django.conf import settings
    from django.db import connection

    django.setup()
    settings.ALLOWED_HOSTS = ["testserver"]
    connection.settings_dict["NAME"] = name


def measured(call: Callable[[int], Any], entries: int) -> tuple[float, float, int]:
    """Make a call for some seconds, each time another, and return its milliseconds."""
    numbers, took = random.Random(7), []
    ends = time.monotonic() + SECONDS
    while len(took) < WARM + 20 or time.monotonic() < ends:
        number, started = numbers.randrange(1, entries), time.perf_counter()
        answer = call(number)
        took.append((time.perf_counter() - started) * 1_000)
        if answer.status_code != 200:
            raise RuntimeError(f"{answer.status_code} {answer.content[:300]!r}")
    told = sorted(took[WARM:])
    return told[len(told) // 2], told[int(len(told) * 0.95)], len(told)


def calls(caller: Any) -> dict[str, Callable[[int], Any]]:
    """Return what is measured; whoever adds a call adds it here."""
    from memories import vectors

    searches = {name: (lambda n, body=body: caller.post("search", body(n))) for name, body in SEARCHES.items()}
    asked = RETRIEVED | (NEAR if vectors.exists() else {})
    retrieved = {name: (lambda n, body=body: caller.post("retrieve", body(n))) for name, body in asked.items()}
    return searches | retrieved | {n: (lambda n, q=q: caller.get("briefing", **q(n))) for n, q in BRIEFED.items()}


def run(entries: int, only: str, *, keep: bool) -> Figures:
    from django.conf import settings

    from memories.vectors import model
    from senselab.accounts import services as accounts
    from senselab.accounts.models import Account
    from tests.api.conftest import Caller
    from tests.load import seed_search, seed_time, seed_vectors

    figures = Figures(entries)
    model.use(seed_vectors.Synthetic(model.current()), chosen=seed_vectors.NAME)
    with seed_time.store(f"bench_search_{entries}", entries, says=seed_search.SAYS, more=seed_search.more, keep=keep):
        account = Account.objects.get(slug="bench")
        caller = Caller(accounts.create_key(account, name="bench", rate_per_minute=10_000_000), "agent/bench")
        assert caller.write("large", "value", "leviathan " + "of the deep " * 87_000).status_code == 200
        for name, call in calls(caller).items():
            if only in name:
                settings.EMBEDDING_MODEL = seed_vectors.NAME if name in NEAR else model.OFF
                figures.milliseconds[name] = measured(call, entries)
                p50, p95, count = figures.milliseconds[name]
                print(f"  {name}: {p50:.1f} ms, p95 {p95:.1f} ms, {count} calls", file=sys.stderr)
    return figures


def table(found: list[Figures]) -> str:
    """Return the figures as a table."""
    head = "| p50, p95 in ms | " + " | ".join(f"{one.entries:,} entries" for one in found) + " |"
    lines = [head, "|---" * (len(found) + 1) + "|"]
    for name in found[0].milliseconds:
        cells = [f"{p50:.1f}, {p95:.1f}" for p50, p95, _ in (one.milliseconds[name] for one in found)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def broken_limits(found: list[Figures]) -> list[str]:
    """Return which limits were not kept; between the sizes there are limits for, the larger one's holds."""
    broken = []
    for one in found:
        limit = next((most for size, most in LIMITS.items() if one.entries <= size), max(LIMITS.values()))
        for name, (_, p95, _) in one.milliseconds.items():
            most = (WITH_VECTORS if name in NEAR else BRIEFING if name in BRIEFED else limit) * (1 + (name in HARD))
            if p95 > most:
                broken.append(f"{name} at {one.entries:,}: p95 {p95:.0f} ms, more than {most:g}")
    return broken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entries", nargs="*", type=int, default=SIZES, help="sizes to measure")
    parser.add_argument("--only", default="", help="measure what has this in its name")
    parser.add_argument("--keep", action="store_true", help="leave the stores, and take those that are there")
    asked = parser.parse_args()
    from senselab import postgres

    server = postgres.use(Path(os.environ["SENSELAB_DATA"]))
    try:
        begin("senselab")
        before = os.getloadavg()[0]
        found = [run(entries, asked.only, keep=asked.keep) for entries in asked.entries]
    finally:
        server.close()
    print(f"Load before {before:.1f}, after {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores.\n\n{table(found)}\n")
    broken = broken_limits(found)
    print("\n".join(broken) or "All limits were kept.")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
