"""What an entry hangs together with: a picture with its list, and what relied on it, directly or not."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from memories.entry import portrait
from memories.ui import named
from memories.ui.people import viewer_of
from outcomes.graph import connections as graph
from outcomes.graph.connections import Connections
from senselab import drawings, marks
from senselab.drawings import Node
from senselab.templatetags.look import entry_address
from senselab.ui import for_people, render_page

# So many stand on each side of the picture; the list has the others.
DRAWN = 6


@require_safe
@for_people
def connections(request: HttpRequest) -> HttpResponse:
    """Show what an entry stands on and what stands on it; htmx gets the part for the entry's own page."""
    asked = named.asked(request)
    viewer = viewer_of(request)
    row = portrait.found(viewer, asked.branch, asked.name, asked.owner)
    found = graph.of(viewer, row, timezone.now())
    context = {
        "row": row,
        "found": found,
        "reach": found.reach,
        "picture": picture(found),
        "shown": graph.SHOWN,
        "steps": graph.STEPS,
        "days": graph.WINDOW.days,
    }
    return render_page(request, "outcomes/connections.html", part="outcomes/_connections.html", context=context)


def picture(found: Connections) -> SafeString:
    """Return the picture: at the left what the entry stands on, at the right what stands on it."""
    row = found.row
    before = [agent_node(row.agent_id, "wrote it")]
    before += [reference_node(one.text, one.entry) for one in found.refers_to]
    after = [entry_node(entry) for entry in found.reach.direct[:3]]
    after += [outcome_node(one) for one in found.reach.outcomes[: DRAWN - len(after) - 1]]
    after += [agent_node(one.agent_id, "read it") for one in found.readers if one.agent_id != row.agent_id]
    centre = Node(marks.TYPES.get(row.state.memory_type, "quote"), row.key, "", row.entry_key)
    return drawings.web(centre, before[:DRAWN], after[:DRAWN])


def agent_node(agent_id: str, what: str) -> Node:
    return Node("bot", agent_id.rpartition("/")[2], reverse("agent", args=[agent_id]), f"agent {agent_id} {what}")


def entry_node(entry: Any) -> Node:
    icon = marks.TYPES.get(entry.memory_type, "quote")
    return Node(icon, entry.key, entry_address(entry), f"entry {entry.entry_key} refers to it")


def reference_node(text: str, entry: dict[str, str] | None) -> Node:
    return Node("link", text.rpartition("/")[2], entry_address(entry) if entry else "", f"it refers to {text}")


def outcome_node(outcome: Any) -> Node:
    good = outcome.outcome_type in ("success", "clean_deploy")
    said = f"outcome {outcome.outcome_ref}: {outcome.outcome_type.replace('_', ' ')}"
    return Node("arrow-up" if good else "arrow-down", outcome.outcome_ref, reverse("outcome", args=[outcome.id]), said)
