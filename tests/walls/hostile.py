"""Words made to harm: markup, formulas, and characters that make one text look like another."""

import secrets

from memories.models import Entry
from outcomes.models import Outcome
from senselab.accounts.models import Person
from tests.walls import world
from tests.walls.world import World

# It begins with a letter that passes for a Latin one; names end with what follows, as the world says them.
ALIKE = "\u0430y"
HOSTILE = f"=1\"'><img src=x onerror=hurt()>\u202e\u200bp{ALIKE}"
NAMED = ("path", "key", "other", "third", "agent", "session", "ref", "branch", "ada", "first", "keyname", "bound")
# They turn text round, or nobody sees them.
HIDDEN = frozenset("\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff")


def misleading(text: str, alike: str, names: tuple[str, ...]) -> bool:
    """Tell whether a text has characters nobody sees as they are, or names with a letter that passes for another."""
    return bool(HIDDEN.intersection(text)) or any(f"{alike}-{name}" in text for name in names)


def spoilt(account) -> World:
    """Fill an account with hostile words, and name what of it pages can be asked for."""
    # A test in a browser commits, and its person has the name.
    Person.objects.filter(username=f"{HOSTILE}-ada").update(username=f"before {secrets.token_hex(8)}")
    w = world.found(account, HOSTILE)
    vars(w).update(world.said_with(HOSTILE, {name: vars(w)[name] for name in world.NAMES}))
    w.id = Entry.objects.get(account=account, entity_path=w.path, key=w.key).pk
    w.mine = Entry.objects.get(account=account, entity_path=w.path, key=w.other).pk
    w.outcome = Outcome.objects.get(account=account, outcome_ref=w.ref).pk
    w.uid, w.mine_version = "none", 1
    return w
