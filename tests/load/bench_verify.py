"""What it costs to recompute every version and seal of an account: 1,000,000 of them, with seals that fit.

`python -m tests.load.bench_verify [VERSIONS]` writes a twentieth through the services and copies it by SQL onto
nineteen branches of the same account: a seal covers names of entries and agents, and neither branch nor row ids.
"""

import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

COPIES = 20
# Entries, and versions of each: learned, rewritten twice, and confirmed or refuted seven times.
REWRITES, OUTCOMES, TOGETHER = 2, 7, 50
EACH = 1 + REWRITES + OUTCOMES


def learn(account: Any, entries: int) -> None:
    """Write entries, rewrite them, and report outcomes over fifty of them at a time."""
    from memories import heads
    from memories.rules.policy import DEFAULT
    from memories.services import ledger, writing
    from memories.services.ledger import Act
    from tests.db import acts

    ids: list[int] = []
    for turn in range(1 + REWRITES):
        act = Act("write", acts.agent(), acts.NOON + timedelta(days=4 * turn), DEFAULT)
        for start in range(0, entries, 1_000):
            numbers = range(start, min(start + 1_000, entries))
            found = {head.id: head for head in heads.by_ids(account.pk, [ids[n] for n in numbers])} if turn else {}
            text = "retry with jitter and give up after three times " * 4
            drafts = [(n, acts.draft(f"{n} {turn} {text}", path=f"team/{n % 500}", key=f"k{n}")) for n in numbers]
            moves = [writing.plan(draft, found[ids[n]] if turn else None, act) for n, draft in drafts]
            done = ledger.append(account.pk, act, moves)
            ids += [one for one in done.entry_ids if one is not None] if not turn else []
        for told in range(OUTCOMES // (1 + REWRITES) + (turn < OUTCOMES % (1 + REWRITES))):
            for start in range(0, entries, TOGETHER):
                keys = [f"team/{n % 500}/k{n}" for n in range(start, min(start + TOGETHER, entries))]
                kind = "failure" if (start + told) % 3 == 0 else "success"
                now = acts.NOON + timedelta(days=4 * turn + 1 + told)
                acts.told(account, f"{turn}-{told}-{start}", kind, *keys, now=now)


def copy(account: Any) -> None:
    """Copy what there is onto further branches, with ids of their own."""
    from memories.checking import verify_sums

    branch, aside = "'b' || n.n", "{} + n.n * 10000000"
    shifts = {
        "entry": {"id": aside, "claim_id": aside, "branch": branch},
        "claim": {"id": aside, "entry_id": aside},
        "entryversion": {"id": aside, "entry_id": aside, "claim_id": aside},
        "effect": {"id": aside, "entry_id": aside, "outcome_id": aside},
    }
    run("SET session_replication_role = replica")
    for table, shift in shifts.items():
        names = [name for (name,) in run(COLUMNS, f"memories_{table}")]
        said = [shift.get(name, "{}").format(f't."{name}"') for name in names]
        listed = ", ".join(f'"{name}"' for name in names)
        run(
            f"INSERT INTO memories_{table} ({listed}) SELECT {', '.join(said)} FROM memories_{table} t,"
            f" generate_series(1, {COPIES - 1}) AS n(n) WHERE t.account_id = {account.pk}"
        )
    sums = ", ".join(verify_sums.NAMES)
    run(
        f"INSERT INTO memories_counter (account_id, {verify_sums.PLACE}, {sums}, recalls, tokens_saved)"
        f" SELECT e.account_id, {verify_sums.PLACE}, {verify_sums.COUNTED}, {verify_sums.NANOS}, 0, 0"
        f" FROM memories_entry e WHERE e.account_id = {account.pk} AND e.branch <> 'main'"
        f" GROUP BY e.account_id, {verify_sums.PLACE}"
    )
    run("SET session_replication_role = origin")
    run("VACUUM ANALYZE")


COLUMNS = """
    SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
       AND attgenerated = '' ORDER BY attnum
"""


def run(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)
        return cursor.fetchall() if cursor.description else []


def main(versions: int) -> None:
    from memories.checking import verify_reads
    from memories.checking.verify_reads import Tally
    from senselab.accounts import services as accounts
    from tests.load.bench_survival import database, measured

    with database():
        account = accounts.create_account("bench")
        began = time.monotonic()
        learn(account, versions // COPIES // EACH)
        copy(account)
        print(f"seeded in {time.monotonic() - began:.0f} s", flush=True)
        tally = Tally()

        def check() -> int:
            with verify_reads.one_view():
                found = [f"{where} {one}" for where, one in verify_reads.account_findings(account, tally)]
            print("\n".join(found[:5]))
            return len(found)

        began = time.monotonic()
        count = measured("verify", check)
        rate = tally.versions / (time.monotonic() - began)
        print(f"  {tally.entries:,} entries, {tally.versions:,} versions, {rate:,.0f} a second, {count} do not fit")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "senselab.settings")
    os.environ.setdefault("SENSELAB_DATA", str(Path(__file__).resolve().parents[2] / "var" / "test"))
    django.setup()
    from django.conf import settings

    from senselab import postgres

    held = None if os.environ.get("DATABASE_URL") else postgres.use(settings.DATA_DIR, durable=False)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    if held:
        held.close()
