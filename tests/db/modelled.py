"""What an entry is after what was done to it, by the rules as docs/rules.md tells them; nothing here is the product's.

One agent, one branch, nobody waits: freshness is 1 throughout, and no time passes. Written from the words of the
rules and not from the code, so that the two can disagree.
"""

from dataclasses import dataclass, field, replace

SEVERITY = {"success": 1.0, "minor_failure": 1.5, "failure": 2.0, "critical_failure": 3.0}


def under(value: float, threshold: float) -> bool:
    return round(value, 9) < round(threshold, 9)


@dataclass(frozen=True)
class State:
    """A version: the claim, the confidence with the triple behind it, the record, the place in life."""

    value: int
    confidence: float
    status: str = "active"
    held: float | None = None
    prior: float | None = None
    wins: float = 0.0
    losses: float = 0.0
    first_prior: float | None = None
    record_wins: float = 0.0
    record_losses: float = 0.0
    successes: int = 0
    failures: int = 0
    discredited: bool = False
    positive: int = 0
    negative: int = 0

    @property
    def label(self) -> str:
        judged = self.successes + self.failures
        if self.discredited:
            return "discredited"
        if not judged:
            return "untested"
        share = (1 + self.record_wins) / (2 + self.record_wins + self.record_losses)
        holds = (
            not self.failures or (judged >= 2 and not under(share, 0.7)) or (self.successes >= 4 >= 4 * self.failures)
        )
        return "validated" if holds else "contested"


def settled(state: State, cause: str) -> State:
    """Return the state with the status that thresholds leave it after an event."""
    if cause == "kept":
        return replace(state, status="active", held=state.confidence)
    held = state.held
    if cause in {"failure", "rejected", "claimed"} or (held is not None and not under(held - 0.1, state.confidence)):
        held = None
    state = replace(state, held=held)
    if cause == "claimed" and state.status != "under_review":
        state = replace(state, status="active")
    if state.status in {"superseded", "archived"} or held is not None:
        return state
    if under(state.confidence, 0.1) and cause not in {"claimed", "restated"}:
        return replace(state, status="archived")
    if state.status == "under_review":
        lifted = cause == "success" and not under(state.confidence, 0.5)
        return replace(state, status="active" if lifted else "under_review")
    return replace(state, status="under_review" if under(state.confidence, 0.3) else "active")


def written(old: State | None, value: int, confidence: float) -> State:
    if old is None:
        return settled(State(value, confidence), "claimed")
    if old.value == value and old.prior is not None:
        return settled(settled(old, "decay"), "restated")
    return settled(State(value, confidence, "under_review" if old.status == "under_review" else "active"), "claimed")


def moved(old: State, kind: str, *, keys: int, causal: float) -> State:
    """Return the state after one outcome over so many entries."""
    old = settled(old, "decay")
    good = kind == "success"
    first_strike = not good and not old.failures and old.successes >= 3
    surprise = 1.0 if first_strike else 1 + abs((1.0 if good else 0.0) - old.confidence)
    weight = SEVERITY[kind] * causal / keys * surprise
    prior = old.confidence if old.prior is None else old.prior
    wins, losses = 0.8 * old.wins + weight * good, 0.8 * old.losses + weight * (not good)
    confidence = min(1.0, max(0.0, (2 * prior + wins) / (2 + wins + losses)))
    low = under(confidence, 0.5)
    new = replace(
        old,
        confidence=confidence,
        prior=prior,
        wins=wins,
        losses=losses,
        first_prior=old.confidence if old.first_prior is None else old.first_prior,
        record_wins=0.8 * old.record_wins + weight * good,
        record_losses=0.8 * old.record_losses + weight * (not good),
        successes=old.successes + good,
        failures=old.failures + (not good),
        discredited=low and (old.discredited or not good),
    )
    return settled(new, "success" if good else "failure")


def rebased(state: State, confidence: float) -> State:
    """Return the state with a triple whose posterior is exactly this confidence."""
    prior = (confidence * (2 + state.wins + state.losses) - state.wins) / 2
    wins, losses = state.wins, state.losses
    if prior > 1:
        prior = 1.0
        losses = 0.0 if confidence == 1 else losses
        wins = wins if confidence == 1 else max(0.0, (confidence * (2 + losses) - 2) / (1 - confidence))
    elif prior < 0:
        prior = 0.0
        wins = 0.0 if confidence == 0 else wins
        losses = losses if confidence == 0 else max(0.0, wins / confidence - 2 - wins)
    return replace(state, confidence=confidence, prior=prior, wins=wins, losses=losses)


def accepted(old: State) -> State:
    new = rebased(old, min(1.0, old.confidence + 0.1))
    return settled(replace(new, positive=old.positive + 1), "kept")


def rejected(old: State) -> State:
    old = settled(old, "decay")
    new = rebased(old, max(0.0, old.confidence - 0.2))
    return settled(replace(new, negative=old.negative + 1), "rejected")


@dataclass
class Store:
    """Entries by key, each with all its versions, and what each change set made of which."""

    versions: dict[str, list[State]] = field(default_factory=dict)
    sets: list[dict[str, int]] = field(default_factory=list)

    def head(self, key: str) -> State:
        return self.versions[key][-1]

    def write(self, key: str, value: int, confidence: float) -> None:
        old = self.versions.get(key, [])
        self._keep({key: written(old[-1] if old else None, value, confidence)})

    def report(self, kind: str, keys: list[str], causal: float) -> None:
        self._keep({key: moved(self.head(key), kind, keys=len(keys), causal=causal) for key in keys})

    def accept(self, key: str) -> None:
        self._keep({key: accepted(self.head(key))})

    def reject(self, key: str) -> None:
        self._keep({key: rejected(self.head(key))})

    def roll_back(self, key: str, number: int) -> None:
        self._keep({key: settled(self.versions[key][number - 1], "kept")})

    def undo(self, number: int) -> int:
        """Take a change set back; return the status of the answer."""
        made = self.sets[number]
        free = {key: at for key, at in made.items() if len(self.versions[key]) == at}
        if not free:
            return 412 if len(made) == 1 else 409
        self._keep({key: self._before(key, at) for key, at in free.items()})
        return 200

    def _before(self, key: str, at: int) -> State:
        if at > 1:
            return self.versions[key][at - 2]
        return replace(self.versions[key][0], status="archived", held=None)

    def _keep(self, states: dict[str, State]) -> None:
        for key, state in states.items():
            self.versions.setdefault(key, []).append(state)
        self.sets.append({key: len(self.versions[key]) for key in states})
