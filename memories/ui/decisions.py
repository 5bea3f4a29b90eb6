"""Deciding about the item that is open, and taking a decision back: each leads on to the next item."""

import json
import math
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from memories import reads
from memories.changes import change_reads
from memories.rows import Row
from memories.rules import names
from memories.rules.decisions import ASKED, Item, Word
from memories.rules.values import Value, read_value
from memories.services import bulk, rollback
from memories.services import review as services
from memories.services.decisions import Decision
from memories.services.review import AT_ONCE, Decided
from memories.services.rollback import Undone
from memories.services.superseding import Replacement
from memories.ui import queue_address
from memories.ui import review as pages
from memories.ui.named import LAST
from memories.ui.people import actor_of, viewer_of
from memories.ui.queue_address import HOWS, Asked
from memories.ui.review import News
from memories.viewers import Viewer
from senselab import addresses
from senselab.addresses import Unfit
from senselab.errors import Conflict, Invalid, NotFound, Refusal, StaleVersion
from senselab.templatetags.look import entry_address
from senselab.ui import for_reviewers

LONGEST_REASON = 2_000
# What was done, before the names of what it was done to.
DONE = {
    Word.ACCEPT.value: "Accepted",
    Word.REJECT.value: "Rejected",
    Word.EDIT.value: "Edited",
    Word.ROLLBACK.value: "Rolled back",
    Word.SUPERSEDE.value: "Superseded",
    Word.ARCHIVE.value: "Archived",
    Word.SNOOZE.value: "Put off",
    Word.PIN.value: "Pinned",
    Word.UNPIN.value: "Unpinned",
    Word.COMMENT.value: "Commented on",
    Word.SEND.value: "Sent to review:",
    Word.RESTORE.value: "Rolled back",
    Word.UNDO.value: "Undo",
}


@require_POST
@for_reviewers
def decide(request: HttpRequest) -> HttpResponse:
    """Decide about one entry as the person saw it, and show the next.

    Who decides about what somebody else has just decided gets 409, their result and the next item; who looked at what
    is no longer the current version gets 412, the new differences, and all they typed.
    """
    asked, form = queue_address.read(request.GET, timezone.now()), request.POST
    item = item_of(form)
    row = row_of(viewer_of(request), item.entry_id)
    try:
        decision = decision_of(form, row)
        decided = services.decide(
            viewer_of(request),
            [item],
            decision,
            actor=actor_of(request),
            author=request.user.get_username(),
            now=timezone.now(),
            reason=reason_of(form),
        )
    except (StaleVersion, Conflict, Invalid) as refusal:
        return refused(request, asked, item, refusal)
    tell(request, asked, decision, decided, row)
    return led_on(request, asked, row, decision)


def led_on(request: HttpRequest, asked: Asked, row: Row, decision: Decision) -> HttpResponse:
    """Show the next item; after a comment the same one, from an entry's page that page again."""
    if request.POST.get("back") == "entry":
        return redirect(entry_address(row))
    asked = asked.opening(row.entry_id) if decision.word == Word.COMMENT else following(request, asked)
    if request.htmx:  # type: ignore[attr-defined]
        return pages.show(request, asked, timezone.now())
    return redirect(asked.address(item=asked.item))


def following(request: HttpRequest, asked: Asked) -> Asked:
    """Return the queue with the item open that stood after the one decided about; after the last, from its start."""
    number = whole(request.POST, "next")
    return asked.start if number is None else asked.opening(number)


def refused(request: HttpRequest, asked: Asked, item: Item, refusal: Refusal) -> HttpResponse:
    """Show what stands in the way, with all that was typed; what a colleague decided, above the next item."""
    viewer, now, form = viewer_of(request), timezone.now(), request.POST
    if "decided_by" in refusal.extra:
        news = News(refusal, form, other=row_of(viewer, item.entry_id))
        return pages.show(request, following(request, asked), now, news=news, status=refusal.status)
    news = News(refusal, form)
    if isinstance(refusal, StaleVersion):
        news = News(refusal, form, seen=item.version, since=pages.since(viewer, item.entry_id, item.version))
    how = form.get("decision", "")
    asked = asked.opening(item.entry_id, how if how in HOWS else "")
    return pages.show(request, asked, now, news=news, status=refusal.status)


def tell(request: HttpRequest, asked: Asked, decision: Decision, decided: Decided, row: Row) -> None:
    """Say what was done in a toast, with a way back."""
    if decided.change_set_id is None:
        return
    undo = asked.address("undo_decision", decided.change_set_id, item=row.entry_id)
    to = f" to v{decision.to_version}" if decision.to_version else ""
    messages.success(request, f"{DONE[decision.word]} {row.entry_key}{to}.", extra_tags=f"undo:{undo}")


