"""Local evidence: how an entry did on tasks like this one, whatever its whole record says (contract.md 3.9, 6)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from outcomes.rules.episodes import Near, Scale

RESCUE_USES, RESCUE_SHARE = 2, 0.6
FAILURES_IN_A_ROW = 2
# A lesser likeness may shade a score, but not overturn an order.
TELLING = 0.35
FADE = 0.8
# From here on two tasks are the same kind of task in other words.
SAME = 0.75
BELOW = 0.99
# A failure counts against what was done on a task that is not more alike than the failed one by more than this.
CLOSER = 0.05


@dataclass(frozen=True, slots=True)
class Event:
    """One use of an entry in a task like this one; `resolved_by` are those that did what it did not."""

    at: datetime
    won: bool
    weight: float
    resolved_by: tuple[int, ...] = ()
    # Whether the entry had done well on a task just like that one and on one just like the present one.
    turned: bool = False
    # Whether it resolved a task that something else had failed on before: that tells twice.
    outdid: bool = False
    # How alike that task is to the present one, 0..1.
    similarity: float = 0.0

    @property
    def tells(self) -> bool:
        """Tell whether it is near enough, by its task or by what the entry did before, to overturn an order."""
        return self.weight >= TELLING or self.turned


@dataclass(frozen=True, slots=True)
class Local:
    """What nearby tasks say of an entry: masses, how many there were, and what that counts against its record."""

    success: float
    failure: float
    n: int
    weight: float
    rescues: bool
    fails: bool
    # How alike the most alike task is that it did well on, 0..1; 0 once it failed on such a task.
    worked: float = 0.0

    @property
    def signal(self) -> float:
        """Return the verdict in -1..1."""
        return (self.success - self.failure) / (1 + self.success + self.failure)

    def told(self) -> dict[str, float | int]:
        figures = {"success": self.success, "failure": self.failure, "n": self.n, "weight": self.weight}
        figures |= {"worked": self.worked} if self.worked else {}
        return {name: round(figure, 4) for name, figure in figures.items()}


def events(found: Sequence[Near], since: Mapping[int, datetime], task: str, by: Scale) -> dict[int, list[Event]]:
    """Return what befell each entry, newest first; only what befell its present claim, written at `since`."""
    told: dict[int, list[tuple[Near, bool]]] = defaultdict(list)
    for one in sorted(found, key=lambda near: near.episode.at):
        for use in one.episode.uses:
            if use.entry_id in since and since[use.entry_id] <= one.episode.at:
                told[use.entry_id].append((one, use.won))
    return {entry_id: _events(entry_id, of, task, by) for entry_id, of in told.items()}


def _events(entry_id: int, told: Sequence[tuple[Near, bool]], task: str, by: Scale) -> list[Event]:
    made: list[Event] = []
    homes: list[Near] = []
    for one, won in told:
        episode = one.episode
        instead = () if won else tuple(other for other in episode.resolved_by if other != entry_id)
        turned = bool(instead) and _worked(homes, episode.task, task, by)
        outdid = won and any(not use.won and use.entry_id != entry_id for use in episode.uses)
        made.append(Event(episode.at, won, one.weight, instead, turned, outdid, one.similarity))
        if won:
            homes.append(one)
    return made[::-1]


def _worked(homes: Sequence[Near], failed: str, present: str, by: Scale) -> bool:
    """Tell whether an entry had worked on a task just like the one it failed on, and on one just like the present."""
    return any(by.alike(home.episode.task, failed) >= SAME for home in homes) and any(
        by.alike(home.episode.task, present) >= SAME for home in homes
    )


def local(told: Sequence[Event]) -> Local:
    """Return what nearby events, newest first, say; older ones fade as evidence does."""
    success = failure = 0.0
    for age, event in enumerate(told):
        mass = event.weight * FADE**age
        success, failure = (success + mass, failure) if event.won else (success, failure + mass)
    telling = [event for event in told if event.tells]
    wins = sum(1 + event.outdid for event in telling if event.won)
    uses = wins + sum(not event.won for event in telling)
    newest = telling[:FAILURES_IN_A_ROW]
    n = sum(event.weight for event in told)
    return Local(
        success=success,
        failure=failure,
        n=len(told),
        weight=n / (n + 2),
        rescues=uses >= RESCUE_USES and wins / uses >= RESCUE_SHARE and newest[0].won,
        fails=_keeps_failing(newest) or _never_did(told),
        worked=_worked_on(told),
    )


def _keeps_failing(newest: Sequence[Event]) -> bool:
    return len(newest) == FAILURES_IN_A_ROW and not any(event.won for event in newest)


def _never_did(told: Sequence[Event]) -> bool:
    """Tell whether something else resolved the same kind of task where this failed, and this never resolved one."""
    same = [event for event in told if event.similarity >= SAME]
    return any(event.resolved_by for event in same) and not any(event.won for event in same)


def _worked_on(told: Sequence[Event]) -> float:
    """Return how alike the most alike task is that an entry did well on, and since then badly on none as alike."""
    best = failed = 0.0
    for event in told:
        if not event.tells:
            continue
        if not event.won:
            failed = max(failed, event.similarity)
        elif event.similarity > failed + CLOSER:
            best = max(best, event.similarity)
    return best


def beaten(told: Mapping[int, Sequence[Event]]) -> list[tuple[datetime, int, tuple[int, ...]]]:
    """Return (when, entry, those that resolved the task instead), oldest first.

    Only an entry whose newest telling event is such a failure is beaten: a success since then takes it back. Of those
    that resolved it only the ones that have not failed since are named.
    """
    newest = {entry_id: next((event for event in of if event.tells), None) for entry_id, of in told.items()}
    lost = []
    for entry_id, event in newest.items():
        if event is None or event.won:
            continue
        holding = tuple(other for other in event.resolved_by if (last := newest.get(other)) is None or last.won)
        if holding:
            lost.append((event.at, entry_id, holding))
    return sorted(lost)


def ordered(
    scores: Mapping[int, float], told: Mapping[int, Sequence[Event]]
) -> tuple[dict[int, float], dict[int, int]]:
    """Return scores in which what failed stands below what resolved its task, and who stands below whom.

    The two change places rather than the failed one sinking: what worked on such a task must not rank below what was
    never tried on one.
    """
    now, below = dict(scores), {}
    for _, entry_id, resolvers in beaten(told):
        present = [other for other in resolvers if other in now]
        if entry_id not in now or not present:
            continue
        best = max(present, key=lambda other: now[other])
        below[entry_id] = best
        if now[entry_id] >= now[best]:
            now[best] = now[entry_id]
            now[entry_id] *= BELOW
    return now, below
