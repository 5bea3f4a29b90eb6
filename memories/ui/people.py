"""Who looks at a page and acts on it: a person, as the domain knows them."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from memories import viewers
from memories.queue import review
from memories.queue.review import Queue
from memories.services.ledger import Actor
from memories.viewers import Viewer


def viewer_of(request: HttpRequest) -> Viewer:
    """Return the viewer a person is in the account they look at: they see everything in it."""
    return viewers.person(request.person_account)  # type: ignore[attr-defined]


def actor_of(request: HttpRequest) -> Actor:
    """Return the person as the one who acts, under their user name."""
    return Actor("person", request.user.get_username(), request_id=request.request_id)  # type: ignore[attr-defined]


Handler = Callable[[HttpRequest], HttpResponse]
# The navigation says 99+ of more.
COUNTED = 100


def count_waiting(get_response: Handler) -> Handler:
    """Let the navigation of every page say how many entries wait for a decision; a page that knows sets its own."""

    def handle(request: HttpRequest) -> HttpResponse:
        request.nav_counts = {"review": lambda: waiting(request)}  # type: ignore[attr-defined]
        return get_response(request)

    return handle


def waiting(request: HttpRequest) -> int:
    total = review.counts(Queue(), viewer_of(request), timezone.now(), most=COUNTED).total
    return COUNTED if total is None else total
