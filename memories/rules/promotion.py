"""Entries as rules in a Markdown file that agents read (CLAUDE.md, AGENTS.md), and rules there as entries. Pure.

Between two markers stand headings (``## entity_path``) and list items (``- **key**: text``). A text stands as it is,
its further lines indented by two spaces; any other value, and a text that would not come back the same, as JSON in
code.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from senselab.errors import Invalid

BEGIN, END = "<!-- senselab:begin -->", "<!-- senselab:end -->"
NOTE = "<!-- What agents have learned. Everything between the two markers is replaced by `promote`. -->"
# Rules without a heading go here.
PLACE = "rules"
LONGEST_KEY = 60

_ITEM = re.compile(r"[-*+] (?:\*\*(?P<key>(?:\\.|[^\\])+?)\*\*:(?: |$))?(?P<text>.*)")
_HEADING = re.compile(r"#{1,6} +(.*\S)\s*")
_WILD = re.compile(r"[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the entry's names, and its value as JSON. `line` says where it was read, from 1."""

    entity_path: str
    key: str
    value: str
    line: int = 0


class NoMarkers(Invalid):
    """The file has not the two markers, once and in order."""


def render(rules: Iterable[Rule]) -> str:
    """Return rules as the Markdown between the markers, both included, by path and key."""
    ordered = sorted(rules, key=lambda rule: (rule.entity_path, rule.key))
    parts = [BEGIN, NOTE]
    for path, items in groupby(ordered, key=lambda rule: rule.entity_path):
        parts += ["", f"## {_safe(path)}", "", *(_item(rule) for rule in items)]
    return "\n".join([*parts, "", END])


def _item(rule: Rule) -> str:
    key = _safe(rule.key.replace("\\", "\\\\").replace("*", "\\*"))
    value = json.loads(rule.value) if rule.value.startswith('"') else None
    if isinstance(value, str) and _is_plain(value):
        return f"- **{key}**: " + _safe(value).replace("\n", "\n  ")
    # Line ends stand between the parts of a value, never within a text: there they are escaped.
    code = rule.value.replace("\r", " ").replace("\n", " ").replace("`", "\\u0060").replace("<!--", "\\u003c!--")
    return f"- **{key}**: `{code}`"


def _is_plain(text: str) -> bool:
    lines = text.split("\n")
    tidy = all(line == line.strip() for line in lines[:1]) and all(line == line.rstrip() for line in lines)
    return tidy and bool(lines[0]) and bool(lines[-1]) and not _is_code(text) and not _WILD.search(text)


def _is_code(text: str) -> bool:
    return len(text) > 1 and text.startswith("`") and text.endswith("`")


def _safe(text: str) -> str:
    """Return text in which no comment begins, so that it cannot hold a marker."""
    return text.replace("&lt;", "&amp;lt;").replace("<!--", "&lt;!--")


def _unsafe(text: str) -> str:
    return text.replace("&lt;!--", "<!--").replace("&amp;lt;", "&lt;")


def put(document: str, block: str) -> str:
    """Return a document with the block in the place of what stands between the markers, at its end without any.

    The rest is untouched, byte by byte, and the block gets the document's line ends.

    :raises NoMarkers: one of the markers is missing, or there is more than one pair.
    """
    ends = "\r\n" if "\r\n" in document else "\n"
    block = block.replace("\n", ends)
    if BEGIN not in document and END not in document:
        gap = "" if not document else ends if document.endswith("\n") else 2 * ends
        return f"{document}{gap}{block}{ends}"
    start, end = _span(document)
    return document[:start] + block + document[end:]


def _span(document: str) -> tuple[int, int]:
    start, end = document.find(BEGIN), document.find(END)
    if document.count(BEGIN) != 1 or document.count(END) != 1 or end < start:
        raise NoMarkers(f"The file needs one line {BEGIN} and after it one line {END}.")
    return start, end + len(END)


def parse(document: str) -> list[Rule]:
    """Return the rules between the markers, in order; one without a key gets one from its words.

    :raises NoMarkers: the markers are missing, or there is more than one pair.
    :raises Invalid: two rules have the same name, or code that is no JSON.
    """
    start, end = _span(document)
    first = document.count("\n", 0, start) + 1
    found: dict[tuple[str, str], Rule] = {}
    for rule in _rules(document[start:end].replace("\r\n", "\n").split("\n"), first):
        other = found.setdefault((rule.entity_path, rule.key), rule)
        if other is not rule:
            raise Invalid(f"Lines {other.line} and {rule.line} both name {rule.entity_path}/{rule.key}.")
    return list(found.values())


def _rules(lines: list[str], first: int) -> Iterator[Rule]:
    path, place = PLACE, 0
    while place < len(lines):
        line = lines[place]
        heading, item = _HEADING.fullmatch(line), _ITEM.fullmatch(line)
        place += 1
        if heading:
            path = _unsafe(heading[1])
        elif item:
            text = [item["text"]]
            while place < len(lines) and _continues(lines, place):
                text.append(lines[place].removeprefix("  "))
                place += 1
            yield _rule(path, item["key"], "\n".join(text), first + place - len(text))


def _continues(lines: list[str], place: int) -> bool:
    """Tell whether a line belongs to the item above: it is indented, or empty with an indented one after it."""
    rest = next((line for line in lines[place:] if line), "")
    return rest.startswith("  ")


def _rule(path: str, key: str | None, text: str, line: int) -> Rule:
    words = _unsafe(text)
    value = (_json(text[1:-1], line) if _is_code(text) else None) or json.dumps(words, ensure_ascii=False)
    name = re.sub(r"\\(.)", r"\1", _unsafe(key)) if key else key_from(words)
    return Rule(path, name, value, line)


def _json(code: str, line: int) -> str | None:
    """Return code that is JSON; None for what people write in code, such as a command."""
    try:
        json.loads(code)
    except ValueError as error:
        if code.startswith(("{", "[", '"')):
            raise Invalid(f"The code in line {line} is not JSON: {error}.") from error
        return None
    return code


def key_from(text: str) -> str:
    """Return a key made of a text's first words: always-run-the-linter."""
    plain = unicodedata.normalize("NFC", text).lower()
    words = re.findall(r"\w+", plain)
    key = ""
    for word in words:
        longer = f"{key}-{word}" if key else word[:LONGEST_KEY]
        if len(longer) > LONGEST_KEY:
            break
        key = longer
    return key or "rule"
