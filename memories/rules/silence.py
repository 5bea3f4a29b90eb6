"""An entry's silence: what is left of its freshness at a moment, and when that will next matter (RULES.md 3 and 4)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memories.rules import decay
from memories.rules.forecast import Forecast, forecast
from memories.rules.lifecycle import Place
from memories.rules.policy import MemoryType, Policy, Status
from memories.rules.state import State

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Silence:
    """The freshness `kept` at the last access, and all that says how fast it wears down from there."""

    state: State
    kept: float
    accessed_at: datetime
    recall_count: int

    def freshness(self, now: datetime, policy: Policy) -> float:
        """Return what is left at `now`, in 0..1]."""
        return decay.freshness(self.kept, self.accessed_at, now, policy=policy, **self._wear())

    def earned(self, now: datetime, policy: Policy) -> float:
        """Return what an access at `now` keeps; one that arrives late changes nothing."""
        return decay.earned(self.kept, self.accessed_at, now, policy=policy, **self._wear())

    def effective(self, now: datetime, policy: Policy) -> float:
        """Return effective confidence at `now`."""
        return decay.effective(self.state.confidence, self.freshness(now, policy))

    def forecast(self, policy: Policy) -> Forecast:
        """Return when this entry goes under review and is archived if nothing happens."""
        place = Place(Status(self.state.status), self.state.held_at)
        return forecast(
            place,
            confidence=self.state.confidence,
            kept=self.kept,
            last_access=self.accessed_at,
            policy=policy,
            **self._wear(),
        )

    def due_at(self, policy: Policy) -> datetime | None:
        """Return the next moment at which silence alone would change the status; None when it never will."""
        due = self.forecast(policy).next_due
        # What was below from the start is so by somebody's word; silence speaks from the first whole day on.
        return None if due is None or self.state.pinned else max(due, self.accessed_at + DAY)

    def _wear(self) -> dict[str, Any]:
        state = self.state
        return {
            "memory_type": MemoryType(state.memory_type),
            "recall_count": self.recall_count,
            "outcome_count": state.outcome_count,
            "positive": state.positive_reinforcement,
            "negative": state.negative_reinforcement,
            "pinned": state.pinned,
        }
