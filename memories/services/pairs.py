"""Letting both of two entries that are alike stay as they are."""

from datetime import datetime

from memories.models import AlikePair
from memories.services.acts import Actor
from memories.viewers import Viewer
from senselab.errors import NotFound


def dismiss(viewer: Viewer, one_id: int, other_id: int, *, actor: Actor, now: datetime) -> None:
    """Offer a pair no more, until one of the two says something else.

    :raises NotFound: there is no such pair.
    """
    first, second = sorted((one_id, other_id))
    pairs = AlikePair.objects.filter(account_id=viewer.account_id, one_id=first, other_id=second)
    if not pairs.update(dismissed_by=actor.name, dismissed_at=now):
        raise NotFound("There is no such pair.")
