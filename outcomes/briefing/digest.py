"""The lead digest of an entity and the digests beside it, and what of them fits into so many tokens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memories import digests
from memories.figures import Totals
from memories.rows import Row
from memories.viewers import Viewer
from outcomes.briefing import reading, sections
from outcomes.briefing.reading import Read
from outcomes.rules import actions, budget, guidance, shift
from outcomes.rules.actions import Asked

# What matters most when little fits.
ORDER = (
    "regime_shift", "discredited", "hot_context", "procedures", "validated", "tried_here", "explore", "who_to_ask",
    "procedures_not_applicable", "top_keys",
)  # fmt: skip
NARRATIVE = 400


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a briefing is wanted for."""

    entity_path: str | None = None
    branch: str = "main"
    since: datetime | None = None
    compact: bool = False
    limit: int = 10
    max_tokens: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Briefing:
    """Digests, the lead one first; `first` is the entry its hot context begins with."""

    digests: list[dict[str, Any]]
    first: Row | None


def brief(viewer: Viewer, wanted: Wanted, now: datetime) -> Briefing:
    """Return what an agent should know before it begins."""
    read = reading.read(viewer, wanted.entity_path, wanted.branch, now, wanted.since)
    summary = _summary(viewer, wanted, read, now)
    if wanted.max_tokens is not None:
        summary = budget.fit(summary, ORDER, wanted.max_tokens)
    lead = _lead(wanted, summary, now)
    empty = not read.authors and not read.past
    made = [] if empty else [lead]
    if not wanted.compact and wanted.max_tokens is None and wanted.limit > 1:
        made += _beside(viewer, wanted, read, now)
    return Briefing(made[: wanted.limit], _first(summary, read))


def _first(summary: Mapping[str, Any], read: Read) -> Row | None:
    told = summary["hot_context"][:1]
    name = (told[0]["entity_path"], told[0]["key"]) if told else None
    return next((row for row in read.of("hot") if (row.entity_path, row.key) == name), None)


def _summary(viewer: Viewer, wanted: Wanted, read: Read, now: datetime) -> dict[str, Any]:
    policy, most = viewer.policy, sections.SHORT if wanted.compact else sections.WHOLE
    totals = _totals(read)
    best = read.of("hot")
    tally = actions.tally(read.past, Asked(environment=wanted.environment), now)
    turned = [row.entry_key for row in read.of("turned") if _turned(row, now)]
    usable, other = sections.procedures(read.of("procedures"), wanted.environment, most)
    statuses = [row.state.evidence_status for row in [*read.of("validated"), *best]]
    scope = wanted.entity_path or "every entity"
    written = [row.written_at for row in best]
    return {
        "notice": sections.NOTICE,
        "narrative": digests.narrative(scope, totals)[:NARRATIVE],
        "guidance_strength": guidance.strength(statuses, {"tried": tally}, shifted=bool(turned)),
        "regime_shift": shift.told(turned),
        "hot_context": sections.hot(best, now, policy, most),
        "validated": [sections.line(row, policy, most) for row in read.of("validated")],
        "discredited": sections.discredited(read.of("discredited"), read.replaced, policy, most),
        "procedures": usable,
        "procedures_not_applicable": other,
        "tried_here": sections.tried([row for row in tally if _recent(row, wanted.since)]),
        "explore": sections.explore(tally, read.of("discredited"), best),
        "who_to_ask": sections.experts(read.authors, read, viewer.agent_id, wanted.entity_path),
        "consolidation_notice": None,
        "total_keys": totals.entries,
        "top_keys": [row.key for row in best[:5]],
        "agents": [author.agent_id for author in read.authors[:10]],
        "external_sources": [one.agent_id for one in read.authors if one.agent_id.startswith(digests.EXTERNAL)],
        "avg_confidence": round(totals.confidence_avg, 4),
        "last_write": max(written, default=None),
        "outcome_linked": totals.outcome_linked,
        "external_events": sum(one.entries for one in read.authors if one.agent_id.startswith(digests.EXTERNAL)),
    }


def _turned(row: Row, now: datetime) -> bool:
    state = row.state
    last_won = None if state.last_outcome is None else state.last_outcome in ("success", "clean_deploy")
    rule = shift.Rule(state.success_count, state.failure_count, state.evidence_status, last_won, state.last_outcome_at)
    return shift.turned(rule, now)


def _recent(row: Mapping[str, Any], since: datetime | None) -> bool:
    """Tell whether an action was taken since, or still loses."""
    return since is None or row["last_at"] >= since or row["last_3"][-1] == "lost"


def _totals(read: Read) -> Totals:
    return Totals(**{name: sum(getattr(author, name) for author in read.authors) for name in reading.SUMMED})


def _lead(wanted: Wanted, summary: dict[str, Any], now: datetime) -> dict[str, Any]:
    return {
        "digest_type": "entity",
        "scope": wanted.entity_path or "",
        "summary": summary,
        "entry_count": summary["total_keys"],
        "source_agents": summary["agents"],
        "compiled_at": now,
        "staleness_ms": 0,
        "anticipation_score": 1.0,
        "namespace": "default",
        "branch": wanted.branch,
    }


def _beside(viewer: Viewer, wanted: Wanted, read: Read, now: datetime) -> list[dict[str, Any]]:
    """Return a digest of the one who asks and of each who wrote most there."""
    writers = sorted(read.authors, key=lambda one: (one.agent_id != viewer.agent_id, -one.entries, one.agent_id))
    return [
        {
            "digest_type": "agent_brief",
            "scope": author.agent_id,
            "summary": {
                "total_entries": author.entries,
                "entities_written": [wanted.entity_path or author.entity_path],
                "outcomes_committed": sum(one.agent_id == author.agent_id for one in read.past),
                "top_knowledge": [row.key for row in read.of("hot") if row.agent_id == author.agent_id][:5],
            },
            "entry_count": author.entries,
            "source_agents": [author.agent_id],
            "compiled_at": now,
            "staleness_ms": 0,
            "anticipation_score": 0.0,
            "namespace": "default",
            "branch": wanted.branch,
        }
        for author in writers[: wanted.limit - 1]
    ]
