"""The policy an account learns by, and what its jobs do; to look at. People change and run them on their pages."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.ageing import policy_reads
from memories.api import time_docs
from memories.api.history import viewer_of
from memories.jobs import health, job_reads
from memories.jobs.job_reads import Line
from memories.models import JobRun
from senselab import api


class PolicyInForce(APIView):
    """The numbers everything follows from."""

    @time_docs.policy
    def get(self, request: Request) -> HttpResponse:
        """Return every number of the policy, and its versions with who set them and why."""
        viewer = viewer_of(request)
        versions = [
            {"version": one.number, "by": one.actor or None, "why": one.reason or None, "at": one.at}
            for one in policy_reads.versions(viewer.account_id)
        ]
        values = {name: value for name, value in viewer.policy.as_values().items() if name not in {"name", "version"}}
        told = {"name": viewer.policy.name, "version": viewer.policy.version, "values": values, "versions": versions}
        return api.answer(told)


class Jobs(APIView):
    """What time does, and whether somebody does it."""

    @time_docs.jobs
    def get(self, request: Request) -> HttpResponse:
        """Return each job with its rhythm, its last and next run, and what is wrong, in words."""
        account_id, now = viewer_of(request).account_id, timezone.now()
        lines = job_reads.lines(account_id, now)
        return api.answer({"health": health.words(account_id, now), "jobs": [line(one) for one in lines]})


def line(one: Line) -> dict[str, Any]:
    return {
        "job": one.job.name,
        "does": one.job.does,
        "every_minutes": one.job.minutes or None,
        "next_at": one.next_at,
        "rests_until": one.rests_until,
        "state": one.last.state if one.last else None,
        "failures": one.last.failures if one.last else 0,
        "last": run(one.last) if one.last else None,
        "running": run(one.under_way) if one.under_way else None,
    }


def run(row: JobRun) -> dict[str, Any]:
    return {
        "id": row.pk,
        "state": row.state,
        "asked_by": row.asked_by or None,
        "started_at": row.started_at,
        "finished_at": row.finished_at,
        "seconds": job_reads.duration(row),
        "looked": row.looked,
        "changed": row.changed,
        "total": row.total,
        "error": row.error or None,
    }
