"""Pure rules of outcomes: what a report says, and how what was learned is ranked for a task."""

from outcomes.rules.reports import (
    BRANCH_ATTRIBUTE,
    CONCLUSION,
    EVENT_TYPES,
    Attempt,
    Judged,
    Report,
    digest,
    distinct,
    steps,
)

__all__ = [
    "BRANCH_ATTRIBUTE",
    "CONCLUSION",
    "EVENT_TYPES",
    "Attempt",
    "Judged",
    "Report",
    "digest",
    "distinct",
    "steps",
]
