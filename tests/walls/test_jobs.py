"""A job that runs in one account reads, changes and tells nothing of another, where everything is called the same."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from memories import jobs
from memories.jobs.runs import Run
from memories.models import JobRun
from memories.services import policies, uploads
from memories.services.ledger import Actor
from memories.transfer import leaving
from senselab.accounts import keys
from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.api.conftest import Caller
from tests.db.meaning import Meaning, chosen
from tests.walls import world
from tests.walls.world import SCOPES

# When all that time does has been done: what lives until 2090 is over, and what is kept for a while is gone.
LATER = datetime(2091, 1, 1, tzinfo=UTC)
COUNTS = ("looked", "changed", "total")
# Which jobs need an hour to come.
IN_TIME = {"expire", "decay", "refresh", "retain"}
TABLES = """
    SELECT c.table_name FROM information_schema.columns c
      JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND c.column_name = 'account_id' AND t.table_type = 'BASE TABLE' ORDER BY 1
"""


def nothing(account: Account, settings: Any) -> None:
    """What the story left is enough."""


def evaluator(account: Account, settings: Any) -> None:
    settings.IMPORTANCE_EVALUATOR = "memories.services.importance.heuristic"


def policy(account: Account, settings: Any) -> None:
    actor = Actor("person", "ada")
    policies.save(account.pk, {"hot_capacity": 1}, expected=1, actor=actor, reason="less", now=timezone.now())


def secret(account: Account, settings: Any) -> None:
    key = accounts.create_key(account, name="leaky")
    Caller(key, "agent/leaky").write("leaky", "token", "ghp_" + "a1B2" * 9)


# What each job needs to have something to do. A job that is missing here fails the test.
NEEDS: dict[str, Callable[[Account, Any], None]] = {
    "expire": nothing,
    "retier": nothing,
    "fold": nothing,
    "decay": nothing,
    "refresh": nothing,
    "importance": evaluator,
    "embed": nothing,
    "compare": nothing,
    "secrets": secret,
    "policy": policy,
    "retain": nothing,
    "verify": nothing,
}
# Takes in a file, into an account that holds nothing.
APART = {"import"}


def test_every_job_there_is_is_run():
    assert set(jobs.JOBS) == set(NEEDS) | APART, "list it here: what does it need to have something to do?"


def filled(account: Account, word: str) -> Account:
    """Fill an account as the others, with one thing more that has a word of its own."""
    key = accounts.create_key(account, name="keeper", scopes=SCOPES, rate_per_minute=1_000_000)
    keeper = Caller(key, world.NAMES["agent"])
    w = world.learn(keeper, shared=True)
    world.end(keeper, w)
    keeper.write(w.path, word, f"{word} retries help with jitter", confidence=0.3, ttl_at="2090-01-01T00:00:00Z")
    keeper.get("entries", entity_path=w.path)
    return account


@pytest.fixture
def mine(account: Account) -> Account:
    return filled(account, "kanari-mine")


@pytest.fixture
def theirs(other_account: Account) -> Account:
    return filled(other_account, "kanari-ours")


def kept(account: Account) -> dict[str, str]:
    """Return what an account holds, as a sum of each table."""
    found = {}
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        for (table,) in cursor.fetchall():
            rows = f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {table} t WHERE t.account_id = %s"
            cursor.execute(rows, [account.pk])
            found[table] = cursor.fetchone()[0]
    return found


def done(job: str, account: Account) -> dict[str, Any]:
    """Run a job in an account, the run that was asked for where one was; return what it says of itself."""
    asked = JobRun.objects.filter(account=account, job=job, state="waiting").values_list("id", flat=True).first()

    def work(account: Account, now: datetime, run: Run) -> None:
        jobs.JOBS[job].work(account, LATER if job in IN_TIME else now, run)

    with chosen(Meaning()):
        jobs.in_account(job, account, work, asked)
    run = JobRun.objects.get(account=account, job=job)
    assert run.state == "done", run.error
    return {name: getattr(run, name) for name in (*COUNTS, "error", "terms")}


@pytest.mark.parametrize("job", NEEDS)
def test_a_job_changes_and_tells_nothing_of_another_account(lasting, mine, theirs, settings, job):
    for account in (mine, theirs):
        NEEDS[job](account, settings)
    # When keys were used last is written a moment later.
    keys.write_uses()
    before = kept(theirs)

    told = done(job, mine)

    assert kept(theirs) == before
    assert "kanari-ours" not in json.dumps(told)
    assert told["looked"] or told["changed"]
    # What it did here it has still to do there: of that it counted nothing.
    there = done(job, theirs)
    assert [told[name] for name in COUNTS] == [there[name] for name in COUNTS]


def test_a_history_that_is_taken_in_changes_and_tells_nothing_of_another_account(lasting, mine, theirs):
    empty = accounts.create_account(f"{mine.slug}-new")
    uploads.keep(empty.pk, list(leaving.export(mine)), name="history", by="ada", now=timezone.now())
    before = kept(theirs), kept(mine)

    told = done("import", empty)

    assert (kept(theirs), kept(mine)) == before
    assert told["changed"]
    assert "kanari-ours" not in json.dumps([told, *map(bytes.decode, leaving.export(empty))])


def test_what_could_be_done_is_foreseen_for_one_account_alone(lasting, mine, theirs):
    for name, job in jobs.JOBS.items():
        if job.foresee is not None:
            with chosen(Meaning()):
                alone, beside = job.foresee(mine, LATER), job.foresee(theirs, LATER)
            assert alone == beside, name
