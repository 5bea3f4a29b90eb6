"""The list of entries: where they are, which of them, and what each says at a glance."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone

from memories.browsing import Browsed, browse
from memories.rules.kinds import EvidenceStatus, MemoryType, Status
from memories.search import COUNTED
from memories.ui import filters, tree
from memories.ui.filters import Filters
from memories.ui.people import viewer_of
from senselab import addresses, wording
from senselab.ui import for_people, render_page

CHOICES = {
    "types": [word.value for word in MemoryType],
    "statuses": [word.value for word in Status],
    "evidences": [word.value for word in EvidenceStatus],
    "tiers": list(filters.TIERS),
    "prefixes": wording.KEY_PREFIXES,
    "sorts": filters.SORTS,
}


@for_people
def entries(request: HttpRequest) -> HttpResponse:
    """Show a page of entries; what the address asks for and cannot be is said, under 400."""
    now = timezone.now()
    asked = filters.read(request.GET, now)
    context: dict[str, Any] = {"asked": asked, "choices": CHOICES, "given": request.GET}
    if not asked.problems:
        found = browse(asked.search, viewer_of(request), now, without=asked.without)
        context |= shown(request.GET, asked, found) | {"origin": request.build_absolute_uri("/").rstrip("/")}
    status = 400 if asked.problems else 200
    page, part = "memories/entries.html", "memories/_entries.html"
    response = render_page(request, page, part=part, context=context, status=status)
    # A form sends its empty fields as well; the address people copy needs none of them.
    response["HX-Push-Url"] = f"{request.path}{addresses.without(request.GET)}"
    return response


def shown(query: QueryDict, asked: Filters, found: Browsed) -> dict[str, Any]:
    """Return what the page makes of a page of entries."""
    search, last = asked.search, asked.seen + len(found.entries)
    total = f"{COUNTED:,}+" if found.total is None else f"{found.total:,}"
    chip_of = {chip.name: chip for chip in asked.chips}
    return {
        "found": found,
        "tree": tree.of(found.places, search.entity_path),
        "total": total,
        "span": f"{asked.seen + 1:,}{wording.TO}{last:,} of {total}" if found.entries else "",
        "first_url": addresses.without(query) if search.after else "",
        "next_url": addresses.page_after(query, filters.cursor_to(found.next, search.sort, last)),
        "relaxed": [(chip_of[less.name], less.count) for less in found.relaxed if less.count],
    }
