"""A history worth a page: a rule that held, was rewritten, and failed twice."""

from datetime import timedelta

from django.utils import timezone

from tests.db import acts

GOOD = {"summary": "Retry idempotent calls, at most 3 times with full jitter.", "max": 3, "on": [502, 503, 504]}
BAD = {"summary": "Retry every call, up to 6 times with a fixed pause.", "max": 6, "on": [409, 502, 503, 504]}
NAME = {"path": "shop", "key": "retry"}


def days_ago(days):
    return timezone.now() - timedelta(days=days)


def tell(account):
    """Write it: v1 learned, v2 to v4 successes, v5 rewritten, v6 and v7 failures; return the entry's id."""
    entry_id = acts.put(
        account, GOOD, confidence=0.7, memory_type="belief", reason="payment timeouts", now=days_ago(40)
    ).entry_id
    for number, day in enumerate((36, 31, 25)):
        acts.told(account, f"task-{number}", "success", now=days_ago(day), verified_by="CI" if number == 1 else "")
    acts.put(account, BAD, confidence=0.8, memory_type="belief", by=acts.BOB, reason="retry harder", now=days_ago(12))
    acts.told(account, "deploy-9", "regression", now=days_ago(6.5), causal_confidence=0.4)
    acts.told(
        account,
        "INC-2291",
        "p2_incident",
        "shop/retry",
        "shop/other",
        now=days_ago(4.2),
        causal_confidence=0.5,
        verified_by="pager",
    )
    return entry_id
