"""Taking out of a trace what its agent read and others may not see; the rest stays as it was told, byte for byte."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from memories.viewers import Viewer
from outcomes.querysets import privacy
from outcomes.querysets.privacy import Hidden

Body = dict[str, Any]
# What a trace tells in names and numbers. Everything else are its agent's own words, which may repeat what it read.
WORDLESS = frozenset(
    (
        "agent_id", "session_id", "outcome_ref", "outcome_type", "branch", "namespace", "created_at", "causal_entries",
        "state_diff", "session_started_at", "session_ended_at", "session_duration_ms",
    )
)  # fmt: skip


class Named(msgspec.Struct):
    """What names an entry in a part of a trace."""

    entity_path: str = ""
    key: str = ""

    @property
    def entry_key(self) -> str:
        return f"{self.entity_path}/{self.key}"


class Changes(msgspec.Struct):
    confidence_changes: list[Raw] = []


class Tried(msgspec.Struct):
    causal_entry_keys: list[str] = []
    causal_entry_versions: dict[str, Any] = {}


class Metadata(msgspec.Struct):
    attempts: list[Tried] | None = None


class Query(msgspec.Struct):
    parameters: Named = msgspec.field(default_factory=Named)


def without(viewer: Viewer, told: Sequence[tuple[str, Body]]) -> list[Body]:
    """Return the bodies of traces as if what is hidden from the viewer did not exist; two statements for all.

    Hidden are names that an agent tells of its own: from whoever told all of these nothing is.
    """
    if viewer.sees_all or not (viewer.reaches or any(agent != viewer.agent_id for agent, _ in told)):
        return [body for _, body in told]
    keys = [key for _, body in told for key in _keys(body)]
    paths = [path for _, body in told for path in _paths(body)]
    hidden = privacy.hidden(viewer, keys, paths)
    return [_without(agent, body, hidden) for agent, body in told]


def _part(raw: Any, kind: Any) -> Any:
    """Return a part of a trace in a shape, None when it has another one."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.MsgspecError:
        return None


def _list(body: Body, name: str) -> list[Raw]:
    return (name in body and _part(body[name], list[Raw])) or []


def _keys(body: Body) -> Iterator[str]:
    changes = ("state_diff" in body and _part(body["state_diff"], Changes)) or Changes()
    for raw in [*_list(body, "causal_entries"), *changes.confidence_changes]:
        if named := _part(raw, Named):
            yield named.entry_key
    metadata = ("session_metadata" in body and _part(body["session_metadata"], Metadata)) or Metadata()
    for tried in metadata.attempts or []:
        yield from tried.causal_entry_keys
        yield from tried.causal_entry_versions


def _paths(body: Body) -> Iterator[str]:
    for raw in _list(body, "query_events"):
        query = _part(raw, Query)
        if query and query.parameters.entity_path:
            yield query.parameters.entity_path


def _without(agent_id: str, body: Body, hidden: Hidden) -> Body:
    if hidden == privacy.NOTHING:
        return body

    def names_hidden(raw: Raw) -> bool:
        named = _part(raw, Named)
        return named is not None and hidden.hides(agent_id, named.entry_key)

    def asks_hidden(raw: Raw) -> bool:
        query = _part(raw, Query)
        return query is not None and hidden.hides_path(agent_id, query.parameters.entity_path)

    shown = dict(body)
    _filter(shown, "causal_entries", names_hidden)
    _filter(shown, "query_events", asks_hidden)
    if "state_diff" in shown:
        shown["state_diff"] = _state_diff(shown["state_diff"], names_hidden)
    if hidden.relied_on(agent_id, _keys(body)):
        return {name: told for name, told in shown.items() if name in WORDLESS}
    if "session_metadata" in shown:
        shown["session_metadata"] = _metadata(shown["session_metadata"], agent_id, hidden)
    return shown


def _filter(body: Body, name: str, hides: Callable[[Raw], bool]) -> None:
    if name in body and (parts := _part(body[name], list[Raw])) is not None:
        body[name] = Raw(msgspec.json.encode([part for part in parts if not hides(part)]))


def _state_diff(raw: Raw, hides: Callable[[Raw], bool]) -> Raw:
    """Return what a session changed without what is hidden, which the count of updates leaves out as well."""
    told = _part(raw, dict[str, Raw])
    before = _list(told or {}, "confidence_changes")
    if not told or not before:
        return raw
    _filter(told, "confidence_changes", hides)
    gone = len(before) - len(_list(told, "confidence_changes"))
    updated = _part(told.get("entries_updated", b"0"), int)
    if gone and updated is not None:
        told["entries_updated"] = Raw(msgspec.json.encode(max(0, updated - gone)))
    return Raw(msgspec.json.encode(told))


def _metadata(raw: Raw, agent_id: str, hidden: Hidden) -> Raw:
    told = _part(raw, dict[str, Raw])
    attempts = _part((told or {}).get("attempts", b"null"), list[dict[str, Any]])
    if not told or not attempts:
        return raw
    for attempt in attempts:
        for name in ("causal_entry_keys", "causal_entry_versions"):
            named = attempt.get(name)
            if isinstance(named, list):
                attempt[name] = [key for key in named if not hidden.hides(agent_id, str(key))]
            elif isinstance(named, dict):
                attempt[name] = {key: at for key, at in named.items() if not hidden.hides(agent_id, key)}
    return Raw(msgspec.json.encode({**told, "attempts": attempts}))
