"""Entries whose record is mixed, the outcomes for and against each face to face."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from memories.queue import review_sides
from memories.queue.review_sides import Page
from memories.rules import names
from memories.ui.people import viewer_of
from senselab import addresses, cursors
from senselab.addresses import Problem
from senselab.cursors import BadCursor
from senselab.ui import for_people, render_page

LABELS = {"path": "entity"}
PARSERS: addresses.Parsers = {"path": lambda given: {"entity_path": names.clean_path(given.last.strip())}}


@require_safe
@for_people
def contested(request: HttpRequest) -> HttpResponse:
    """Show contested entries, the most doubtful first."""
    query, now = request.GET, timezone.now()
    asked, problems = addresses.parse(query, PARSERS, LABELS, now)
    chips = [addresses.chip(query, name, LABELS[name], query[name].strip()) for name in LABELS if query.get(name)]
    context = {"problems": problems, "chips": [] if problems else chips, "given": query}
    if not problems:
        try:
            after = after_of(query.get("cursor", ""))
            page = review_sides.page(review_sides.contested(after=after, **asked), viewer_of(request), now)
            context |= {"page": page, "next_url": next_of(request, page)}
            context |= {"first_url": addresses.without(query) if after else ""}
        except BadCursor as error:
            problems.append(Problem("page", f"{error.detail} Start again at the first page."))
    return render_page(request, "memories/contested.html", context=context, status=400 if problems else 200)


def after_of(cursor: str) -> tuple[str, ...]:
    """:raises BadCursor: the cursor cannot be read."""
    if not cursor:
        return ()
    confidence, entry_id = cursors.read(cursor, float, int)
    if not 0 <= confidence <= 1 or not 0 < entry_id < 2**63:
        raise BadCursor("This cursor cannot be read.")
    return (str(confidence), str(entry_id))


def next_of(request: HttpRequest, page: Page) -> str:
    return addresses.page_after(request.GET, cursors.make(*page.next)) if page.next else ""
