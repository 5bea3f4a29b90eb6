"""The closed lists of words the rules speak in."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class MemoryType(StrEnum):
    """What kind of thing was learned."""

    FACT = "fact"
    BELIEF = "belief"
    EXPERIENCE = "experience"
    PROCEDURE = "procedure"


class Status(StrEnum):
    """The place of an entry in life."""

    ACTIVE = "active"
    UNDER_REVIEW = "under_review"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


class EvidenceStatus(StrEnum):
    """The verdict agents read; outcomes alone move it."""

    UNTESTED = "untested"
    VALIDATED = "validated"
    CONTESTED = "contested"
    DISCREDITED = "discredited"


class OutcomeType(StrEnum):
    """How a task ended: four names and their four aliases, which are kept as sent."""

    SUCCESS = "success"
    MINOR_FAILURE = "minor_failure"
    FAILURE = "failure"
    CRITICAL_FAILURE = "critical_failure"
    CLEAN_DEPLOY = "clean_deploy"
    REGRESSION = "regression"
    P2_INCIDENT = "p2_incident"
    P1_INCIDENT = "p1_incident"


SUCCESSES: Final = frozenset({OutcomeType.SUCCESS, OutcomeType.CLEAN_DEPLOY})

# What an outcome weighs is decided by one of four names; the aliases point to theirs.
GRADES: Final[Mapping[OutcomeType, str]] = {
    OutcomeType.SUCCESS: "success",
    OutcomeType.CLEAN_DEPLOY: "success",
    OutcomeType.MINOR_FAILURE: "minor_failure",
    OutcomeType.REGRESSION: "minor_failure",
    OutcomeType.FAILURE: "failure",
    OutcomeType.P2_INCIDENT: "failure",
    OutcomeType.CRITICAL_FAILURE: "critical_failure",
    OutcomeType.P1_INCIDENT: "critical_failure",
}


class Change(StrEnum):
    """Why a version was written."""

    CREATED = "created"
    WRITTEN = "written"
    OUTCOME = "outcome"
    FEEDBACK = "feedback"
    EVIDENCE = "evidence"
    DECAYED = "decayed"
    EXPIRED = "expired"
    REVIEW = "review"
    ROLLBACK = "rollback"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    ERASED = "erased"


class Model(StrEnum):
    """How outcomes move confidence."""

    EVIDENCE = "evidence"
    MULTIPLICATIVE = "multiplicative"


class DecayKind(StrEnum):
    """How silence wears confidence down."""

    HALF_LIFE = "half_life"
    DAILY_RATE = "daily_rate"


class SecretsRule(StrEnum):
    """What becomes of a value that holds a key or a token."""

    OFF = "off"
    FLAG = "flag"
    REDACT = "redact"
    REFUSE = "refuse"
