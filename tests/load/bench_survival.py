"""What it costs to take a whole account along, to bring it back, and to check every seal: time and memory.

`python -m tests.load.bench_survival [ENTRIES] [VERSIONS]` makes a database of its own and drops it.
"""

import filecmp
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
import psycopg
from psycopg import sql

NAME = "bench_survival"
BATCH = 1_000


@contextmanager
def database() -> Iterator[None]:
    """Let Django use a fresh database, which is dropped in the end."""
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    address = str(settings.DATABASE_URL)

    def run(words: str) -> None:
        with psycopg.connect(address, autocommit=True) as server:
            server.execute(sql.SQL(words).format(sql.Identifier(NAME)))

    run("DROP DATABASE IF EXISTS {} WITH (FORCE)")
    run("CREATE DATABASE {}")
    connection.close()
    connection.settings_dict["NAME"] = NAME
    try:
        call_command("migrate", verbosity=0)
        yield
    finally:
        connection.close()
        run("DROP DATABASE IF EXISTS {} WITH (FORCE)")


def seed(account: Any, entries: int, versions: int) -> None:
    """Write entries and rewrite them, through the ledger, until there are so many versions."""
    from memories import heads
    from memories.rules.policy import DEFAULT
    from memories.services import ledger, writing
    from memories.services.ledger import Act
    from tests.db import acts

    text = "retry with jitter and give up after three times " * 4
    written, numbers = 0, list(range(entries))
    ids: list[int] = []
    for turn in range(versions // entries + 1):
        act = Act("write", acts.agent(), acts.NOON + timedelta(hours=turn), DEFAULT)
        for start in range(0, min(entries, versions - written), BATCH):
            some = numbers[start : start + min(BATCH, versions - written)]
            found: dict[int, Any] = {}
            if turn:
                found = {head.id: head for head in heads.by_ids(account.pk, [ids[n] for n in some])}
            drafts = [(acts.draft(f"{n} {turn} {text}", path=f"team/{n % 500}", key=f"k{n}"), n) for n in some]
            moves = [writing.plan(draft, found[ids[n]] if turn else None, act) for draft, n in drafts]
            done = ledger.append(account.pk, act, moves)
            ids += [one for one in done.entry_ids if one is not None] if not turn else []
            written += len(some)


def peak() -> float:
    """Return this process's largest size so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(words: str, work: Callable[[], Any]) -> Any:
    before, began = peak(), time.monotonic()
    answer = work()
    load = os.getloadavg()[0]
    print(f"{words}: {time.monotonic() - began:.1f} s, {peak() - before:+.0f} MB to {peak():.0f} (load {load:.1f})")
    sys.stdout.flush()
    return answer


def main(entries: int, versions: int) -> None:
    from memories.checking import verify_reads
    from memories.checking.verify_reads import Tally
    from memories.services import importing
    from memories.transfer import leaving
    from senselab.accounts import services as accounts

    def save(account: Any, path: Path) -> None:
        with path.open("wb") as file:
            for piece in leaving.export(account):
                file.write(piece)

    def load(account: Any, path: Path) -> int:
        with path.open("rb") as file:
            return importing.take_in(account, file)

    def check(account: Any) -> int:
        with verify_reads.one_view():
            return sum(1 for _ in verify_reads.account_findings(account, Tally()))

    source, copy = accounts.create_account("source"), accounts.create_account("copy")
    with tempfile.TemporaryDirectory() as folder:
        one, other = Path(folder) / "one.jsonl", Path(folder) / "other.jsonl"
        began = time.monotonic()
        seed(source, entries, versions)
        print(f"{entries:,} entries and {versions:,} versions written in {time.monotonic() - began:.0f} s")
        measured("export", lambda: save(source, one))
        print(f"  {one.stat().st_size / 1e6:.0f} MB")
        print(f"  {measured('import', lambda: load(copy, one)):,} lines")
        measured("export of the copy", lambda: save(copy, other))
        print(f"  {'the same' if filecmp.cmp(one, other, shallow=False) else 'NOT THE SAME'}")
        print(f"  {measured('verify', lambda: check(copy))} do not fit")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "senselab.settings")
    os.environ.setdefault("SENSELAB_DATA", str(Path(__file__).resolve().parents[2] / "var" / "test"))
    django.setup()
    from django.conf import settings

    from senselab import postgres

    held = None if os.environ.get("DATABASE_URL") else postgres.use(settings.DATA_DIR, durable=False)
    given = [int(word) for word in sys.argv[1:3]]
    with database():
        main(*(given if len(given) == 2 else (60_000, 200_000)))
    if held:
        held.close()
