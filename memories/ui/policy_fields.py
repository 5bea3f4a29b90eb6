"""The numbers of a policy as a form: in groups, each with its words, a slider's ends, and what a person typed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memories.rules.kinds import DecayKind, Model, SecretsRule
from memories.rules.policy import Policy
from senselab.errors import Invalid


@dataclass(frozen=True, slots=True)
class Field:
    """A number: its name in the policy, its words, and where a slider begins, ends and stops between."""

    name: str
    words: str
    low: float = 0
    high: float = 1
    step: float = 0.01


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    name: str
    words: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that belong together; those few people touch are folded away."""

    title: str
    fields: tuple[Field | Choice, ...]
    folded: bool = False


MODELS = Choice(
    "model", "Confidence", ((Model.EVIDENCE.value, "weighs evidence"), (Model.MULTIPLICATIVE.value, "multiplies"))
)
DECAYS = Choice(
    "decay", "Wears down by", ((DecayKind.HALF_LIFE.value, "half-life"), (DecayKind.DAILY_RATE.value, "daily rate"))
)
SECRETS = Choice(
    "secrets",
    "A value that holds one is",
    (
        (SecretsRule.OFF.value, "stored; nobody looks"),
        (SecretsRule.FLAG.value, "stored and sent to review"),
        (SecretsRule.REDACT.value, "stored without it"),
        (SecretsRule.REFUSE.value, "refused"),
    ),
)
PROBATION = Choice(
    "probation",
    "New or unbound agents are",
    (("False", "like all others"), ("True", "on probation")),
)
GROUPS = (
    Group(
        "Silence",
        (
            DECAYS,
            Field("base_half_life", "Half-life of a fact, days", 1, 365, 1),
            Field("type_factor_belief", "A belief lasts, times", 0.1, 4, 0.1),
            Field("type_factor_experience", "An experience lasts, times", 0.1, 4, 0.1),
            Field("type_factor_procedure", "A procedure lasts, times", 0.1, 4, 0.1),
            Field("outcome_factor", "With outcomes it lasts, times", 1, 10, 0.1),
            Field("feedback_floor", "Rejected by all it lasts, times", 0.05, 1, 0.05),
            Field("daily_rate", "Daily rate", 0.9, 1, 0.001),
        ),
    ),
    Group(
        "Thresholds",
        (
            Field("archive_below", "Archived below"),
            Field("review_below", "Under review below"),
            Field("return_at", "Back to active from"),
            Field("hold_drop", "A verdict holds for a fall of"),
            Field("discredit_threshold", "A failure discredits below"),
        ),
    ),
    Group(
        "Tiers",
        (
            Field("hot_capacity", "Hot holds", 0, 500, 1),
            Field("warm_capacity", "Warm holds", 0, 2000, 1),
            Field("importance_weight", "Importance weighs", 0, 5, 0.1),
            Field("recency_weight", "Recency weighs", 0, 5, 0.1),
            Field("age_rate", "Ages by, a day", 0, 1, 0.01),
        ),
    ),
    Group("Keys and tokens", (SECRETS,)),
    Group("Probation", (PROBATION, Field("probation_days", "An agent is new for, days", 0, 60, 1))),
    Group(
        "Kept for days (0: for good)",
        (
            Field("keep_readings", "Who read what", 0, 3650, 1),
            Field("keep_events", "Events on timelines", 0, 3650, 1),
            Field("keep_traces", "Traces of tasks", 0, 3650, 1),
        ),
    ),
    Group(
        "Feedback",
        (
            Field("accepted_delta", "An acceptance adds"),
            Field("rejected_delta", "A rejection adds", -1, 0, 0.01),
        ),
    ),
    Group(
        "Outcomes",
        (
            MODELS,
            Field("prior_strength", "The author's word counts, outcomes", 0.5, 20, 0.5),
            Field("mass_decay", "Older evidence keeps, each time"),
            Field("severity_success", "A success weighs", 0, 5, 0.1),
            Field("severity_minor_failure", "A minor failure weighs", 0, 5, 0.1),
            Field("severity_failure", "A failure weighs", 0, 5, 0.1),
            Field("severity_critical_failure", "A critical failure weighs", 0, 10, 0.1),
            Field("verified_weight", "Verified from outside, times", 1, 5, 0.1),
            Field("first_strike_wins", "Wins that forgive a first failure", 0, 20, 1),
        ),
    ),
    Group(
        "The rest",
        (
            Field("label_share", "Validated from a share of"),
            Field("label_outcomes", "over outcomes", 1, 20, 1),
            Field("label_successes", "or from successes", 1, 20, 1),
            Field("label_failures", "with failures at most", 0, 20, 1),
            Field("neutral_mass", "Neutral mass on each side", 0.1, 10, 0.1),
            Field("type_factor_fact", "A fact lasts, times", 0.1, 4, 0.1),
            Field("half_life_cap", "Half-lives counted at most", 1, 64, 1),
            Field("daily_cap", "Days counted at most", 1, 10_000, 1),
            Field("validators", "Validators kept", 0, 100, 1),
            Field("factor_success", "Multiplies: success", 1, 2, 0.01),
            Field("factor_minor_failure", "Multiplies: minor failure"),
            Field("factor_failure", "Multiplies: failure"),
            Field("factor_critical_failure", "Multiplies: critical failure"),
        ),
        folded=True,
    ),
)
FIELDS = {field.name: field for group in GROUPS for field in group.fields}


@dataclass(frozen=True, slots=True)
class Shown:
    """A field as the form shows it: what stands in it, what is in force, and whether it was refused."""

    field: Field | Choice
    value: str
    in_force: str
    refused: bool

    @property
    def is_choice(self) -> bool:
        return isinstance(self.field, Choice)

    @property
    def differs(self) -> bool:
        return self.value != self.in_force


def text(value: Any) -> str:
    """Return a number as a form shows it: 69, 0.99."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def shown(draft: Mapping[str, str], present: Policy, refused: str) -> list[tuple[Group, list[Shown]]]:
    """Return the groups of the form with what stands in each field."""
    in_force = {name: text(value) for name, value in present.as_values().items()}
    return [
        (group, [Shown(one, draft[one.name], in_force[one.name], one.name == refused) for one in group.fields])
        for group in GROUPS
    ]


def typed(query: Mapping[str, str], present: Policy) -> dict[str, str]:
    """Return what stands in each field: what was typed, else what is in force."""
    in_force = present.as_values()
    return {name: query.get(name, text(in_force[name])).strip() for name in FIELDS}


def changes(draft: Mapping[str, str], present: Policy) -> dict[str, Any]:
    """Return what was typed and differs from what is in force, as numbers.

    :raises Invalid: something is no number; the pointer names it.
    """
    in_force = present.as_values()
    return {
        name: value
        for name, typed_text in draft.items()
        if (value := parsed(name, typed_text, in_force[name])) != in_force[name]
    }


def parsed(name: str, typed_text: str, in_force: Any) -> Any:
    """:raises Invalid: it is no number."""
    if isinstance(in_force, str):
        return typed_text
    if isinstance(in_force, bool):
        return typed_text == "True"
    if typed_text == text(in_force):
        return in_force
    try:
        return float(typed_text.replace(",", "."))
    except ValueError as error:
        raise Invalid(f"{FIELDS[name].words}: a number is meant, not “{typed_text[:40]}”.", f"/{name}") from error
