"""What the record suggests to do: act, explore, escalate or abstain (contract.md 3.9)."""

from collections.abc import Mapping, Sequence
from typing import Any

ACT_SHARE, ACT_USES = 0.6, 2
STRAIGHT_LOSSES = 3
PLAN = 5


def recommend(
    priors: Mapping[str, Any],
    candidates: Sequence[str],
    *,
    shifted: bool = False,
    may_abstain: bool = False,
    validated: bool = False,
) -> dict[str, Any]:
    """Return {mode, suggested_action, why, plan, situation_record} from the actions' record."""
    tried = [row for row in priors["tried"] if not candidates or row["action_key"] in candidates]
    beaten = _beaten(priors)
    good = [row for row in tried if _wins(row) and row["action_key"] not in beaten]
    mode, action, why = _decide(tried, good, priors, candidates, shifted)
    if may_abstain and not validated and mode != "act" and not any(row["won"] for row in tried):
        mode, action, why = "abstain", None, "Nothing here was validated, and no action has won on such a task."
    record = priors["situation_record"]
    return {
        "mode": mode,
        "suggested_action": action,
        "why": why,
        "plan": _plan(action, tried, priors["untried"], mode),
        "situation_record": "exact" if record["outcomes"] else "none",
    }


def _wins(row: Mapping[str, Any]) -> bool:
    lost_lately = row["n"] >= STRAIGHT_LOSSES and "won" not in row["last_3"]
    return row["p"] >= ACT_SHARE and row["n"] >= ACT_USES and not lost_lately


def _beaten(priors: Mapping[str, Any]) -> dict[str, str]:
    """Return the actions that failed on a task like this and have not won since, and what resolved it instead."""
    last = {row["action_key"]: row["last_3"][-1] for row in priors["tried"]}
    lost: dict[str, str] = {}
    for contrast in priors["contrasts"]:
        for action in contrast["failed"]:
            if last.get(action) == "lost":
                lost.setdefault(action, contrast["resolved_with"])
    return lost


def _decide(
    tried: Sequence[Mapping[str, Any]],
    good: Sequence[Mapping[str, Any]],
    priors: Mapping[str, Any],
    candidates: Sequence[str],
    shifted: bool,
) -> tuple[str, str | None, str]:
    untried = priors["untried"]
    if good and not shifted:
        best = good[0]
        return "act", best["action_key"], f"It won {best['won']} of {best['n']} here."
    resolved = next((one["resolved_with"] for one in priors["contrasts"] if _open(one, tried, candidates)), None)
    if resolved:
        return "explore", resolved, "It resolved a task like this after something else had failed."
    if candidates and tried and not untried and not any(row["won"] for row in tried):
        return "escalate", None, "Every action there is was tried here, and none has won."
    if shifted and good:
        return "explore", good[0]["action_key"], "It won here, but rules of this scope failed lately: check first."
    won = [row for row in tried if row["won"] and row["last_3"][-1] == "won"]
    if won:
        return (
            "explore",
            won[0]["action_key"],
            f"It won {won[0]['won']} of {won[0]['n']} here, which is little to go by.",
        )
    first = untried[0] if untried else None
    return (
        "explore",
        first,
        "Nothing that was tried here has won; this was not tried." if first else "Nothing is known.",
    )


def _open(contrast: Mapping[str, Any], tried: Sequence[Mapping[str, Any]], candidates: Sequence[str]) -> bool:
    action = contrast["resolved_with"]
    if candidates and action not in candidates:
        return False
    return all(row["last_3"][-1] == "won" for row in tried if row["action_key"] == action)


def _plan(action: str | None, tried: Sequence[Mapping[str, Any]], untried: Sequence[str], mode: str) -> list[str]:
    """Return the order to try actions in: the suggested one, what has won, what was not tried."""
    if mode not in {"act", "explore"}:
        return []
    won = [row["action_key"] for row in tried if row["won"] and row["last_3"][-1] == "won"]
    first = [action] if action else []
    return list(dict.fromkeys([*first, *won, *untried]))[:PLAN]
