"""When two values say the same, and what a rewrite keeps (RULES.md 7, contract.md 3.4)."""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from memories.rules.policy import Status
from memories.rules.standing import Standing

_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
# Longer numbers stay in scientific form: 1e300 must not become three hundred digits in memory.
_PLAIN_DIGITS = 100
# No stored string holds NUL (names.py), so what starts with it can be told from any string.
_MARK = "\0"


def normal_form(json_text: str) -> bytes:
    """Return the bytes that are equal for two JSON texts exactly when they make the same claim.

    Key order and the spelling of numbers do not matter (1, 1.0 and 1e0 are one number, compared exactly at any size);
    true is not 1. Two structured lessons make the same claim when situation (case and space folded), action and
    worked are equal, whatever their text. Of a key that appears twice the last counts.

    :raises ValueError: the text is not JSON.
    """
    value = json.loads(json_text, parse_int=exact_number, parse_float=exact_number)
    lesson = _lesson(value)
    return json.dumps(value if lesson is None else lesson, sort_keys=True, separators=(",", ":")).encode("ascii")


def claim_digest(json_text: str) -> bytes:
    """Return 32 bytes that are equal for the same claim, to be stored beside it."""
    return hashlib.sha256(normal_form(json_text)).digest()


def same_claim(a: str, b: str) -> bool:
    """Tell whether two JSON texts make the same claim."""
    return a == b or normal_form(a) == normal_form(b)


def exact_number(text: str) -> int | str:
    """Return the one form of a JSON number: an integer where it is one, else marked digits and exponent."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"not a number: {text[:40]}")
    sign, whole, fraction, exponent = match.groups()
    digits = (whole + (fraction or "")).lstrip("0")
    stripped = digits.rstrip("0")
    if not stripped:
        return 0
    power = int(exponent or 0) - len(fraction or "") + len(digits) - len(stripped)
    if power >= 0 and len(stripped) + power <= _PLAIN_DIGITS:
        return int(sign + stripped + "0" * power)
    return f"{_MARK}{sign}{stripped}e{power}"


def _lesson(value: Any) -> list[Any] | None:
    """Return what a structured lesson claims, None for anything else."""
    if not isinstance(value, dict) or value.get("kind") != "lesson":
        return None
    situation, action, worked = value.get("situation"), value.get("action"), value.get("worked")
    if not isinstance(situation, str) or not isinstance(action, str) or not isinstance(worked, bool):
        return None
    folded = " ".join(situation.split()).lower()
    if not folded or not action.strip():
        return None
    return [f"{_MARK}lesson", folded, action.strip(), worked]


@dataclass(frozen=True, slots=True)
class Carried:
    """What the version a rewrite makes starts from.

    `kept` tells whether the record was kept; if not, freshness starts at 1, a hold ends and evidence is empty.
    `status` is the one before thresholds: hand it to `lifecycle.settle` with RESTATED if kept, else CLAIMED.
    """

    kept: bool
    standing: Standing
    status: Status
    superseded_by: str | None


def carry_over(
    standing: Standing,
    *,
    status: Status,
    same: bool,
    confidence: float,
    superseded_by: str | None = None,
    evidence_count: int = 0,
    expired: bool = False,
    judged: bool = False,
) -> Carried:
    """Return what a rewrite keeps of an entry (RULES.md 7).

    `same` says whether the claim is; `confidence` is the author's new word; `evidence_count` counts the entry's
    feedback of kind evidence; `judged` says that a person decided about this claim otherwise. The same claim keeps
    everything once it has outcomes, feedback (being superseded is one) or evidence; else, and after expiry, the
    record starts anew. Under review stays under review either way.
    """
    feedback = standing.positive or standing.negative or evidence_count or status == Status.SUPERSEDED
    if same and not expired and (standing.record.outcome_count or feedback or judged):
        return Carried(True, standing, status, superseded_by)
    still_asked = status == Status.UNDER_REVIEW and not expired
    return Carried(False, Standing(confidence), Status.UNDER_REVIEW if still_asked else Status.ACTIVE, None)
