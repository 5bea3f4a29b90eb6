"""Settings > Data: an account's history as a file, and back from one; its lists for spreadsheets."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from memories.jobs import job_reads
from memories.services import uploads
from memories.transfer import leaving, tabular
from memories.transfer.lists import LISTS, WORDS
from memories.ui.people import actor_of, viewer_of
from senselab.accounts import audit
from senselab.errors import Refusal
from senselab.holding import exports
from senselab.ui import for_admins, render_page


@require_safe
@for_admins
def data(request: HttpRequest) -> HttpResponse:
    """Show what can be taken along, and how far what arrives has come; htmx asks again while it does."""
    return render_page(request, "memories/data.html", part="memories/_arrival.html", context=shown(request))


def shown(request: HttpRequest) -> dict[str, Any]:
    account = request.person_account  # type: ignore[attr-defined]
    run = job_reads.latest(account.pk, "import")
    works = run is not None and run.state in {"waiting", "running"}
    return {
        # Nothing of what arrives shows before all of it is here, and counting every table each time is dear.
        "lines": None if works else leaving.size(account.pk),
        "lists": WORDS.items(),
        "run": run,
        "progress": job_reads.progress(run) if run else None,
        "works": works,
        "may_run": True,
    }


@require_safe
@for_admins
def export_data(request: HttpRequest) -> HttpResponse:
    """Send the account's whole history, as it is read."""
    account = request.person_account  # type: ignore[attr-defined]
    pieces = exports.hold(leaving.export(account), account.pk)
    note(request, "exported", "history")
    return download(pieces, f"{account.slug}.jsonl", "application/jsonl")


@require_safe
@for_admins
def export_list(request: HttpRequest, name: str) -> HttpResponse:
    """Send one list of the account as CSV."""
    if name not in LISTS:
        raise Http404
    account = request.person_account  # type: ignore[attr-defined]
    pieces = exports.hold(tabular.pieces(account, name, timezone.now()), account.pk)
    note(request, "exported", f"list of {name}")
    return download(pieces, f"{account.slug}-{name}.csv", "text/csv; charset=utf-8")


def note(request: HttpRequest, action: str, target: str) -> None:
    """Tell the audit trail what left or came."""
    if request.method != "HEAD":
        account = request.person_account  # type: ignore[attr-defined]
        audit.record(account.pk, action, by=audit.who_of(request), at=timezone.now(), target=target)


def download(pieces: Iterator[bytes], name: str, kind: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Accel-Buffering": "no"}
    answer: Any = StreamingHttpResponse(pieces, content_type=kind, headers=headers)
    return answer


@require_POST
@for_admins
def import_data(request: HttpRequest) -> HttpResponse:
    """Keep an uploaded history for the worker, which takes it in whole or not at all."""
    file = request.FILES.get("file")
    if file is None:
        messages.error(request, "Choose a file first: one that was downloaded here, or written by export_account.")
        return redirect("data")
    account_id, who = viewer_of(request).account_id, actor_of(request).name
    try:
        kept = file.chunks(uploads.PIECE)
        with transaction.atomic():
            uploads.keep(account_id, kept, name=file.name or "", by=who, now=timezone.now())
            note(request, "imported", f"history from {file.name}")
    except Refusal as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, "The file is here; the worker takes it in now.")
    return redirect("data")
