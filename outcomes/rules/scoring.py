"""What a candidate scores: relevance, modulated by trust and by how new it is (contract.md 3.9, step 8)."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

KEYWORD_WEIGHT = 0.15
TRUST_SHARE = 0.5
HALF_LIFE_DAYS = 30.0
ARTIFACT_FACTOR, PROCEDURE_FACTOR = 0.5, 1.1
RESCUED_CONFIDENCE = 0.5
DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Weights:
    """What a request may weigh otherwise."""

    semantic: float = 0.5
    recency: float = 0.3
    confidence: float = 0.2
    evidence: float = 0.15


DEFAULT = Weights()


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of a candidate for one query; each but `evidence` (-1..1) lies in 0..1."""

    semantic: float
    keyword: float
    confidence: float
    evidence: float
    age_days: float
    is_artifact: bool = False
    is_procedure: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """A score and the parts it was made of."""

    value: float
    signals: Signals
    relevance: float
    trust: float
    recency: float
    factor: float
    weights: Weights
    boost: float = 1.0

    def told(self) -> dict[str, Any]:
        """Return the parts as they travel."""
        parts = {
            "semantic": self.signals.semantic,
            "relevance": self.relevance,
            "recency": self.recency,
            "confidence": self.signals.confidence,
            "keyword": self.signals.keyword,
            "evidence": self.signals.evidence,
            "trust": self.trust,
        }
        return {name: round(part, 4) for name, part in parts.items()}


def days_between(then: datetime, now: datetime) -> float:
    return max(0.0, (now - then).total_seconds() / DAY_SECONDS)


def trust(signals: Signals, weights: Weights = DEFAULT) -> float:
    """Return how far confidence and evidence speak for a candidate, -1..1."""
    whole = weights.confidence + weights.evidence
    if whole <= 0:
        return 0.0
    mean = (weights.confidence * signals.confidence + weights.evidence * signals.evidence) / whole
    return max(-1.0, min(1.0, mean))


def score(signals: Signals, weights: Weights = DEFAULT, boost: float = 1.0) -> Score:
    """Return what a candidate scores; `boost` is what a phrase of time makes recency count more by."""
    relevance = weights.semantic * signals.semantic + KEYWORD_WEIGHT * signals.keyword
    trusted = trust(signals, weights)
    recency = 0.5 ** min(signals.age_days / HALF_LIFE_DAYS, 64.0)
    factor = (ARTIFACT_FACTOR if signals.is_artifact else 1.0) * (PROCEDURE_FACTOR if signals.is_procedure else 1.0)
    value = relevance * (1 + TRUST_SHARE * trusted + weights.recency * boost * recency) * factor
    return Score(max(0.0, value), signals, relevance, trusted, recency, factor, weights, boost)


def with_local(signals: Signals, signal: float, weight: float) -> Signals:
    """Return signals whose evidence is blended with what nearby tasks say, by that evidence's weight."""
    return replace(signals, evidence=(1 - weight) * signals.evidence + weight * signal)
