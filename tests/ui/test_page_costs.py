"""What pages with full lists cost in statements and bytes, whatever is asked for; seconds are for make bench-pages."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories import jobs
from memories.rules.kinds import OutcomeType
from outcomes.rules import Attempt
from tests.db import acts
from tests.load.pages import ADDRESSES, BYTES, QUERIES, opened
from tests.ui import story

LONG = {"text": "retry with jitter, then give up " * 60, "tags": ["a", "b"]}
MANY = 60


@pytest.fixture
def filled(account, rex):
    """An account in which every list has more than a page, and one entry a long past."""
    now = timezone.now()
    place = {"path": "org3/service-30", "by": "agent-3", "confidence": 0.95}
    for n in range(MANY):
        acts.put(account, LONG, key=f"note-77{n}", now=story.days_ago(9) + timedelta(minutes=n), **place)
    acts.fill(account, MANY, path="org3/doubtful", by="agent-7", confidence=0.2, now=story.days_ago(8))
    acts.fill(account, MANY, path="org3/ends", by="agent-3", ttl_at=now + timedelta(days=2), now=story.days_ago(1))
    acts.put(account, LONG, path="org3/service-0", key="note-3", now=story.days_ago(3))
    acts.put(account, LONG, path="deep", key="history", confidence=0.6, now=story.days_ago(90))
    tried = tuple(
        Attempt(n, OutcomeType("success" if n % 3 else "failure"), ("deep/history",)) for n in range(1, 2 * MANY)
    )
    acts.told(account, "deep-1", "failure", "deep/history", attempts=tried, now=story.days_ago(60))
    for n in range(MANY):
        acts.told(account, f"task-{n}", "failure", f"org3/service-30/note-77{n}", by=f"agent-{n % 9}", now=now)
    jobs.retier(account, now)
    return account


def test_every_page_takes_few_statements_and_bytes(filled, client_of, rex):
    client, deep = client_of(rex), acts.entry(filled, path="deep", key="history").entry_id
    over = []
    for name, asked in ADDRESSES.items():
        address = asked.replace("item=8", f"item={deep}")
        # What is read once for all pages: how rare words are, folded sums.
        client.get(address)
        cost = opened(client, address)
        if cost.status != 200 or cost.queries > QUERIES or cost.size >= BYTES:
            over.append((name, cost.status, cost.queries, cost.size))
    assert over == []
