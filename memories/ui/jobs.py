"""The page of jobs: what each does, did and will do; running one now, counting what it would do, stopping it."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from memories.jobs import JOBS, health, job_reads
from memories.services import running
from memories.ui.people import actor_of, viewer_of
from senselab import addresses
from senselab.accounts.models import Role
from senselab.addresses import Problem, one_of
from senselab.cursors import BadCursor
from senselab.errors import Conflict
from senselab.ui import for_admins, for_people, render_page

KINDS = {"changed": "changed something", "failed": "failed", "asked": "asked for by somebody"}
PARSERS: addresses.Parsers = {
    "job": lambda given: {"job": one_of(JOBS, given.values)[-1]},
    "kind": lambda given: {"kind": one_of(KINDS, given.values)[-1]},
}


@require_safe
@for_people
def jobs(request: HttpRequest) -> HttpResponse:
    """Show every job and the runs there were; htmx gets the jobs alone, every few seconds while one works."""
    account_id, now, query = viewer_of(request).account_id, timezone.now(), request.GET
    lines = job_reads.lines(account_id, now)
    context: dict[str, Any] = {
        "lines": lines,
        "wrong": health.words(account_id, now),
        "works": any(line.under_way for line in lines),
        "may_run": request.role == Role.ADMIN,  # type: ignore[attr-defined]
        "now": now,
        "given": query,
        "kinds": KINDS,
        "all_jobs": JOBS.values(),
    }
    if request.htmx:  # type: ignore[attr-defined]
        return render_page(request, "memories/jobs.html", part="memories/_jobs.html", context=context)
    asked, problems = addresses.parse(query, PARSERS, {}, now)
    context |= {"problems": problems}
    try:
        page = job_reads.history(account_id, cursor=query.get("cursor", ""), **asked)
        context |= {"runs": [(run, JOBS[run.job], job_reads.duration(run)) for run in page.runs]}
        context |= {"next_url": addresses.page_after(query, page.next)}
        context |= {"first_url": addresses.without(query) if "cursor" in query else ""}
    except BadCursor as error:
        problems.append(Problem("page", f"{error.detail} Start again at the first page."))
    return render_page(request, "memories/jobs.html", context=context, status=400 if problems else 200)


@require_POST
@for_admins
def run_job(request: HttpRequest, job: str) -> HttpResponse:
    """Ask for a run of a job, or with `dry` for a count of what it would do."""
    if job not in JOBS or not JOBS[job].schedule or ("dry" in request.POST and not JOBS[job].can_foresee):
        raise Http404
    dry = "dry" in request.POST
    account_id, who = viewer_of(request).account_id, actor_of(request).name
    running.ask(account_id, job, by=who, now=timezone.now(), dry=dry)
    word = JOBS[job].word
    messages.success(request, f"{word}: counting what it would do." if dry else f"{word} will run in a moment.")
    return redirect("jobs")


@require_POST
@for_admins
def cancel_run(request: HttpRequest, run_id: int) -> HttpResponse:
    """Stop a run after its present batch; what it did stays."""
    try:
        running.cancel(viewer_of(request).account_id, run_id, timezone.now())
    except Conflict as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, "It stops after its present batch; what it did so far stays.")
    return redirect("jobs")
