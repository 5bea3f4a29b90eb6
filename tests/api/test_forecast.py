"""GET /api/v1/forecast: what happens if nothing happens, to one entry and to a branch."""

import random
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from memories import jobs, recalls
from memories.ageing import forecasts
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from memories.rules.silence import Silence
from tests.db import acts

DAY = timedelta(days=1)


@pytest.fixture
def now():
    return timezone.now()


def moment(text):
    return datetime.fromisoformat(text) if text else None


def test_an_entry_tells_when_silence_will_move_it(account, bot, now):
    entry_id = acts.put(account, confidence=0.7, ttl_at=now + 300 * DAY, now=now).entry_id
    told = bot.get("forecast", entity_path="shop", key="retry").json()
    head = acts.head(account, entry_id)
    due = Silence(head.state, head.kept, head.accessed_at, head.recall_count).forecast(DEFAULT)
    assert moment(told["under_review_at"]) == due.under_review_at == now + 85 * DAY
    assert moment(told["archived_at"]) == due.archived_at == now + 194 * DAY
    assert moment(told["expires_at"]) == now + 300 * DAY
    assert told["leaves_tier_at"] is None  # it is in the last one


def test_the_curve_is_the_effective_confidence_of_each_moment(account, bot, now):
    entry_id = acts.put(account, confidence=0.7, now=now).entry_id
    curve = bot.get("forecast", entity_path="shop", key="retry").json()["curve"]
    head = acts.head(account, entry_id)
    silence = Silence(head.state, head.kept, head.accessed_at, head.recall_count)
    assert len(curve) >= 24
    for point in curve:
        assert point["effective_confidence"] == silence.effective(moment(point["at"]), DEFAULT)
    values = [point["effective_confidence"] for point in curve]
    assert values == sorted(values, reverse=True)
    assert now + 194 * DAY in {moment(point["at"]) for point in curve}


@pytest.mark.parametrize(
    ("more", "of"),
    [({"pinned": True}, "a pinned entry"), ({"confidence": 0.0}, "an entry of confidence 0")],
)
def test_what_never_happens_is_null(account, bot, now, more, of):
    acts.put(account, now=now, **more)
    told = bot.get("forecast", entity_path="shop", key="retry").json()
    assert told["under_review_at"] is None, of
    assert told["leaves_tier_at"] is None, of


def test_an_entry_leaves_its_tier_when_others_have_come_before_it(account, bot, now):
    """A recalled entry wears down slower: it overtakes a newer one after some days, and not before."""
    for n in range(50):
        often = acts.put(account, n, key=f"often{n}", confidence=0.6, now=now - 2 * DAY).entry_id
        recalls.write(account.pk, DEFAULT, [Read(often, 1, acts.BOB, "", now - 2 * DAY, 200)] * 3)
    acts.put(account, 1, key="fresh", confidence=1.0, now=now)
    jobs.retier(account, now)
    told = bot.get("forecast", entity_path="shop", key="fresh").json()
    assert told["tier"] == 1
    leaves = moment(told["leaves_tier_at"])
    assert leaves is not None
    before, after = (forecasts.Branch(account.pk, "main", DEFAULT, leaves - days * DAY) for days in (1, 0))
    entry_id = acts.entry(account, key="fresh", now=now).entry_id
    assert before.rank(entry_id) <= 50 < after.rank(entry_id)


def test_an_entry_alone_keeps_its_tier_until_silence_takes_it_away(account, bot, now):
    acts.put(account, confidence=0.7, now=now)
    jobs.retier(account, now)
    told = bot.get("forecast", entity_path="shop", key="retry").json()
    assert moment(told["under_review_at"]) <= moment(told["leaves_tier_at"]) < moment(told["under_review_at"]) + DAY


@pytest.fixture
def many(account, now):
    """A hundred entries of all kinds; the ids."""
    chance = random.Random(90)
    ids = []
    for n in range(100):
        written = now - chance.uniform(0, 60) * DAY
        stored = acts.put(
            account, n, key=f"k{n}", confidence=chance.choice((0.2, 0.31, 0.5, 0.7, 1.0)), now=written,
            memory_type=chance.choice(["fact", "belief"]), pinned=n % 25 == 0,
            ttl_at=now + chance.choice((3, 20, 80, 200)) * DAY if n % 6 == 0 else None,
        )  # fmt: skip
        ids.append(stored.entry_id)
        if n % 5 == 0:
            recalls.write(account.pk, DEFAULT, [Read(stored.entry_id, 1, acts.BOB, "", now - DAY, 200)] * (n % 4 + 1))
    return ids