@require_POST
@for_reviewers
def undo_decision(request: HttpRequest, change_set_id: int) -> HttpResponse:
    """Take a decision back and return to the queue, where its entry has its place again.

    What cannot be taken back is said in a toast. What somebody changed since is listed on the page of the undo.
    """
    asked = queue_address.read(request.GET, timezone.now())
    back = redirect(asked.address(item=asked.item))
    viewer = viewer_of(request)
    found = change_reads.one(viewer, change_set_id) if change_set_id <= queue_address.BIGGEST_ID else None
    if found is None:
        raise NotFound("There is no such change set.")
    try:
        if found.size > AT_ONCE:
            return redirect("bulk_run", undo_as_run(request, change_set_id))
        done = undo(request, change_set_id)
    except (StaleVersion, Conflict) as refusal:
        messages.error(request, f"Not undone: {refusal.detail}")
        return back
    if done.left:
        messages.warning(request, f"{len(done.left):,} changed since and stayed as they are.")
        return redirect("change_set", done.change_set_id)
    words = "1 entry is" if done.restored == 1 else f"{done.restored:,} entries are"
    words = f"Undone: {words} as before." if done.restored else "Undone: what was said is out of sight."
    messages.success(request, words)
    return back


def undo(request: HttpRequest, change_set_id: int) -> Undone:
    viewer = viewer_of(request)
    return rollback.undo(
        viewer, change_set_id, actor=actor_of(request), policy=viewer.policy, reason="", now=timezone.now()
    )


def undo_as_run(request: HttpRequest, change_set_id: int) -> int:
    return bulk.undo(viewer_of(request), change_set_id, actor=actor_of(request), reason="", now=timezone.now())


def item_of(form: QueryDict) -> Item:
    """:raises Invalid: the form does not say which entry, or which version was seen."""
    entry_id, version = whole(form, "entry"), whole(form, "version")
    if entry_id is None or version is None or version > LAST:
        raise Invalid("Say which entry is meant, and which version of it you looked at.", "/version")
    return Item(entry_id, version)


def whole(form: QueryDict, name: str) -> int | None:
    """Return a whole number of a form, None when there is none that could be stored."""
    text = form.get(name, "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
    return number if number is not None and number <= queue_address.BIGGEST_ID else None


def row_of(viewer: Viewer, entry_id: int) -> Row:
    """:raises NotFound: there is no such entry."""
    found = reads.entries_by_ids(viewer, [entry_id])
    if not found:
        raise NotFound("There is no such entry.")
    return found[0]


def reason_of(form: QueryDict) -> str:
    """:raises Invalid: the reason cannot be kept."""
    reason = plain(form, "reason")
    if len(reason) > LONGEST_REASON or "\0" in reason:
        raise Invalid(f"A reason is at most {LONGEST_REASON:,} characters long and holds no NUL.", "/reason")
    return reason


def plain(form: QueryDict, name: str) -> str:
    """Return a text of a form with plain line ends, nothing around it."""
    return form.get(name, "").replace("\r\n", "\n").strip()


def decision_of(form: QueryDict, row: Row | None = None) -> Decision:
    """Return the decision a form asks for; `row` is the entry it is about when it is about one.

    :raises Invalid: it is none, or something it needs cannot be.
    """
    word = form.get("decision", "")
    if word not in {*ASKED, Word.SEND}:
        raise Invalid("Choose a decision.", "/decision")
    by = plain(form, "superseded_by") if word == Word.SUPERSEDE else ""
    new = plain(form, "replacement") if word == Word.SUPERSEDE else ""
    key = row.key if row else ""
    is_edit = word == Word.EDIT
    return Decision(
        word=Word(word),
        value=value_of(form, "value", key) if is_edit else None,
        confidence=share(form.get("confidence", "")) if is_edit else 1.0,
        memory_type=form.get("memory_type", "") if is_edit else "",
        to_version=whole(form, "to") if word == Word.ROLLBACK else None,
        superseded_by=names.clean_reference(by, 0, "/superseded_by") if by else None,
        replacement=Replacement(value_of(form, "replacement", key)) if new else None,
        until=day(form) if word == Word.SNOOZE else None,
        text=plain(form, "text") if word == Word.COMMENT else "",
    )


def value_of(form: QueryDict, name: str, key: str) -> Value:
    """Return what a person typed as a value: words, or JSON where `<name>_as` says so."""
    text = form.get(name, "").replace("\r\n", "\n")
    is_json = form.get(f"{name}_as") == "json"
    return read_value(text if is_json else json.dumps(text, ensure_ascii=False), key=key)


def share(text: str) -> float:
    """:raises Invalid: it is no number from 0 to 1."""
    try:
        value = float(text.strip().replace(",", ".") or "1")
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise Invalid("Confidence is a number from 0 to 1.", "/confidence")
    return value


def day(form: QueryDict) -> datetime | None:
    """:raises Invalid: it is no day."""
    text = form.get("until", "").strip()
    try:
        return addresses.day(text) if text else None
    except Unfit as error:
        raise Invalid(error.detail, "/until") from error
