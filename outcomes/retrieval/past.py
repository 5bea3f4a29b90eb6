"""Past tasks of an entity, and past tasks that share words with a question: one statement."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from memories.rules.kinds import SUCCESSES
from memories.viewers import Viewer
from outcomes.retrieval.question import Question
from outcomes.rules import preconditions
from outcomes.rules.episodes import Action, Episode, Use
from senselab.pipeline import Query

OF_ENTITY, ALIKE = 200, 100
# Where in a row the paths stand.
PATHS = 9
# So many for each of these are looked at for what the viewer may see.
TIMES = 10
TASK_LETTERS = 2_000
# Of a row that is remembered.
LETTERS = 4_000
GOOD = frozenset(str(word) for word in SUCCESSES)
# The newest that share a word; how alike they are is decided where their terms are weighed. Whether one may be seen is
# asked of those alone, and only when its turn comes: the inner limit lets them be walked through by time.
SHARING = f"""
    (SELECT t.outcome_id, t.entity_path FROM (
        SELECT t.outcome_id, t.entity_path FROM outcomes_tasktext t
         WHERE t.account_id = %(account)s AND t.branch = %(branch)s AND t.terms && %(terms)s::text[]
           AND {{reached}}
         ORDER BY t.at DESC LIMIT {TIMES * ALIKE}) t
      WHERE {{shown}} LIMIT {ALIKE})
"""
AT = f"""
    (SELECT t.outcome_id, t.entity_path FROM (
        SELECT t.outcome_id, t.entity_path FROM outcomes_tasktext t
         WHERE t.account_id = %(account)s AND t.branch = %(branch)s AND {{path}} AND {{reached}}
         ORDER BY t.at DESC LIMIT {TIMES * OF_ENTITY}) t
      WHERE {{there}} LIMIT {OF_ENTITY})
"""
EXACTLY = "t.entity_path = %(path)s"
BELOW = "(t.entity_path = %(path)s OR (t.entity_path >= %(below)s AND t.entity_path < %(beyond)s))"
# What an agent did at a path where it has private entries and the caller sees none is for itself; from another's mouth
# the path is but a guess. OFFSET 0 keeps PostgreSQL from reading all entries of the account for it. Most entities have
# a shared entry first: as a condition of the index, a list of owners would take four times as long.
SHOWN = """(EXISTS (SELECT 1 FROM memories_entry h WHERE h.account_id = %(account)s AND h.branch = %(branch)s
                       AND h.entity_path = t.entity_path
                       AND array_position(%(owners)s::text[], h.owner) IS NOT NULL OFFSET 0)
            OR NOT EXISTS (SELECT 1 FROM memories_entry h
                         JOIN outcomes_outcome w ON w.account_id = h.account_id AND w.agent_id = h.owner
                        WHERE h.account_id = %(account)s AND h.branch = %(branch)s AND h.entity_path = t.entity_path
                          AND w.account_id = %(account)s AND w.id = t.outcome_id OFFSET 0))"""
PAST = f"""
    SELECT o.id, o.outcome_ref, o.committed_at, o.outcome_type, o.agent_id, o.session_id, o.verified_by,
           left(o.task_input, {TASK_LETTERS}), o.situation,
           ARRAY(SELECT t.entity_path FROM outcomes_tasktext t
                  WHERE t.account_id = %(account)s AND t.outcome_id = o.id AND {{reached}}
                    AND (t.entity_path = ANY(a.seen) OR {{shown}})),
           o.actions_taken::text,
           {", ".join(f"o.session_metadata ->> '{name}'" for name in preconditions.NAMES)},
           (SELECT json_agg(json_build_array(f.entry_id, f.step, f.outcome_type))::text FROM memories_effect f
             WHERE f.account_id = %(account)s AND f.outcome_id = o.id AND f.skipped = '')
      FROM (SELECT s.outcome_id, array_agg(s.entity_path) AS seen FROM ({{asked}}) s GROUP BY s.outcome_id) a
      JOIN outcomes_outcome o ON o.account_id = %(account)s AND o.id = a.outcome_id
     ORDER BY o.committed_at DESC, o.id DESC
"""


def query(question: Question, viewer: Viewer) -> Query | None:
    """Return the statement for the past tasks a question may learn from; None where there can be none."""
    parts = []
    path = question.entity_path
    seen = {
        "reached": _or_nothing(f"TRUE{viewer.within('t')}"),
        "shown": "TRUE" if viewer.sees_all else _or_nothing(SHOWN),
    }
    if path:
        # Whether the caller sees something of one entity is asked once for all its tasks.
        there = seen["shown"] if question.descendants else seen["shown"].replace("t.entity_path", "%(path)s::text")
        parts.append(AT.format(path=BELOW if question.descendants else EXACTLY, there=there, **seen))
    if question.terms:
        parts.append(SHARING.format(**seen))
    if not parts:
        return None
    values = {
        **viewer.parameters,
        "branch": question.branch,
        "terms": list(question.terms),
        "path": path,
        "below": f"{path}/",
        "beyond": f"{path}0",
    }
    return PAST.format(asked=" UNION ALL ".join(parts), **seen), values


def _or_nothing(condition: str) -> str:
    """Return a condition on the path a task t was about, which a task about nothing meets as well."""
    return f"(t.entity_path = '' OR ({condition}))"


def episode_of(row: Sequence[Any]) -> Episode:
    """Return what a row of `query` tells."""
    paths = row[PATHS]
    # Long texts seldom come again, and would fill the memory.
    is_short = sum(len(text) for text in row if isinstance(text, str)) <= LETTERS
    made = _episode if is_short else _episode.__wrapped__
    return made(*row[:PATHS], tuple(paths), *row[PATHS + 1 :])


@lru_cache(maxsize=4_096)
def _episode(
    outcome_id: int,
    ref: str,
    at: datetime,
    kind: str,
    agent: str,
    session: str,
    verified: str,
    task: str | None,
    situation: str | None,
    paths: tuple[str, ...],
    actions: str | None,
    *more: str | None,
) -> Episode:
    """Return the episode that a row tells, remembered: the same row is the same episode."""
    *environment, uses = more
    return Episode(
        id=outcome_id,
        ref=ref,
        at=at,
        won=kind in GOOD,
        agent_id=agent,
        session_id=session,
        verified=verified != "",
        task=task or "",
        situation=situation or "",
        paths=paths,
        uses=tuple(Use(entry_id, step, word in GOOD) for entry_id, step, word in _list(uses)),
        actions=tuple(action_of(one) for one in _list(actions) if named(one)),
        environment={n: v for n, v in zip(preconditions.NAMES, environment, strict=True) if v},
    )


def _list(text: str | None) -> list[Any]:
    """Return what a JSON text holds, a list; read here, which takes a fifth of what the database's adapter takes."""
    told = msgspec.json.decode(text) if text else []
    return told if isinstance(told, list) else []


def named(told: Any) -> bool:
    return isinstance(told, dict) and isinstance(told.get("action_key"), str) and told["action_key"] != ""


def action_of(told: Mapping[str, Any]) -> Action:
    attempt = told.get("attempt")
    return Action(told["action_key"], told.get("success") is True, attempt if isinstance(attempt, int) else None)
