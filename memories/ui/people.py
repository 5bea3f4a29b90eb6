"""Who looks at a page and acts on it: a person, as the domain knows them."""

from django.http import HttpRequest

from memories import viewers
from memories.services.ledger import Actor
from memories.viewers import Viewer


def viewer_of(request: HttpRequest) -> Viewer:
    """Return the viewer a person is in the account they look at: they see everything in it."""
    return viewers.person(request.person_account)  # type: ignore[attr-defined]


def actor_of(request: HttpRequest) -> Actor:
    """Return the person as the one who acts, under their user name."""
    return Actor("person", request.user.get_username(), request_id=request.request_id)  # type: ignore[attr-defined]