def expected(account, ids, end):
    """Return, by kind, the ids and moments of what happens until a moment, one entry at a time."""
    told = {"review": {}, "archive": {}, "expire": {}}
    for entry_id in ids:
        head = acts.head(account, entry_id)
        due = Silence(head.state, head.kept, head.accessed_at, head.recall_count).forecast(DEFAULT)
        over = head.state.ttl_at
        for kind, at in (("review", due.under_review_at), ("archive", due.archived_at)):
            if at is not None and at <= end and (over is None or at < over):
                told[kind][entry_id] = at
        if over is not None and over <= end:
            told["expire"][entry_id] = over
    return told


def test_a_branch_tells_how_many_meet_what_within_7_30_and_90_days(account, bot, now, many, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: now)
    told = {one["days"]: one for one in bot.get("forecast").json()["within"]}
    assert list(told) == [7, 30, 90]
    for days, counts in told.items():
        should = expected(account, many, now + days * DAY)
        assert counts["under_review"] == len(should["review"]), days
        assert counts["archived"] == len(should["archive"]), days
        assert counts["expired"] == len(should["expire"]), days
    assert told[90]["under_review"] > told[30]["under_review"] > 0
    assert told[90]["archived"] > 0


@pytest.mark.parametrize("kind", ["review", "archive", "expire"])
def test_a_branch_tells_which_and_when_page_by_page(account, bot, now, many, kind, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: now)
    monkeypatch.setattr(forecasts, "PAGE", 4)
    should = expected(account, many, now + 90 * DAY)[kind]
    found, cursor = [], ""
    while True:
        page = bot.get("forecast", kind=kind, days=90, cursor=cursor).json()
        assert len(page["entries"]) <= 4
        found += [(moment(one["at"]), one["key"]) for one in page["entries"]]
        cursor = page["next"]
        if not cursor:
            break
    keys = {acts.head(account, entry_id).key: at for entry_id, at in should.items()}
    assert {key: at for at, key in found} == keys
    assert [at for at, _ in found] == sorted(keys.values())


def test_who_falls_is_told_with_the_tier_then(account, bot, now):
    for n in range(50):
        often = acts.put(account, n, key=f"often{n}", confidence=0.6, now=now - 2 * DAY).entry_id
        recalls.write(account.pk, DEFAULT, [Read(often, 1, acts.BOB, "", now - 2 * DAY, 200)] * 3)
    acts.put(account, 1, key="fresh", confidence=1.0, now=now)
    jobs.retier(account, now)
    page = bot.get("forecast", kind="fall", days=30).json()
    assert [(one["key"], one["tier"], one["tier_then"]) for one in page["entries"]] == [("fresh", 1, 2)]
    assert next(one for one in bot.get("forecast").json()["within"] if one["days"] == 30)["left_tier"] == 1


def test_what_a_caller_may_not_see_is_in_no_count(account, bot, helper, stranger, now):
    acts.put(account, confidence=0.31, key="mine", shared=False, by="agent/deploy-bot", now=now)
    assert bot.get("forecast").json()["within"][1]["under_review"] == 1
    assert [one["key"] for one in bot.get("forecast", kind="review").json()["entries"]] == ["mine"]
    for other in (helper, stranger):
        assert other.get("forecast").json()["within"][2]["under_review"] == 0
        assert other.get("forecast", kind="review", days=90).json()["entries"] == []
        assert other.get("forecast", entity_path="shop", key="mine").status_code == 404


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"kind": "dance"}, 422),
        ({"days": "0"}, 422),
        ({"days": "soon"}, 422),
        ({"kind": "review", "cursor": "x"}, 400),
        ({"entity_path": "shop"}, 422),
        ({"entity_path": "shop", "key": "nothing"}, 404),
    ],
)
def test_what_cannot_be_asked_is_refused(account, bot, query, status):
    assert bot.get("forecast", **query).status_code == status
