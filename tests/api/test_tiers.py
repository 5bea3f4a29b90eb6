"""How the tiers stand over the API: /pro/tiers/* as the public client knows it, and GET /tiers; and what jobs do."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import Task

from memories import jobs, recalls
from memories.models import JobRun
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from tests.db import acts

DAY = timedelta(days=1)


@pytest.fixture
def ranked(account):
    """Fifty-three entries, the last three the newest, ranked."""
    now = timezone.now()
    acts.fill(account, 50, now=now - 5 * DAY)
    ids = acts.fill(account, 3, path="new", now=now)
    recalls.write(account.pk, DEFAULT, [Read(ids[0], 1, acts.BOB, "", now, 200)] * 9)
    jobs.retier(account, now)
    return ids


def test_the_distribution_counts_what_stands_where(ranked, bot):
    told = bot.get("pro/tiers/distribution").json()
    mean = told.pop("avg_priority_score")
    assert told == {"total": 53, "hot": 50, "warm": 3, "archive": 0, "scored": 53}
    assert 0.3 < mean < 2


def test_entries_come_by_priority_as_the_contract_lists_them(ranked, bot):
    rows = bot.get("pro/tiers/entries", tier=1, limit=3).json()
    assert [row["key"] for row in rows] == ["k0", "k1", "k2"]
    assert [row["entity_path"] for row in rows] == ["new"] * 3
    assert set(rows[0]) == {
        "entity_path", "key", "confidence", "tier", "priority_score", "recall_count", "importance_score", "written_at",
        "agent_id",
    }  # fmt: skip
    assert rows[0]["recall_count"] == 9
    scores = [row["priority_score"] for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_each_tier_is_listed_alone_and_all_without_one(ranked, bot):
    assert len(bot.get("pro/tiers/entries", tier=2).json()) == 3
    assert bot.get("pro/tiers/entries", tier=3).json() == []
    assert len(bot.get("pro/tiers/entries", limit=1000).json()) == 53


@pytest.mark.parametrize("query", [{"tier": "4"}, {"tier": "hot"}, {"limit": "0"}, {"limit": "1001"}])
def test_a_tier_or_a_limit_that_cannot_be_is_refused(bot, query):
    assert bot.get("pro/tiers/entries", **query).status_code == 422


def test_the_tiers_tell_capacity_and_what_moved_today_with_its_reason(ranked, bot):
    told = bot.get("tiers").json()
    assert told["tiers"] == {
        "hot": {"tier": 1, "count": 50, "capacity": 50},
        "warm": {"tier": 2, "count": 3, "capacity": 200},
        "archive": {"tier": 3, "count": 0, "capacity": None},
    }
    assert told["moved_today"] == [{"from": 3, "to": 1, "count": 50}, {"from": 3, "to": 2, "count": 3}]
    first = told["moves"][0]
    assert (first["key"], first["from"], first["to"]) == ("k0", 3, 1)
    parts = first["priority"]
    value = (parts["importance"] + parts["recency"]) * parts["frequency"] * parts["durability"]
    assert parts["value"] == pytest.approx(value)


def test_what_a_caller_may_not_see_is_in_no_list_and_no_count(account, bot, helper, stranger):
    acts.put(account, key="mine", shared=False, by="agent/deploy-bot", now=timezone.now())
    jobs.retier(account, timezone.now())
    assert bot.get("pro/tiers/distribution").json()["hot"] == 1
    for other in (helper, stranger):
        distribution = other.get("pro/tiers/distribution").json()
        assert (distribution["total"], distribution["avg_priority_score"]) == (0, 0.0)
        assert other.get("pro/tiers/entries").json() == []
        assert other.get("tiers").json()["moves"] == []
        assert other.get("tiers").json()["moved_today"] == []


def test_depth_reads_the_tiers_that_the_job_stored(ranked, bot):
    found = [len(bot.post("search", {"depth": depth, "limit": 100}).json()) for depth in (1, 2, 3)]
    assert found == [50, 53, 53]


def test_jobs_tell_their_rhythm_and_their_last_run(account, bot):
    acts.put(account, ttl_at=timezone.now() + timedelta(hours=1), now=timezone.now() - DAY)
    jobs.tiers()
    told = bot.get("jobs").json()
    by_name = {one["job"]: one for one in told["jobs"]}
    assert {name: one["every_minutes"] for name, one in by_name.items()} == {
        "expire": 1, "retier": 1, "fold": 1, "decay": 60, "refresh": 60, "importance": 60, "policy": None,
        "import": None, "verify": 1440, "embed": 1, "compare": 5, "secrets": 1,
        "retain": 1440,
    }  # fmt: skip
    last = by_name["retier"]["last"]
    assert (last["state"], last["looked"], last["changed"], last["error"]) == ("done", 250, 1, None)
    assert last["seconds"] >= 0
    assert by_name["decay"]["last"] is None
    assert told["health"] == ["No job is scheduled, as the product was never started; " + STARTING]


STARTING = "start it with the product (make run), or by itself: manage.py qcluster."


def test_another_accounts_runs_are_not_told(account, other_account, bot):
    JobRun.objects.create(
        account=other_account, job="decay", state="failed", failures=3, error="their trouble", created_at=timezone.now()
    )
    assert "their trouble" not in bot.get("jobs").content.decode()
    assert not Task.objects.exists()
