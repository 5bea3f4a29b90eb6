"""What the clients of the demo's agents tell of their tasks: traces with reads, tool calls, queries and errors."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

from memories.rows import Row
from outcomes.rules import Report
from outcomes.services.tracing import Told
from senselab.demo.cast import CHECKOUT_DEV, DEPLOY_BOT, ONCALL_HELPER, RUNBOOK_IMPORT, SEARCH_TUNER

# One task in so many is told whole; of the others the outcome says what there is.
WHOLE = 3
TOOLS = {
    "deploy-bot": ("deploy", "canary", "rollback", "health_check"),
    "checkout-dev": ("shell", "run_tests", "edit_file", "open_pull_request"),
    "oncall-helper": ("query_metrics", "restart", "page", "read_logs"),
    "search-tuner": ("evaluate", "reindex", "shell"),
    "runbook-import": ("fetch_page", "diff"),
}
RESULTS = ("ok", "12 checks passed", "exit code 0", "p95 198 ms, error rate 0.02 %", "nothing to do", "3 files changed")
FAILURES = ("timed out after 30 s", "exit code 1: connection refused", "2 of 12 checks failed")
CONTEXTS = (
    ("pager", "1 sev2 open, 14 minutes", "PagerDuty"),
    ("release notes", "gateway 2.0 since Monday", "wiki"),
    ("ticket", "A customer was charged twice", "support desk"),
)
PROFILES: dict[str, dict[str, Any]] = {
    DEPLOY_BOT: {"description": "Ships the services and rolls them back", "tags": ["deploys"]},
    CHECKOUT_DEV: {"description": "Changes checkout, payments and the storefront", "tags": ["code"]},
    ONCALL_HELPER: {"description": "Answers the pager and finds causes", "tags": ["incidents"]},
    SEARCH_TUNER: {"description": "Tunes search and the catalog", "tags": ["search"]},
    RUNBOOK_IMPORT: {"description": "Brings runbooks in, every second week", "tags": ["import"]},
}


def is_whole(ref: str) -> bool:
    """Tell whether the client tells a whole trace of a task; drawn from its reference alone."""
    return Random(ref).randrange(WHOLE) == 0


def told(report: Report, read: Sequence[Row], session: str, began: datetime, ended: datetime) -> Told:
    """Return the trace of a task that read some entries between two moments."""
    rng = Random(report.outcome_ref)
    span = ended - began
    calls = [_call(rng, report, began, span, place) for place in range(rng.choice((1, 2, 2, 3, 4)))]
    errors = [_error(call) for call in calls if not call["success"]]
    body: dict[str, Any] = {
        "agent_id": report.agent_id,
        "session_id": session,
        "outcome_ref": report.outcome_ref,
        "outcome_type": str(report.outcome_type),
        "task_input": report.told.get("task_input"),
        "response_text": report.told.get("response_text"),
        "causal_entries": [_entry(rng, row, began, span, place, len(read)) for place, row in enumerate(read)],
        "tool_calls": calls,
        "error_events": errors,
        "query_events": [_query(rng, report, began)],
        "external_contexts": [_context(rng, began, span)] if rng.random() < 0.4 else [],
        "session_metadata": _metadata(rng, report, began, span),
        "session_started_at": began.isoformat(),
        "session_ended_at": ended.isoformat(),
        "session_duration_ms": span.total_seconds() * 1000,
    }
    return Told(
        agent_id=report.agent_id,
        session_id=session,
        outcome_ref=report.outcome_ref,
        outcome_type=str(report.outcome_type),
        branch="main",
        body=json.dumps(body, ensure_ascii=False),
        entity_paths=[row.entity_path for row in read],
        causal=[(row.entry_key, row.agent_id) for row in read],
        tool_calls=len(calls),
        errors=len(errors),
        duration_ms=body["session_duration_ms"],
        created_at=ended,
    )


def _entry(rng: Random, row: Row, began: datetime, span: timedelta, place: int, many: int) -> dict[str, Any]:
    return {
        "entity_path": row.entity_path,
        "key": row.key,
        "version": row.version,
        "confidence": row.state.confidence,
        "value": json.loads(row.value),
        "memory_type": row.state.memory_type,
        "written_by": row.agent_id,
        "read_at": (began + span * (0.05 + 0.2 * place / many)).isoformat(),
        "duration_ms": round(rng.uniform(3, 40), 1),
        "evidence_status": row.state.evidence_status,
        "success_count": row.state.success_count,
        "failure_count": row.state.failure_count,
    }


def _call(rng: Random, report: Report, began: datetime, span: timedelta, place: int) -> dict[str, Any]:
    failed = rng.random() < (0.1 if report.outcome_type in ("success", "clean_deploy") else 0.5)
    return {
        "tool_name": rng.choice(TOOLS[report.agent_id.rpartition("/")[2]]),
        "arguments": {"service": (report.told.get("entity_paths") or ["shop"])[0], "dry_run": rng.random() < 0.2},
        "result_summary": rng.choice(FAILURES if failed else RESULTS),
        "started_at": (began + span * (0.3 + 0.15 * place)).isoformat(),
        "duration_ms": round(span.total_seconds() * 1000 * rng.uniform(0.02, 0.14)),
        "success": not failed,
    }


def _error(call: dict[str, Any]) -> dict[str, Any]:
    return {
        "operation": "tool",
        "error_type": "ToolError",
        "message": f"{call['tool_name']}: {call['result_summary']}",
        "occurred_at": call["started_at"],
    }


def _query(rng: Random, report: Report, began: datetime) -> dict[str, Any]:
    return {
        "operation": "search",
        "parameters": {"entity_path": (report.told.get("entity_paths") or ["shop"])[0], "limit": 10},
        "result_count": rng.randint(1, 9),
        "duration_ms": round(rng.uniform(4, 60), 1),
        "occurred_at": began.isoformat(),
    }


def _context(rng: Random, began: datetime, span: timedelta) -> dict[str, Any]:
    label, summary, source = rng.choice(CONTEXTS)
    return {"label": label, "summary": summary, "source": source, "recorded_at": (began + span * 0.02).isoformat()}


def _metadata(rng: Random, report: Report, began: datetime, span: timedelta) -> dict[str, Any]:
    model = rng.choice(("claude-sonnet-4-5", "gpt-5.1", "mistral-large"))
    call = {
        "model": model,
        "input_tokens": rng.randint(800, 9000),
        "output_tokens": rng.randint(60, 900),
        "latency_ms": round(span.total_seconds() * 1000 * rng.uniform(0.02, 0.08)),
        "started_at": (began + span * 0.27).isoformat(),
    }
    told = {"model": model, "client_name": "house-agent", "agent_version": "2.4.1", "llm_calls": [call]}
    return told | ({"verified_by": report.verified_by} if report.verified_by else {})
