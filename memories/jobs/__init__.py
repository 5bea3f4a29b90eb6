"""What time does: recalls aside, everything that happens to entries without anybody asking for it.

Each job goes account by account, under an advisory lock of its own, and can be repeated, missed or run twice at once
without changing the result: what it writes follows from the clock and the entries alone.
"""

from datetime import timedelta

from django.db import connection
from django.utils import timezone

from memories.jobs import catalogue, places, policies, refreshing, retaining, tiering
from memories.jobs.accounts import everywhere, in_account
from memories.jobs.asking import asked
from memories.jobs.catalogue import HOURS, JOBS, LONGEST, OFFSETS, SCHEDULES
from memories.jobs.locks import LOCKS, alone
from memories.jobs.places import decayed, expired, transitions
from memories.jobs.refreshing import refresh
from memories.jobs.tiering import retier
from senselab.accounts import leftovers

__all__ = [
    "HOURS",
    "JOBS",
    "LOCKS",
    "LONGEST",
    "OFFSETS",
    "SCHEDULES",
    "alone",
    "asked",
    "catalogue",
    "clear",
    "compare",
    "decay",
    "decayed",
    "embed",
    "everywhere",
    "expire",
    "expired",
    "fold",
    "importance",
    "in_account",
    "places",
    "policies",
    "refresh",
    "refreshing",
    "retain",
    "retier",
    "secrets",
    "tiering",
    "tiers",
    "transitions",
    "verify",
]

KEPT_ANSWERS = timedelta(hours=24)


def expire() -> int:
    """Archive what outlived its time to live. Each minute."""
    return everywhere("expire", places.expire)


def decay() -> int:
    """Move what silence wore down below a threshold, and refresh what lists are sorted by. Each hour."""
    changed = everywhere("decay", places.decay)
    everywhere("refresh", refreshing.refresh)
    return changed


def tiers() -> int:
    """Put first what is likely needed. Twice a minute."""
    return everywhere("retier", tiering.retier)


def fold() -> int:
    """Fold what writes added to the sums, and drop answers kept for repeats that nobody will repeat. Each minute."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM accounts_keptanswer WHERE created_at < %s", [timezone.now() - KEPT_ANSWERS])
    return everywhere("fold", catalogue.fold)


def importance() -> int:
    """Let the evaluator score what nobody scored. Each hour."""
    return everywhere("importance", JOBS["importance"].work)


def embed() -> int:
    """Give what was written vectors. Each minute."""
    return everywhere("embed", JOBS["embed"].work)


def verify() -> int:
    """Check every entry and seal. Each night."""
    return everywhere("verify", JOBS["verify"].work)


def retain() -> int:
    """Delete readings, events and traces that are older than the policy keeps them, whole months first. Each night."""
    retaining.turn_months()
    return everywhere("retain", JOBS["retain"].work)


def clear() -> int:
    """Delete what signing in left behind: sessions that are over, old attempts, used invitations. Each night."""
    return leftovers.clear(timezone.now())


def compare() -> int:
    """Find entries that are alike. Every five minutes."""
    return everywhere("compare", JOBS["compare"].work)


def secrets() -> int:
    """Send to review what seems to hold a key or a token. Each minute."""
    return everywhere("secrets", JOBS["secrets"].work)
