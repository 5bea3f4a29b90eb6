"""What is asked of retrieval; one description for the API and the playground."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from memories.rules.kinds import Status
from memories.search import Search
from outcomes.rules import temporal, terms
from outcomes.rules.scoring import DEFAULT, Weights
from outcomes.rules.temporal import Temporal

POOL_TIMES, LEAST_POOL = 10, 150
DISCREDITED_BELOW = 50


@dataclass(frozen=True)
class Question:
    """A task in words, and how it is to be answered."""

    query: str = ""
    entity_path: str | None = None
    descendants: bool = False
    branch: str = "main"
    min_confidence: float = 0.0
    limit: int = 10
    depth: int = 3
    memory_types: tuple[str, ...] = ()
    weights: Weights = DEFAULT
    artifacts: bool = True
    discredited: bool = False
    avoid: bool = False
    adaptive_k: bool = False
    priors: bool = False
    candidates: tuple[str, ...] = ()
    situation: str = ""
    compact: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    abstain: bool = False
    covariates: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def temporal(self) -> Temporal:
        return temporal.read(self.query)

    @cached_property
    def terms(self) -> tuple[str, ...]:
        return terms.asked(self.temporal.text)

    @property
    def pool(self) -> int:
        return max(POOL_TIMES * self.limit, LEAST_POOL)

    def is_about(self, paths: Sequence[str]) -> bool:
        """Tell whether a past task belongs to the entity asked about; without one every task does."""
        path = self.entity_path
        return not path or any(one == path or (self.descendants and one.startswith(f"{path}/")) for one in paths)

    def search(self) -> Search:
        """Return the search whose hits are the candidates; of what is under review only warnings may come."""
        return Search(
            words=self.temporal.text,
            any_word=True,
            entity_path=self.entity_path,
            descendants=self.descendants,
            branch=self.branch,
            statuses=(Status.ACTIVE.value, Status.UNDER_REVIEW.value),
            memory_types=self.memory_types,
            tiers=tuple(range(1, self.depth + 1)) if self.depth < 3 else (),
            min_confidence=self.min_confidence or None,
            artifacts=self.artifacts,
            limit=self.pool,
        )
