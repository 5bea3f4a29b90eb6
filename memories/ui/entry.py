"""The page of one entry: what it says, how sure one may be of it, and how that came."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from memories.entry import portrait, timeline
from memories.ui import named
from memories.ui.people import viewer_of
from memories.ui.snippets import snippets
from senselab.ui import for_people, render_page


@require_safe
@for_people
def entry(request: HttpRequest) -> HttpResponse:
    """Show an entry in whatever state; `before` asks for versions older than that number."""
    asked = named.asked(request)
    below = named.version_in(request.GET, "before")
    shown = portrait.of(viewer_of(request), asked.branch, asked.name, timezone.now(), owner=asked.owner, below=below)
    context = {
        "entry": shown,
        "row": shown.row,
        "versions": shown.versions,
        "timeline_words": timeline.words(shown.steps, shown.forecast),
        "snippets": snippets(shown.row, request.build_absolute_uri("/").rstrip("/")),
    }
    return render_page(request, "memories/entry.html", part="memories/_versions.html", context=context)


@require_safe
@for_people
def entry_value(request: HttpRequest) -> HttpResponse:
    """Send a value as it was sent to us, the current one or that of a version, however long it is."""
    asked = named.asked(request)
    value = portrait.value(
        viewer_of(request), asked.branch, asked.name, asked.owner, named.version_in(request.GET, "version")
    )
    return HttpResponse(value, content_type="application/json")
