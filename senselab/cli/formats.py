"""What others keep, as entries: each format yields writes for `POST /commits`, or says why a row cannot be one."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

TYPES = {"fact", "belief", "experience", "procedure"}


@dataclass(frozen=True, slots=True)
class Row:
    """One thing found: where it stood, and the write it becomes, or why it becomes none."""

    place: str
    write: dict[str, Any] | None
    why_not: str = ""
    is_repeated: bool = False


class NotThat(ValueError):
    """The source is not of the format."""


def slug(text: str, most: int = 60) -> str:
    """Return a key out of words, with a few digits of their hash where they had to be cut."""
    words = re.sub(r"[^\w]+", "-", text.lower()).strip("-_") or "note"
    return words if len(words) <= most else f"{words[:most].rstrip('-')}-{hashlib.sha1(text.encode()).hexdigest()[:8]}"


def load(source: Path) -> Any:
    """:raises NotThat: it is no JSON."""
    try:
        return json.loads(source.read_text())
    except ValueError as error:
        raise NotThat(f"{source} is not JSON: {error}.") from error


def lines_of(source: Path) -> list[Any]:
    """:raises NotThat: a line is no JSON."""
    found = []
    for number, line in enumerate(source.read_text().split("\n"), start=1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise NotThat(f"Line {number} of {source} is not JSON: {error}.") from error
    return found


def named(entry: Any) -> bool:
    """Tell whether something says which entry it is."""
    return isinstance(entry, dict) and all(
        isinstance(entry.get(name), str) and entry[name] for name in ("entity_path", "key")
    )


def version_of(entry: dict[str, Any]) -> int:
    version = entry.get("version")
    return version if isinstance(version, int) else 1


def snapshot(source: Path, prefix: str) -> Iterator[Row]:
    """Yield the entries of the public `amfs snapshot export`, or of our own `export`: the newest version of each."""
    if source.suffix == ".jsonl":
        found = lines_of(source)
    else:
        whole = load(source)
        if not isinstance(whole, dict) or not isinstance(whole.get("entries"), list):
            raise NotThat(f"{source} holds no `entries`.")
        found = whole["entries"]
    newest: dict[tuple[str, str], tuple[int, dict[str, Any]]] = {}
    for number, entry in enumerate(found, start=1):
        if not named(entry):
            yield Row(f"entry {number}", None, "it has no entity_path or no key")
            continue
        name = (entry["entity_path"], entry["key"])
        if name not in newest or version_of(entry) >= version_of(newest[name][1]):
            newest[name] = (number, entry)
    for number, entry in newest.values():
        kind = entry.get("memory_type", "fact")
        kept = {name: entry[name] for name in ("confidence", "shared") if entry.get(name) is not None}
        write = {"entity_path": under(prefix, entry["entity_path"]), "key": entry["key"], "value": entry.get("value")}
        origin = entry.get("provenance")
        refs = (origin.get("pattern_refs") if isinstance(origin, dict) else None) or []
        yield Row(
            f"entry {number}", {**write, **kept, "memory_type": kind if kind in TYPES else "fact", "pattern_refs": refs}
        )


def under(prefix: str, path: str) -> str:
    return f"{prefix.rstrip('/')}/{path}" if prefix else path


def mem0(source: Path, prefix: str) -> Iterator[Row]:
    """Yield the memories of a mem0 export: a list, or `results`, of {id, memory, user_id, metadata, ...}."""
    whole = load(source)
    found = whole.get("results") or whole.get("memories") if isinstance(whole, dict) else whole
    if not isinstance(found, list):
        raise NotThat(f"{source} holds no list of memories.")
    for number, one in enumerate(found, start=1):
        text = one.get("memory") or one.get("text") if isinstance(one, dict) else None
        if not isinstance(text, str) or not text.strip():
            yield Row(f"memory {number}", None, "it has no text")
            continue
        whose = next((str(one[name]) for name in ("user_id", "agent_id", "app_id") if one.get(name)), "memories")
        told = {name: one[name] for name in ("metadata", "categories", "created_at") if one.get(name)}
        value = {"memory": text, **told} if told else text
        key = f"{slug(text, 40)}-{one['id'][:8]}" if isinstance(one.get("id"), str) else slug(text)
        yield Row(f"memory {number}", plain(under(prefix or "mem0", whose), key, value))


def plain(path: str, key: str, value: Any, kind: str = "fact") -> dict[str, Any]:
    # What comes from elsewhere has proved nothing here.
    return {"entity_path": path, "key": key, "value": value, "confidence": 0.5, "memory_type": kind}


def mcp_memory(source: Path, prefix: str) -> Iterator[Row]:
    """Yield the entities of the reference memory server's JSONL, each with its observations and relations."""
    entities: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(source.read_text().splitlines(), start=1):
        if not line.strip():
            continue
        row = f"line {number}"
        try:
            told = json.loads(line)
        except ValueError:
            yield Row(row, None, "it is not JSON")
            continue
        kind = told.get("type") if isinstance(told, dict) else None
        if kind == "entity" and isinstance(told.get("name"), str) and told["name"]:
            value = {"observations": told.get("observations", []), "relations": []}
            entities[told["name"]] = {"row": row, "type": told.get("entityType") or "entity", "value": value}
        elif kind == "relation" and isinstance(told.get("from"), str) and told["from"] in entities:
            relation = {"relation": told.get("relationType"), "to": told.get("to")}
            entities[told["from"]]["value"]["relations"].append(relation)
        else:
            yield Row(row, None, "it is neither an entity nor a relation of one before it")
    for name, entity in entities.items():
        place = under(prefix or "mcp-memory", slug(entity["type"]))
        yield Row(entity["row"], plain(place, slug(name), {"name": name, **entity["value"]}))


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the YAML between two lines of dashes at the top of a text, and the rest."""
    found = re.match(r"---\n(.*?)\n---\n?(.*)", text, re.S)
    if not found:
        return {}, text
    try:
        told = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        # A day that is in no calendar is a ValueError.
        return {}, text
    return (told, found[2]) if isinstance(told, dict) else ({}, text)


def ccmem(source: Path, prefix: str) -> Iterator[Row]:
    """Yield a folder of Markdown notes, one memory a file: front matter (type, confidence, tags) is optional."""
    if not source.is_dir():
        raise NotThat(f"{source} is no folder.")
    for path in sorted(source.rglob("*.md")):
        row = str(path.relative_to(source))
        try:
            told, text = front_matter(path.read_text())
        except UnicodeDecodeError:
            yield Row(row, None, "it is not text in UTF-8")
            continue
        if not text.strip():
            yield Row(row, None, "it is empty")
            continue
        folder = path.parent.relative_to(source).as_posix()
        place = under(prefix or "ccmem", "notes" if folder == "." else folder)
        kind = told.get("type") if told.get("type") in TYPES else "experience"
        value = {"text": text.strip(), **{name: str(told[name]) for name in told}} if told else text.strip()
        write = plain(place, slug(path.stem), value, str(kind))
        sure = told.get("confidence")
        yield Row(
            row, write | ({"confidence": float(sure)} if isinstance(sure, int | float) and 0 <= sure <= 1 else {})
        )


def claude_md(source: Path, prefix: str) -> Iterator[Row]:
    """Yield the rules of a CLAUDE.md: each item of a list below a heading, in its place; none in code."""
    heading, number, in_code = "rules", 0, False
    for number, line in enumerate(source.read_text().splitlines(), start=1):
        if line.lstrip().startswith(("```", "~~~")):
            in_code = not in_code
        elif in_code:
            continue
        elif title := re.match(r"#+\s+(.+)", line):
            heading = slug(title[1])
        elif rule := re.match(r"\s*(?:[-*+]|\d+\.)\s+(.+)", line):
            place = under(prefix or "claude-md", heading)
            yield Row(f"line {number}", plain(place, slug(rule[1]), rule[1].strip(), "belief"))
    if number == 0:
        raise NotThat(f"{source} is empty.")


FORMATS: dict[str, Callable[[Path, str], Iterator[Row]]] = {
    "snapshot": snapshot,
    "mem0": mem0,
    "mcp-memory": mcp_memory,
    "ccmem": ccmem,
    "claude-md": claude_md,
}
