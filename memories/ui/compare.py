"""Two versions of an entry beside each other."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from memories.entry import comparison
from memories.ui import named
from memories.ui.people import viewer_of
from senselab.ui import for_people, render_page


@require_safe
@for_people
def compare(request: HttpRequest) -> HttpResponse:
    """Show what differs from one version to another; by default from the one before to the current one."""
    asked = named.asked(request)
    first, last = (named.version_in(request.GET, name) for name in ("from", "to"))
    shown = comparison.of(viewer_of(request), asked.branch, asked.name, owner=asked.owner, first=first, last=last)
    context = {"comparison": shown, "row": shown.head, "sides": (shown.old, shown.new)}
    return render_page(request, "memories/compare.html", part="memories/_comparison.html", context=context)
