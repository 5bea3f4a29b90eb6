"""The demo's account: made whole in one transaction, and dropped whole."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction

from memories import figures
from memories.services import dropping
from memories.viewers import person
from outcomes.models import Edge, Event, Outcome, Trace
from senselab.accounts import services as accounts
from senselab.accounts.models import Account, Membership, Person, Role
from senselab.demo.events import DayEnded
from senselab.demo.player import Player
from senselab.demo.script import DAYS, SEED, script
from senselab.demo.traces import PROFILES
from senselab.errors import Conflict

SLUG = "demo"
NAME = "Demo: six weeks of agent life"
# Nobody else can see what this one transaction writes, so it counts its rows itself, now and then.
COUNTED_ON = frozenset({1, 4, 12, DAYS})
ROLES = (Role.VIEWER, Role.REVIEWER, Role.ADMIN)


class NotOurs(Conflict):
    """There is an account of the demo's slug that is not the demo."""


@dataclass(frozen=True, slots=True)
class Made:
    """What there is in the demo: all entries, whatever their status, and all outcomes."""

    entries: int
    outcomes: int


def existing() -> Account | None:
    """Return the demo's account.

    :raises NotOurs: somebody made an account of that slug for something else.
    """
    account = Account.objects.filter(slug=SLUG).first()
    if account is not None and account.name != NAME:
        raise NotOurs(f"The account {SLUG!r} was made by somebody for something else; it is left alone.")
    return account


def made(account: Account) -> Made:
    totals = figures.totals(person(account))
    entries = totals.entries + totals.superseded + totals.archived
    return Made(entries, Outcome.objects.of(account.pk).count())


@transaction.atomic
def seed(now: datetime, *, seed: int = SEED, share: float = 1.0, progress: Callable[[float], None]) -> Made:
    """Make the account and let six weeks happen in it that end at `now`; all of it or nothing.

    Jobs of the running product never see it half made. `progress` is told the day that has been reached.

    :raises AccountExists: there is an account of that slug.
    """
    account = accounts.create_account(SLUG, name=NAME)
    for somebody, role in roles():
        accounts.give_role(somebody, account, role)
    start = now - timedelta(days=DAYS)
    for agent_id, profile in PROFILES.items():
        accounts.describe_agent(account.pk, agent_id, now=start, profile=profile)
    player = Player(account, start)
    for event in script(start, seed=seed, share=share):
        player.play(event)
        progress(event.at)
        if isinstance(event, DayEnded) and event.at in COUNTED_ON:
            analyse()
    player.settle(DAYS)
    return made(account)


def analyse() -> None:
    """Let the planner know how the tables have grown; else it plans joins of hundreds of rows as if of one."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE memories_entry, memories_entryversion, memories_claim, memories_recall")


def roles() -> Iterator[tuple[Person, Role]]:
    """Yield everybody with the highest role they have anywhere; who has none may look."""
    highest: dict[int, int] = {}
    for person_id, role in Membership.objects.values_list("person_id", "role"):
        highest[person_id] = max(highest.get(person_id, 0), ROLES.index(Role(role)))
    for somebody in Person.objects.order_by("id"):
        yield somebody, Role.ADMIN if somebody.is_superuser else ROLES[highest.get(somebody.pk, 0)]


@transaction.atomic
def remove(account: Account) -> None:
    """Drop an account whole: outcomes, entries with their history, then roles, agents, keys and the account itself."""
    dropping.allow(account.pk)
    for table in (Outcome, Trace, Event, Edge):
        table.objects.filter(account=account).delete()
    dropping.drop_entries(account.pk)
    accounts.drop_account(account)
