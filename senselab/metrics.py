"""What Prometheus reads: requests, entries, queues, jobs, checks, copies. For this machine, or with a token."""

import hmac
import os
import shutil
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest, multiprocess
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from memories import gauges
from memories.checking import nightly
from memories.figures import Totals
from senselab import measuring
from senselab.accounts.models import Account
from senselab.survival import copies
from senselab.version import VERSION

LOOPBACK = ("127.0.0.1", "::1")
TIERS, EVIDENCE = ("hot", "warm", "cold"), ("untested", "validated", "contested", "discredited")
STATUSES = ("active", "under_review", "superseded", "archived")


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Tell everything as Prometheus reads it; 403 to whoever has no token and stands elsewhere."""
    if not may_read(request):
        return HttpResponse("Send METRICS_TOKEN as a bearer token, or ask from this machine.\n", status=403)
    registry = CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        for one in (measuring.REQUESTS, measuring.DURATIONS, measuring.REFUSED):
            registry.register(one)
    registry.register(Figures(timezone.now()))
    answer = HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
    answer["Cache-Control"] = "no-store"
    return answer


def may_read(request: HttpRequest) -> bool:
    """Tell whether somebody has the token, or stands on this machine with no proxy between."""
    if settings.METRICS_TOKEN:
        given = request.META.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), settings.METRICS_TOKEN.encode())
    behind = "HTTP_X_FORWARDED_FOR" in request.META or "HTTP_FORWARDED" in request.META
    return request.META.get("REMOTE_ADDR") in LOOPBACK and not behind


def gauge(name: str, words: str, labels: list[str], values: list[tuple[list[str], float]]) -> Metric:
    family = GaugeMetricFamily(f"senselab_{name}", words, labels=labels)
    for given, value in values:
        family.add_metric(given, value)
    return family


class Figures(Collector):
    """What the database tells when it is asked."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.slugs = dict(Account.objects.order_by("id").values_list("id", "slug"))

    def collect(self) -> Iterator[Metric]:
        yield gauge("info", "The release that runs.", ["version"], [([VERSION], 1)])
        yield from self.entries()
        yield from self.waiting()
        yield from self.jobs()
        yield from self.checks()
        yield from room(self.now)

    def entries(self) -> Iterator[Metric]:
        totals = [(self.slugs[account], sums) for account, sums in sorted(gauges.totals(list(self.slugs)).items())]
        shown = {
            "entries_by_tier": ("tier", TIERS, "Active entries and those under review, by tier."),
            "entries_by_evidence": ("evidence", EVIDENCE, "Active entries and those under review, by their evidence."),
            "entries_by_status": ("status", STATUSES, "All entries by status."),
        }
        for name, (label, words, said) in shown.items():
            values = [([slug, word], float(counted(sums, word))) for slug, sums in totals for word in words]
            yield gauge(name, said, ["account", label], values)
        recalled = [([slug], float(sums.recalls)) for slug, sums in totals]
        yield gauge("recalls", "How often entries were recalled.", ["account"], recalled)

    def waiting(self) -> Iterator[Metric]:
        since = gauges.waiting_since(list(self.slugs))
        ages = [([self.slugs[account]], (self.now - moment).total_seconds()) for account, moment in since.items()]
        yield gauge("review_oldest_seconds", "How long the oldest entry has been under review.", ["account"], ages)
        queue = gauges.queue()
        age = max(0.0, (self.now - queue.since).total_seconds()) if queue.since else 0.0
        yield gauge("queue_tasks", "Tasks that wait for a worker or are with one.", [], [([], queue.waiting)])
        yield gauge("queue_oldest_seconds", "How long the oldest task is overdue.", [], [([], age)])

    def jobs(self) -> Iterator[Metric]:
        runs = [(self.slugs[run.account_id], run) for run in gauges.last_runs(list(self.slugs))]
        labels = ["account", "job"]
        ended = [([slug, run.job], run.finished_at.timestamp()) for slug, run in runs if run.finished_at]
        took = [
            ([slug, run.job], (run.finished_at - run.started_at).total_seconds())
            for slug, run in runs
            if run.finished_at and run.started_at
        ]
        failures = [([slug, run.job], float(run.failures)) for slug, run in runs]
        yield gauge("job_ended_timestamp_seconds", "When a job last ended.", labels, ended)
        yield gauge("job_seconds", "How long a job's last run took.", labels, took)
        yield gauge("job_failures", "How often a job failed in a row.", labels, failures)

    def checks(self) -> Iterator[Metric]:
        last = [(self.slugs[one.account_id], one) for one in nightly.last_checks(list(self.slugs))]
        found = [([slug], float(one.count)) for slug, one in last]
        at = [([slug], one.at.timestamp()) for slug, one in last if one.at]
        yield gauge("altered", "What did not fit when every entry and seal was last checked.", ["account"], found)
        yield gauge("checked_timestamp_seconds", "When every entry and seal was last checked.", ["account"], at)


def counted(sums: Totals, word: str) -> int:
    return sums.entries - sums.under_review if word == "active" else int(getattr(sums, word))


def room(now: datetime) -> Iterator[Metric]:
    """Yield how much room there is and is taken, and how old the newest copy is."""
    del now
    plain: dict[str, tuple[str, Any]] = {
        "database_bytes": ("How large the database is.", gauges.database_bytes()),
        "disk_free_bytes": ("Room on the disk of the data folder.", shutil.disk_usage(settings.DATA_DIR).free),
    }
    kept = copies.listed(settings.BACKUP_DIR)
    proven = next((copy for copy in kept if copy.proven), None)
    plain["backups"] = ("Copies of the database that are kept.", len(kept))
    if proven is not None:
        plain["backup_timestamp_seconds"] = ("When the newest proven copy was made.", proven.note.made_at.timestamp())
        plain["backup_bytes"] = ("How large the newest proven copy is.", proven.note.bytes)
    for name, (words, value) in plain.items():
        yield gauge(name, words, [], [([], float(value))])
