"""An agent went wrong: taking back all it wrote since a moment, or sending that to review; one change set."""

from datetime import datetime

from memories.queue import review_wrong
from memories.queue.review_wrong import Suspect
from memories.rules.decisions import Word
from memories.services import bulk
from memories.services.acts import Actor
from memories.services.bulk import Order, Outcome
from memories.services.decisions import Decision
from memories.viewers import Viewer
from senselab.errors import Invalid


def roll_back(viewer: Viewer, asked: Suspect, *, actor: Actor, reason: str, now: datetime) -> Outcome:
    """Put back what they rewrote to the version before, and archive what they created; above 200 entries as a run.

    :raises Invalid: nobody is named, the moment lies ahead, or there is nothing to take back.
    """
    return _act(viewer, asked, Word.RESTORE, actor, reason, now)


def send_to_review(viewer: Viewer, asked: Suspect, *, actor: Actor, reason: str, now: datetime) -> Outcome:
    """Send what they wrote to review, where no outcome takes it out again; above 200 entries as a run.

    :raises Invalid: nobody is named, the moment lies ahead, or there is nothing to send.
    """
    return _act(viewer, asked, Word.SEND, actor, reason, now)


def _act(viewer: Viewer, asked: Suspect, word: Word, actor: Actor, reason: str, now: datetime) -> Outcome:
    asked.check(now)
    items = review_wrong.items(asked, viewer)
    if not items:
        raise Invalid(f"There is nothing to take back of {asked.told()}.", "/since")
    cause = asked.told() if word == Word.RESTORE else str(word)
    order = Order(Decision(word=word), actor, actor.name, reason or asked.told(), cause)
    return bulk.decide(viewer, items, order, now)
