"""One trace step by step, in the order of time: what was read, asked, done and what failed, each as it was told."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db import connection

from memories.viewers import Viewer
from outcomes.tracing import listing
from outcomes.tracing.listing import Row

# What a page of steps holds, and how much of a text stands in one.
STEPS, WORDS = 60, 400
KNOWN = frozenset(
    {*listing.BLANK, "id", "agent_id", "session_id", "outcome_ref", "outcome_type", "created_at", "branch"}
)
NOW = """
    SELECT e.entity_path || '/' || e.key, e.owner, e.branch, e.entity_path, e.key, e.version
      FROM memories_entry e
     WHERE e.account_id = %(account)s AND e.owner IN ('', %(agent)s) AND e.branch IN ('main', %(branch)s)
       AND (e.entity_path, e.key) IN (SELECT * FROM unnest(%(paths)s::text[], %(keys)s::text[]))
     ORDER BY (e.branch = %(branch)s), e.owner
"""
Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as it stands now, to link to."""

    owner: str
    branch: str
    entity_path: str
    key: str
    version: int


@dataclass(frozen=True, slots=True)
class Step:
    """One thing an agent did. `kind` is read, context, query, tool, model or error; `shown` is JSON text to unfold."""

    kind: str
    title: str
    at: datetime | None = None
    ms: float | None = None
    text: str = ""
    shown: str = ""
    failed: bool = False
    entity_path: str = ""
    key: str = ""
    version: int | None = None
    entry: Entry | None = None
    told: Told | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """Where on the trace's span of time a step lies, in per cent."""

    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Story:
    """A trace, its steps in order, and what else its agent told of the session."""

    row: Row
    told: Told
    steps: list[Step]
    since: datetime | None
    until: datetime | None
    rest: list[tuple[str, str]]

    def bar(self, step: Step) -> Bar | None:
        """Return where a step lies on the whole span, None without a moment or a span."""
        if step.at is None or self.since is None or self.until is None or self.until <= self.since:
            return None
        whole = (self.until - self.since).total_seconds()
        x = 100 * max(0.0, (step.at - self.since).total_seconds()) / whole
        return Bar(min(x, 99.0), max(1.0, min(100 - min(x, 99.0), (step.ms or 0) / 10 / whole)))

    @property
    def summary(self) -> str:
        """Return what the agent decided, in its words, '' when it told none."""
        told = self.told.get("decision_summary")
        return _text(told) if told else ""

    def count(self, kind: str) -> int:
        return sum(step.kind == kind for step in self.steps)


def story(viewer: Viewer, row: Row) -> Story:
    """Return a trace told step by step."""
    told: Told = msgspec.json.decode(msgspec.json.encode(listing.told(viewer, [row])[0]))
    entries = _entries(viewer, row, told)
    steps = sorted(_steps(told, entries), key=lambda step: (step.at is not None, step.at or row.created_at))
    ends = [step.at for step in steps if step.at]
    since = _moment(told.get("session_started_at")) or min(ends, default=None)
    until = _moment(told.get("session_ended_at")) or max(ends, default=None)
    return Story(row, told, steps, since, until, list(_rest(told)))


def _parts(told: Any, name: str) -> list[Told]:
    found = told.get(name) if isinstance(told, Mapping) else None
    return [part for part in found if isinstance(part, Mapping)] if isinstance(found, list) else []


def _entries(viewer: Viewer, row: Row, told: Told) -> dict[str, Entry]:
    """Return what stands today behind the names a trace relied on, the agent's own entry before a shared one."""
    names = {(str(p.get("entity_path")), str(p.get("key"))) for p in _parts(told, "causal_entries")}
    values: dict[str, Any] = {
        "account": viewer.account_id,
        "agent": row.agent_id,
        "branch": row.branch,
        "paths": [path for path, _ in names],
        "keys": [key for _, key in names],
    }
    with connection.cursor() as cursor:
        cursor.execute(NOW, values)
        return {entry_key: Entry(*rest) for entry_key, *rest in cursor.fetchall()}


def _steps(told: Told, entries: Mapping[str, Entry]) -> Iterator[Step]:
    for part in _parts(told, "causal_entries"):
        yield _read(part, entries)
    for name, make in MAKERS.items():
        for part in _parts(told, name):
            yield make(part)
    for part in _parts(told.get("session_metadata"), "llm_calls"):
        yield _model(part)


def _read(part: Told, entries: Mapping[str, Entry]) -> Step:
    path, key = str(part.get("entity_path") or ""), str(part.get("key") or "")
    version = part.get("version")
    return Step(
        "read",
        f"{path}/{key}",
        _moment(part.get("read_at")),
        _number(part.get("duration_ms")),
        shown=_json(part.get("value")),
        entity_path=path,
        key=key,
        version=version if isinstance(version, int) else None,
        entry=entries.get(f"{path}/{key}"),
        told=part,
    )


def _tool(part: Told) -> Step:
    failed = part.get("success") is False
    return Step(
        "tool",
        str(part.get("tool_name") or "tool"),
        _moment(part.get("started_at")),
        _number(part.get("duration_ms")),
        _text(part.get("result_summary")),
        _json({name: value for name, value in part.items() if name not in {"tool_name", "result_summary"} and value}),
        failed,
    )


def _context(part: Told) -> Step:
    source = f" from {part['source']}" if part.get("source") else ""
    return Step(
        "context",
        f"{part.get('label') or 'context'}{source}",
        _moment(part.get("recorded_at")),
        None,
        _text(part.get("summary")),
    )


def _query(part: Told) -> Step:
    count = part.get("result_count")
    found = f"{count} found" if isinstance(count, int) else ""
    at, ms = _moment(part.get("occurred_at")), _number(part.get("duration_ms"))
    return Step("query", str(part.get("operation") or "query"), at, ms, found, _json(part.get("parameters")))


def _error(part: Told) -> Step:
    title = " ".join(str(part[name]) for name in ("operation", "error_type") if part.get(name)) or "error"
    trace = _json({"stack_trace": part["stack_trace"]}) if part.get("stack_trace") else ""
    return Step("error", title, _moment(part.get("occurred_at")), None, _text(part.get("message")), trace, True)


def _model(part: Told) -> Step:
    tokens = [part.get(name) for name in ("input_tokens", "output_tokens")]
    words = f"{tokens[0]} tokens in, {tokens[1]} out" if all(isinstance(n, int) for n in tokens) else ""
    at, ms = _moment(part.get("started_at")), _number(part.get("latency_ms"))
    return Step("model", str(part.get("model") or "model"), at, ms, words, _json(part))


MAKERS: dict[str, Callable[[Told], Step]] = {
    "external_contexts": _context,
    "query_events": _query,
    "tool_calls": _tool,
    "error_events": _error,
}


def _rest(told: Told) -> Iterator[tuple[str, str]]:
    """Yield what no step shows, as (name, JSON text), members nobody here knows included."""
    metadata = told.get("session_metadata")
    if isinstance(metadata, Mapping):
        left = {name: value for name, value in metadata.items() if name != "llm_calls" and value not in (None, [], {})}
        if left:
            yield "session_metadata", _json(left)
    for name in ("task_input", "response_text"):
        if told.get(name):
            yield name, _json(told[name])
    unknown = {name: value for name, value in told.items() if name not in KNOWN and name != "namespace"}
    if unknown:
        yield "more_of_it", _json(unknown)


def _moment(value: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
        return found and (found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else _json(value)
    return text if len(text) <= WORDS else f"{text[:WORDS]}…"


def _json(value: Any) -> str:
    return "" if value in (None, {}, []) else json.dumps(value, ensure_ascii=False)
