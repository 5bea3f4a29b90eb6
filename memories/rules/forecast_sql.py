"""forecast.py and lifecycle.py as PostgreSQL expressions: which threshold silence crosses when, and what it does now.

Each argument is an SQL expression over a row. A test holds these and their Python twins to the same answers.
"""

from memories.rules import decay_sql
from memories.rules.decay import NOTHING, daily_cap
from memories.rules.decay_sql import Columns, number
from memories.rules.evidence import DECIMALS
from memories.rules.policy import DecayKind, Policy

HALF_STEP = 0.5 * 10.0**-DECIMALS
# The last moment Python can name; what would come later never comes.
LAST = "timestamptz '9999-12-31 23:59:59.999999+00'"


def status_sql(columns: Columns, *, status: str, held_at: str, effective: str, policy: Policy) -> str:
    """Return the status that thresholds alone leave, given an effective value (lifecycle.settle, cause decay)."""
    held = f"{held_at} IS NOT NULL AND NOT {_at_most(effective, f'{held_at} - {number(policy.hold_drop)}')}"
    return f"""(CASE WHEN {columns.pinned} OR {status} NOT IN ('active', 'under_review') OR ({held}) THEN {status}
        WHEN {decay_sql.below_sql(effective, policy.archive_below)} THEN 'archived'
        WHEN {decay_sql.below_sql(effective, policy.review_below)} THEN 'under_review' ELSE {status} END)"""


def due_sql(columns: Columns, *, confidence: str, status: str, held_at: str, policy: Policy) -> str:
    """Return the next moment at which silence alone would change the status, null for never (Silence.due_at)."""
    line = f"(CASE WHEN {status} = 'active' THEN {number(policy.review_below)} ELSE {number(policy.archive_below)} END)"
    return _moment(columns, line, confidence=confidence, status=status, held_at=held_at, policy=policy)


def archived_sql(columns: Columns, *, confidence: str, status: str, held_at: str, policy: Policy) -> str:
    """Return the moment at which silence alone archives an entry, null for never (Forecast.archived_at)."""
    line = number(policy.archive_below)
    return _moment(columns, line, confidence=confidence, status=status, held_at=held_at, policy=policy)


def _moment(columns: Columns, line: str, *, confidence: str, status: str, held_at: str, policy: Policy) -> str:
    # What a verdict holds waits until it has fallen well below what it was then.
    let_go = _first_day(f"(w.held - {number(policy.hold_drop)})", policy, inclusive=True)
    return f"""(
        SELECT CASE WHEN d.crosses IS NOT NULL AND d.let_go IS NOT NULL
                     AND greatest(d.crosses, d.let_go) <= date_part('day', {LAST} - w.last_access)
                    THEN w.last_access + greatest(d.crosses, d.let_go) * interval '1 day' END
          FROM ({_parts(columns, line, confidence=confidence, status=status, held_at=held_at, policy=policy)}) w,
               LATERAL (SELECT {_first_day("w.line", policy)} AS crosses,
                               CASE WHEN w.held IS NULL THEN 1 ELSE {let_go} END AS let_go OFFSET 0) d
         WHERE w.settles)"""


def _parts(columns: Columns, line: str, *, confidence: str, status: str, held_at: str, policy: Policy) -> str:
    """Return the sub-select that evaluates once what the curve of a row is made of."""
    daily = policy.decay == DecayKind.DAILY_RATE
    life = number(1.0) if daily else decay_sql.half_life_sql(columns, policy)
    outside = decay_sql.feedback_factor_sql(columns, policy) if daily else number(1.0)
    # OFFSET keeps the planner from pasting these expressions wherever they are used.
    return f"""SELECT (CASE WHEN {confidence} >= {number(NOTHING)} THEN {confidence} ELSE 0::float8 END) AS c,
        {columns.kept} AS kept, {life} AS life, {outside} AS outside, {held_at} AS held, {line} AS line,
        {columns.last_access} AS last_access,
        ({status} IN ('active', 'under_review') AND NOT {columns.pinned}) AS settles OFFSET 0"""


def _after(day: str, policy: Policy) -> str:
    """Return effective confidence after so many whole days of silence, from the parts w."""
    floor = number(policy.freshness_floor)
    if policy.decay == DecayKind.DAILY_RATE:
        worn = f"power({number(policy.daily_rate)}, least({day}, {number(daily_cap(policy))}))"
        return f"(w.c * greatest({floor}, w.kept * {worn}) * (CASE WHEN {day} >= 1 THEN w.outside ELSE 1::float8 END))"
    worn = f"power(0.5::float8, least({day} / w.life, {number(policy.half_life_cap)}))"
    return f"(w.c * greatest({floor}, w.kept * {worn}))"


def _first_day(line: str, policy: Policy, *, inclusive: bool = False) -> str:
    """Return the first whole day, from 1 on, on which the curve w is below a line (or, inclusive, at most on it).

    The day is estimated by logarithm and then tried, with the days beside it, as forecast.py does.
    """
    edge = f"(round({line}::numeric, {DECIMALS})::float8 {'+' if inclusive else '-'} {number(HALF_STEP)})"

    def crossed(day: str) -> str:
        value = _after(day, policy)
        return _at_most(value, line) if inclusive else _below(value, line)

    near = f"ceil(ln({edge} / (w.c * w.kept * w.outside)) {_per_day(policy)})"
    return f"""(SELECT CASE WHEN {crossed("0::float8")} THEN 1 WHEN NOT {crossed(_last_day(policy))} THEN NULL
                WHEN {crossed("greatest(n.day - 1, 1)")} THEN greatest(n.day - 1, 1)
                WHEN {crossed("greatest(n.day, 1)")} THEN greatest(n.day, 1) ELSE greatest(n.day + 1, 1) END
          FROM (SELECT CASE WHEN w.c > 0 AND {edge} > 0 THEN {near} ELSE 1 END AS day OFFSET 0) n)"""


def _per_day(policy: Policy) -> str:
    """Return what turns a logarithm of what is left into days."""
    if policy.decay != DecayKind.DAILY_RATE:
        return "/ ln(0.5::float8) * w.life"
    # A rate of 1 wears nothing down: only the first day, with its factor, can cross anything.
    return f"/ ln({number(policy.daily_rate)})" if policy.daily_rate < 1 else "* 0"


def _last_day(policy: Policy) -> str:
    daily = policy.decay == DecayKind.DAILY_RATE
    return number(daily_cap(policy)) if daily else f"ceil({number(policy.half_life_cap)} * w.life)"


def _below(value: str, line: str) -> str:
    return f"(round(({value})::numeric, {DECIMALS}) < round(({line})::numeric, {DECIMALS}))"


def _at_most(value: str, line: str) -> str:
    return f"(round(({value})::numeric, {DECIMALS}) <= round(({line})::numeric, {DECIMALS}))"
