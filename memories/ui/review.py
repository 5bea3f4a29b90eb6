"""The review queue: what waits, one item of it open with all a reviewer decides by, and what each decision would do."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_safe

from memories import reads
from memories.changes import moves
from memories.changes.moves import Titled
from memories.entry import comparison, history
from memories.entry.comparison import Field
from memories.queue import review as queue
from memories.queue import review_item
from memories.queue.review_item import Aside, Detail
from memories.rows import Row
from memories.rules import diff
from memories.rules.decisions import Word
from memories.rules.diff import Piece
from memories.rules.kinds import MemoryType
from memories.services import foresight, marks
from memories.services.foresight import Would
from memories.services.marks import Claim
from memories.ui import queue_address
from memories.ui.people import viewer_of
from memories.ui.queue_address import Asked
from memories.viewers import Viewer
from senselab import addresses
from senselab.addresses import Problem
from senselab.cursors import BadCursor
from senselab.errors import NotFound, Refusal
from senselab.ui import DECIDING, for_people, render_page

FIELDS = 40
RECENT = timedelta(hours=12)
DECIDED = 5
CHOICES = {
    "reasons": queue_address.REASONS,
    "ages": {word: words for word, (words, _) in queue_address.AGES.items()},
    "sorts": queue_address.SORTS,
    "types": [word.value for word in MemoryType],
}


@dataclass(frozen=True, slots=True)
class News:
    """What stands above the item: a refusal, with what was typed, and what somebody else did to an entry meanwhile.

    `seen` is the version the refused decision was about, `since` what differs in the value from it to the present one.
    """

    refusal: Refusal
    typed: QueryDict
    other: Row | None = None
    seen: int | None = None
    since: list[Field] | None = None

    @property
    def seen_number(self) -> str:
        return str(self.seen)


@dataclass(frozen=True, slots=True)
class Open:
    """The item that is open: its detail, what decisions would do, who has it, and the items beside it in the list."""

    detail: Detail
    would: dict[str, Would]
    claim: Claim | None
    previous: int | None
    next: int | None
    is_listed: bool
    # Known where a form shows some of it.
    aside: Aside | None = None

    @property
    def row(self) -> Row:
        return self.detail.row

    @property
    def is_text(self) -> bool:
        return self.row.value.startswith('"')

    @property
    def editable(self) -> str:
        """Return the value as a person edits it: a text as its words, anything else as indented JSON."""
        return editable(self.row.value)

    @property
    def fields(self) -> list[Field]:
        return comparison.fields(self.detail.changes[:FIELDS])

    @property
    def words(self) -> list[Piece]:
        """Return two texts woven into one; none unless both versions are texts."""
        old = self.detail.against
        if old is None or not self.detail.changes or not (self.is_text and old.value.startswith('"')):
            return []
        return diff.word_diff(*(msgspec.json.decode(row.value) for row in (old, self.row)))

    @property
    def old_number(self) -> str:
        return str(self.detail.against.version) if self.detail.against else ""

    @property
    def new_number(self) -> str:
        return str(self.row.version)

    @property
    def coming(self) -> int:
        return self.row.version + 1

    @property
    def waits(self) -> bool:
        """Tell whether it is in the queue; what was put off and is contradicted stands in the list again."""
        return self.is_listed or bool(self.detail.item.reasons and not self.detail.item.snoozed)


def editable(value: str) -> str:
    if value.startswith('"'):
        return str(msgspec.json.decode(value))
    return msgspec.json.format(value, indent=2)


@require_safe
@for_people
def review(request: HttpRequest) -> HttpResponse:
    """Show the queue with one item open; opening it claims it for a minute."""
    now = timezone.now()
    return show(request, queue_address.read(request.GET, now), now)


def show(
    request: HttpRequest, asked: Asked, now: datetime, *, news: News | None = None, status: int = 200
) -> HttpResponse:
    """Return the page, or to htmx its parts, with the item that `asked` names or the first one open.

    :raises NotFound: there is no such entry.
    """
    viewer = viewer_of(request)
    problems = list(asked.problems)
    context: dict[str, Any] = {"asked": asked, "choices": CHOICES, "given": asked.query, "news": news}
    context |= {"problems": problems}
    if not problems:
        try:
            page = queue.page(asked.queue, viewer, now, item=asked.item)
        except BadCursor as error:
            problems.append(Problem("page", f"{error.detail} Start again at the first page."))
        else:
            context |= around(request, asked, viewer, now) | listed(asked, page)
            found = opened(request, asked, page, viewer, now)
            context |= addresses_of(asked, found)
    found = context.get("open")
    part, status = "memories/_review_parts.html", 400 if problems else status
    response = render_page(request, "memories/review.html", part=part, context=context, status=status)
    response["HX-Push-Url"] = asked.address(item=found.row.entry_id if found else None, how=asked.how)
    return response


def addresses_of(asked: Asked, found: Open | None) -> dict[str, Any]:
    """Return the item that is open with the addresses that lead on from it."""
    if found is None:
        return {"open": None}
    here = asked.address(item=found.row.entry_id)
    return {
        "open": found,
        "here": here,
        "how_url": f"{here}&how=",
        "evidence_url": asked.address("evidence", item=found.row.entry_id),
        "decide_url": asked.address("decide"),
        "previous_url": asked.address(item=found.previous),
        "following_url": asked.address(item=found.next),
    }


def around(request: HttpRequest, asked: Asked, viewer: Viewer, now: datetime) -> dict[str, Any]:
    """Return what stands around the list: how many wait for what, and what this person just decided."""
    counts = queue.counts(asked.queue, viewer, now)
    request.nav_counts = {"review": lambda: queue.COUNTED if counts.total is None else counts.total}  # type: ignore[attr-defined]
    return {
        "bulk_url": asked.address("bulk"),
        "total": counted(counts.total),
        "matching": queue.matching(asked.queue, viewer, now) if counts.matching is None else counts.matching,
        "by_reason": [
            (word, queue_address.REASONS[word], counted(number)) for word, number in counts.by_reason.items()
        ],
        "decided": decided_lately(request, viewer, now),
    }


def counted(number: int | None) -> str:
    return f"{queue.COUNTED:,}+" if number is None else f"{number:,}"


def decided_lately(request: HttpRequest, viewer: Viewer, now: datetime) -> list[Titled]:
    """Return what this person decided in the last hours and did not take back, newest first."""
    if request.role not in DECIDING:  # type: ignore[attr-defined]
        return []
    name = request.user.get_username()
    page = moves.listed(viewer, kind="decision", actor=name, since=now - RECENT, limit=4 * DECIDED)
    return [one for one in page.rows if one.change_set.undone_by_id is None][:DECIDED]


def listed(asked: Asked, page: queue.Page) -> dict[str, Any]:
    """Return the list with the addresses of its items."""
    return {
        "items": [(item, asked.address(item=item.row.entry_id)) for item in page.items],
        "first_url": asked.start.address() if asked.queue.cursor else "",
        "next_url": addresses.page_after(asked.filters, page.next),
    }


def opened(request: HttpRequest, asked: Asked, page: queue.Page, viewer: Viewer, now: datetime) -> Open | None:
    """Return the item that is asked for, else the first of the list; claimed for a minute by whoever may decide.

    :raises NotFound: there is no such entry.
    """
    item = page.open
    if item is None:
        if asked.item is not None:
            raise NotFound("There is no such entry.")
        return None
    ids, entry_id = [one.row.entry_id for one in page.items], item.row.entry_id
    detail = review_item.detail(viewer, item)
    claim = None
    if request.role in DECIDING:  # type: ignore[attr-defined]
        claim = marks.claim(viewer.account_id, entry_id, request.user.get_username(), now)
    elif item.claimed_until is not None:
        claim = Claim(item.claimed_by, item.claimed_until)
    at = ids.index(entry_id) if entry_id in ids else -1
    would = {str(word): one for word, one in foresight.of(viewer, entry_id, now, back=detail.against).items()}
    following = ids[at + 1] if at + 1 < len(ids) else None
    aside = (
        review_item.aside(viewer, item.row, detail.marks, now) if asked.how in (Word.ROLLBACK, Word.SUPERSEDE) else None
    )
    return Open(detail, would, claim, ids[at - 1] if at > 0 else None, following, at >= 0, aside)


@require_safe
@for_people
def evidence(request: HttpRequest) -> HttpResponse:
    """Show who relies on the item that is open, and what was said of it; htmx gets the part for the queue's page.

    :raises NotFound: there is no such entry.
    """
    viewer, now = viewer_of(request), timezone.now()
    asked = queue_address.read(request.GET, now)
    found = reads.entries_by_ids(viewer, [] if asked.item is None else [asked.item])
    if not found:
        raise NotFound("There is no such entry.")
    known = history.landmarks(viewer, found[0].entry_id)
    aside = review_item.aside(viewer, found[0], known, now)
    context = {"row": found[0], "marks": known, "aside": aside, "back": asked.address(item=asked.item)}
    return render_page(request, "memories/evidence.html", part="memories/_review_evidence.html", context=context)


def since(viewer: Viewer, entry_id: int, seen: int) -> list[Field]:
    """Return what differs in the value of an entry from a version somebody saw to the present one.

    :raises NotFound: there is no such entry.
    """
    old = reads.version(viewer, entry_id, seen)
    found = reads.entries_by_ids(viewer, [entry_id])
    if not found:
        raise NotFound("There is no such entry.")
    return comparison.fields(diff.diff(old.value, found[0].value)[:FIELDS]) if old else []
