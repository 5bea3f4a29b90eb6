"""How a database grows: `make bench-growth` writes, reads and reports, and scales what the tables took to a million.

`python -m tests.load.bench_growth [COUNT]` (10,000) makes a database of its own and drops it. Sizes are those of tables
with their indexes as they stand, dead rows included, as a running database has them.
"""

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "senselab.settings")
os.environ.setdefault("SENSELAB_DATA", str(ROOT / "var" / "test"))
django.setup()

from memories import recalls  # noqa: E402  Django first
from memories.recalls import Read  # noqa: E402
from memories.rules.policy import DEFAULT  # noqa: E402
from outcomes.models import Event, Trace  # noqa: E402
from tests.db import acts  # noqa: E402

SIZES = """
    SELECT coalesce(p.relname, c.relname), sum(pg_total_relation_size(c.oid))::bigint
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
     WHERE c.relkind = 'r' AND n.nspname = 'public' GROUP BY 1
"""
TEXT = "Wait with jitter before the retry, and give up after three times, as the gateway locks the account. " * 2


def sizes() -> dict[str, int]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(SIZES)
        return dict(cursor.fetchall())


def grown(words: str, count: int, work: Callable[[int], Any]) -> None:
    """Do something so many times and say what a million of it would take, by table."""
    before = sizes()
    work(count)
    after = sizes()
    taken = {name: (after[name] - before.get(name, 0)) * 1e6 / count / 1e9 for name in after}
    parts = sorted(((size, name) for name, size in taken.items() if size >= 0.01), reverse=True)
    told = ", ".join(f"{name.split('_', 1)[1]} {size:.2f}" for size, name in parts)
    print(f"a million {words}: {sum(size for size, _ in parts):.2f} GB ({told})", flush=True)


class Life:
    """What agents do with one account, so many times each."""

    def __init__(self, account: Any) -> None:
        self.account, self.ids = account, []

    def first(self, count: int) -> None:
        for n in range(count):
            self.ids.append(acts.put(self.account, f"{n} {TEXT}", path=f"team/{n % 200}", key=f"k{n}").entry_id)

    def again(self, count: int) -> None:
        later = acts.NOON + timedelta(days=1)
        for n in range(count):
            acts.put(self.account, f"{n} again {TEXT}", path=f"team/{n % 200}", key=f"k{n}", now=later)

    def read(self, count: int) -> None:
        for start in range(0, count, 100):
            reads = [
                Read(self.ids[n % len(self.ids)], 2, f"agent/{n % 20}", f"s-{n:08}", acts.NOON, 300)
                for n in range(start, min(count, start + 100))
            ]
            recalls.write(self.account.pk, DEFAULT, reads)

    def outcomes(self, count: int) -> None:
        for n in range(count):
            keys = [f"team/{m % 200}/k{m}" for m in (n, n + 1, n + 2)]
            acts.told(self.account, f"task-{n}", "success", *keys, told={"task_input": "retry the payment"})

    def events(self, count: int) -> None:
        said = {"account": self.account, "event_type": "note", "summary": TEXT[:80], "created_at": acts.NOON}
        Event.objects.bulk_create([Event(agent_id=f"agent/{n % 20}", **said) for n in range(count)], batch_size=1000)

    def traces(self, count: int) -> None:
        said = {"account": self.account, "body": TEXT * 10, "entity_paths": ["team/1"]}
        some = [
            Trace(agent_id=f"agent/{n % 20}", session_id=f"s-{n:08}", outcome_ref=f"t-{n}", causal_keys=["team/1/k1"],
                  causal_authors=["agent/1"], created_at=acts.NOON + timedelta(seconds=n), **said)
            for n in range(count)
        ]  # fmt: skip
        Trace.objects.bulk_create(some, batch_size=1000)


def steps(life: Life) -> list[tuple[str, int, Callable[[int], Any]]]:
    """Return what is done: in words, how many times fewer it is done, and the doing."""
    return [
        ("first writes (200 bytes)", 1, life.first),
        ("further versions", 1, life.again),
        ("reads, each in a session of its own", 1, life.read),
        ("reads of what the session had read", 1, life.read),
        ("outcomes over three entries", 5, life.outcomes),
        ("events", 1, life.events),
        ("traces of 2 KB", 1, life.traces),
    ]


def main(count: int) -> None:
    from django.db import connection

    from senselab.accounts import services as accounts
    from tests.load import bench_survival

    bench_survival.NAME = "bench_growth"
    with bench_survival.database():
        account = accounts.create_account("growth")
        for words, fewer, work in steps(Life(account)):
            grown(words, count // fewer, work)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            print(f"the database then: {cursor.fetchone()[0] / 1e6:.0f} MB")


if __name__ == "__main__":
    from django.conf import settings

    from senselab import postgres

    held = None if os.environ.get("DATABASE_URL") else postgres.use(settings.DATA_DIR, durable=False)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    if held:
        held.close()
