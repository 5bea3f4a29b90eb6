"""What time costs: `make bench-time` seeds a store of its own under var/bench and runs the jobs over it.

Prints a table of seconds, rows and memory at 100,000 and 1,000,000 entries (or those given), and says which of the
limits of docs/operations.md were kept. The store is made by SQL, not through the API, and is dropped at the end.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
os.environ |= {"SENSELAB_DATA": str(ROOT / "var" / "bench"), "DJANGO_SETTINGS_MODULE": "senselab.settings"}
os.environ.setdefault("LOG_LEVEL", "WARNING")
SIZES = (100_000, 1_000_000)
WRITE_SECONDS = 20.0


@dataclass
class Figures:
    """What was measured at one size: seconds by name, and what else counts."""

    entries: int
    seconds: dict[str, float] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    megabytes: float = 0.0
    writes_alone: float = 0.0
    writes_beside: float = 0.0


def begin(name: str) -> None:
    """Set Django up on a database of this server."""
    import django
    from django.db import connection

    django.setup()
    connection.settings_dict["NAME"] = name


def measured(name: str, steps: list[str], results: "multiprocessing.Queue[tuple[dict, dict, float]]") -> None:
    """Run steps one after the other in a process of its own, as a worker would, and send what they took."""
    begin(name)
    seconds, changed = {}, {}
    for step in steps:
        started = time.monotonic()
        changed[step] = STEPS[step]()
        seconds[step] = time.monotonic() - started
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results.put((seconds, changed, megabytes))


def decay() -> int:
    """Run the hourly job and return how many rows it changed: versions it wrote, and values it stored anew."""
    from memories import jobs
    from memories.models import JobRun
    from senselab.accounts.models import Account

    account = Account.objects.get(slug="bench")
    jobs.decay()
    newest = JobRun.objects.filter(account_id=account.pk, job__in=("decay", "refresh")).order_by("job", "-id")
    return sum(run.changed for run in newest.distinct("job"))


def tiers() -> int:
    from memories import jobs

    return jobs.tiers()


def policy() -> int:
    """Save a policy that moves every stored moment and some places, and apply it, turn by turn."""
    from django.utils import timezone

    from memories import jobs
    from memories.models import JobRun
    from memories.services import policies
    from memories.services.ledger import Actor
    from senselab.accounts.models import Account

    account, actor = Account.objects.get(slug="bench"), Actor("person", "ada")
    changes = {"base_half_life": 80.0, "review_below": 0.32}
    saved = policies.save(account.pk, changes, expected=1, actor=actor, reason="to measure", now=timezone.now())
    while True:
        jobs.asked()
        run = JobRun.objects.get(account_id=account.pk, id=saved.run_id)
        if run.state not in {"waiting", "running"}:
            return run.changed


def write(name: str, seconds: float, counts: "multiprocessing.Queue[int]") -> None:
    """Write new entries and reports for so long, one after the other, and send how many."""
    begin(name)
    from django.utils import timezone

    from memories.rules.policy import DEFAULT
    from memories.services import writing
    from senselab.accounts.models import Account
    from tests.db import acts

    account = Account.objects.get(slug="bench")
    ends, count = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        draft = acts.draft({"n": count}, path=f"live/{count % 50}", key=f"w{os.getpid()}-{count // 2}")
        writing.write(account.pk, draft, actor=acts.agent(), policy=DEFAULT, now=timezone.now())
        count += 1
    counts.put(count)


def work_for(name: str, seconds: float) -> None:
    """Do what the worker does, without a pause, for so long: decay, refresh and rank over and over."""
    begin(name)
    from memories import jobs

    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        jobs.decay()
        jobs.tiers()


STEPS: dict[str, Callable[[], int]] = {
    "first ranking": tiers,
    "ranking again": tiers,
    "decay, first look": decay,
    "decay, nothing due": decay,
    "decay, 1 % due": decay,
    "decay, all drifted": decay,
    "another policy": policy,
}
# At most so many seconds at a million entries.
LIMITS = {"first ranking": 30.0, "ranking again": 30.0, "decay, nothing due": 2.0, "decay, 1 % due": 30.0}


class Bench:
    """One size: a database, its store, and what is measured on it."""

    def __init__(self, entries: int) -> None:
        self.figures = Figures(entries)
        self.name = f"bench_{entries}"
        self.spawn = multiprocessing.get_context("spawn")

    def run(self) -> Figures:
        from tests.load import seed_time

        with seed_time.store(self.name, self.figures.entries) as store:
            self.steps("first ranking", "ranking again", "decay, first look", "decay, nothing due")
            store.make_due(100)
            self.steps("decay, 1 % due")
            store.age(1)
            self.steps("decay, all drifted")
            self.figures.writes_alone = self.writes()
            store.make_due(100)
            store.age(1)
            self.figures.writes_beside = self.writes(beside=True)
            self.steps("another policy")
        return self.figures

    def steps(self, *names: str) -> None:
        results = self.spawn.Queue()
        asked = [name for name in names if name in STEPS]
        worker = self.spawn.Process(target=measured, args=(self.name, asked, results))
        worker.start()
        seconds, changed, megabytes = results.get()
        worker.join()
        self.figures.seconds |= seconds
        self.figures.changed |= changed
        self.figures.megabytes = max(self.figures.megabytes, megabytes)

    def writes(self, *, beside: bool = False) -> float:
        """Return how many writes a second two writers make, beside a worker or alone."""
        counts = self.spawn.Queue()
        writers = [self.spawn.Process(target=write, args=(self.name, WRITE_SECONDS, counts)) for _ in range(2)]
        worker = self.spawn.Process(target=work_for, args=(self.name, WRITE_SECONDS + 3))
        if beside:
            worker.start()
        for writer in writers:
            writer.start()
        total = sum(counts.get() for _ in writers)
        for process in [*writers, *([worker] if beside else [])]:
            process.join()
        return total / WRITE_SECONDS


def table(found: list[Figures]) -> str:
    """Return the figures as a table."""
    head = "| | " + " | ".join(f"{one.entries:,} entries" for one in found) + " |"
    lines = [head, "|---" * (len(found) + 1) + "|"]
    for step in STEPS:
        cells = [f"{one.seconds[step]:.2f} s, {one.changed[step]:,} changed" for one in found]
        lines.append(f"| {step} | " + " | ".join(cells) + " |")
    lines.append("| memory of the worker | " + " | ".join(f"{one.megabytes:.0f} MB" for one in found) + " |")
    writes = [f"{one.writes_alone:.0f} a second alone, {one.writes_beside:.0f} beside the jobs" for one in found]
    lines.append("| two writers | " + " | ".join(writes) + " |")
    return "\n".join(lines)


def broken_limits(found: list[Figures]) -> list[str]:
    """Return which limits were not kept; those in seconds hold at a million entries."""
    largest, broken = found[-1], []
    scale = largest.entries / 1_000_000
    for step, limit in LIMITS.items():
        if largest.seconds.get(step, 0) > limit * max(1.0, scale):
            broken.append(f"{step} took {largest.seconds[step]:.1f} s, more than {limit:g}")
    if largest.megabytes > 300:
        broken.append(f"the worker took {largest.megabytes:.0f} MB, more than 300")
    if largest.writes_beside < largest.writes_alone / 2:
        broken.append("writes beside the jobs lost more than half of their throughput")
    if len(found) > 1:
        growth = largest.entries / found[0].entries * 1.2
        for step in ("first ranking", "decay, 1 % due", "decay, all drifted"):
            ratio = largest.seconds.get(step, 0) / max(found[0].seconds.get(step, 0), 0.01)
            if ratio > growth:
                broken.append(f"{step} grew {ratio:.1f} times for {largest.entries / found[0].entries:g} times as many")
    return broken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skip", nargs="*", choices=STEPS, default=[], help="steps to leave out, for a shorter run")
    parser.add_argument("entries", nargs="*", type=int, default=SIZES, help="sizes to measure, the largest last")
    told = parser.parse_args()
    for step in told.skip:
        del STEPS[step]
    from senselab import postgres

    server = postgres.use(Path(os.environ["SENSELAB_DATA"]))
    try:
        begin("senselab")
        before = os.getloadavg()[0]
        found = [Bench(entries).run() for entries in told.entries]
    finally:
        server.close()
    print(f"Load before {before:.1f}, after {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores.\n\n{table(found)}\n")
    broken = broken_limits(found)
    print("\n".join(broken) or "All limits were kept.")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
