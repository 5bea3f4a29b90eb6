"""What was done on tasks like this one and how it went, and what that suggests to do now (contract.md 3.9, Priors)."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

from outcomes.rules.episodes import Episode, Near, folded

MOST_NEAR = 20
FADE_PER_DAY = 0.9
ELSEWHERE_SHARE = 0.5
LAST = 3
CONTRASTS, TRIED, ELSEWHERE = 8, 20, 12


@dataclass(frozen=True, slots=True)
class Asked:
    """What the actions are wanted for."""

    task: str = ""
    situation: str = ""
    entity_path: str = ""
    candidates: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None


def key_of(tool: str, arguments: Mapping[str, Any] | None) -> str:
    """Return `tool:action` where an argument names the action, else the tool alone."""
    named = dict(arguments or {})
    first = named.get("action")
    if not _names_an_action(first):
        first = next((value for _, value in sorted(named.items()) if _names_an_action(value)), None)
    return f"{tool}:{first}" if first else tool


def _names_an_action(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 40 and not any(sign.isspace() for sign in value)


def tally(record: Sequence[Episode], asked: Asked, now: datetime) -> list[dict[str, Any]]:
    """Return what each action won and lost in a record, what wins first."""
    uses: dict[str, list[tuple[Episode, bool]]] = defaultdict(list)
    for episode in sorted(record, key=lambda one: one.at):
        for action in episode.actions:
            uses[action.key].append((episode, action.won))
    rows = [_row(key, of, asked, now) for key, of in uses.items()]
    return sorted(rows, key=lambda row: (-row["p"], -row["n"], row["action_key"]))


def _row(key: str, uses: Sequence[tuple[Episode, bool]], asked: Asked, now: datetime) -> dict[str, Any]:
    won_w = lost_w = 0.0
    for episode, won in uses:
        weight = FADE_PER_DAY ** max(0.0, (now - episode.at).total_seconds() / 86_400)
        if _elsewhere(episode.environment, asked.environment):
            weight *= ELSEWHERE_SHARE
        won_w, lost_w = (won_w + weight, lost_w) if won else (won_w, lost_w + weight)
    results = [won for _, won in uses]
    told: dict[str, Any] = {
        "action_key": key,
        "won": sum(results),
        "lost": len(results) - sum(results),
        "p": round((won_w + 1) / (won_w + lost_w + 2), 4),
        "n": len(results),
        "last_3": ["won" if won else "lost" for won in results[-LAST:]],
        "last_at": uses[-1][0].at,
        "agents": len({episode.agent_id for episode, _ in uses}),
        "won_w": round(won_w, 4),
        "lost_w": round(lost_w, 4),
        "last_unsolved": not uses[-1][0].won,
    }
    lost_since = next((at for at, won in enumerate(reversed(results)) if won), len(results))
    if lost_since and any(results):
        told["losing_since"] = uses[len(uses) - lost_since][0].at
    if asked.situation:
        told["situation_exact"] = any(folded(e.situation) == folded(asked.situation) for e, _ in uses)
    return told


def _elsewhere(recorded: Mapping[str, str], present: Mapping[str, str] | None) -> bool:
    return any(recorded[name] != value for name, value in (present or {}).items() if value and recorded.get(name))


def contrasts(found: Sequence[Near]) -> list[dict[str, Any]]:
    """Return the tasks like this one where something failed before something else worked, newest first."""
    told: list[dict[str, Any]] = []
    for one in found:
        episode = one.episode
        winner = episode.resolving_action
        failed = [action.key for action in episode.actions if not action.won and action.key != winner]
        if winner and failed:
            told.append(
                {
                    "failed": failed,
                    "resolved_with": winner,
                    "weight": round(one.weight, 4),
                    "task_similarity": round(one.similarity, 4),
                    "committed_at": episode.at,
                    "outcome_ref": episode.ref,
                    "agent_id": episode.agent_id,
                }
            )
    newest: list[dict[str, Any]] = sorted(told, key=itemgetter("committed_at"), reverse=True)
    return newest[:CONTRASTS]


def priors(of_entity: Sequence[Episode], found: Sequence[Near], asked: Asked, now: datetime) -> dict[str, Any]:
    """Return what was tried for a task: its situation's record, else tasks like it, else all of the entity."""
    exact = [one for one in of_entity if asked.situation and folded(one.situation) == folded(asked.situation)]
    here = {one.id for one in of_entity}
    close = [one for one in found if one.episode.id in here][:MOST_NEAR]
    away = [one.episode for one in found if one.episode.id not in here]
    if exact:
        source, record = "situation_record", exact
    elif close:
        source, record = "similar_outcomes", [one.episode for one in close]
    else:
        source, record = "action_stats", list(of_entity)
    tried = tally(record, asked, now)
    known = {row["action_key"] for row in tried}
    return {
        "tried": tried[:TRIED],
        "untried": [action for action in asked.candidates if action not in known],
        "n_outcomes": len(record),
        "n_unsolved": sum(not one.won for one in record),
        "contrasts": contrasts(close),
        "situation_record": {"situation": asked.situation, "outcomes": len(exact)},
        "nearby": {"outcomes": len(close), "by_situation": _by_situation(close)},
        "elsewhere": {"outcomes": len(away), "tried": tally(away, asked, now)[:ELSEWHERE]},
        "neighbourhood": {"best_similarity": round(close[0].similarity, 4) if close else None},
        "source": source,
        "entity_path": asked.entity_path,
    }


def _by_situation(found: Sequence[Near]) -> list[dict[str, Any]]:
    counted = Counter(one.episode.situation for one in found if one.episode.situation)
    return [{"situation": name, "outcomes": n} for name, n in counted.most_common()]
