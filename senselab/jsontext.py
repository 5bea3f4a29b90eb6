"""JSON as people read it: pretty, as a tree, as text, in one line.

Built from the stored text, so that numbers, order and repeated names come out as they went in. Everything is escaped;
what is huge is cut, with a word about the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from senselab import wording

LINE = 72  # characters that a list of plain values may take before each gets a line of its own
LONGEST_STRING = 4_000
LONGEST_CODE = 60_000
MOST_NODES = 1_500
MOST_SAID = 200
# Spaces that ordinary text uses; in a value they mislead nobody.
TEXT_SPACES = "\n\t\r\u00a0\u2002\u2003\u2009\u202f\u3000"
LETTERS = re.compile(r'(?:[^"\\\x00-\x1f]|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt])*')
LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Number:
    """A number exactly as it was written."""

    text: str


@dataclass(frozen=True, slots=True)
class Fields:
    """An object as its (name, value) pairs, in order."""

    pairs: list[tuple[str, Node]]

    def get(self, name: str) -> Node:
        return next((value for key, value in self.pairs if key == name), None)


Node = Union[Fields, list, str, Number, bool, None]  # noqa: UP007 the name is used before it is made


def parse(text: str) -> Node:
    """Return the value that JSON text stands for, numbers kept as they were written.

    :raises ValueError: the text is not JSON.
    """
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=Fields)


def marked(text: str, limit: int = LONGEST_STRING, keep: str = TEXT_SPACES, *, is_name: bool = False) -> SafeString:
    """Return `text` escaped, invisible and direction-changing characters shown as marked escapes, cut at `limit`."""
    parts = [
        format_html('<span class="inv" title="{}">{}</span>', wording.character_name(run), wording.escaped(run))
        if strange
        else escape(run)
        for strange, run in wording.marked(text[:limit], keep, is_name=is_name)
    ]
    if len(text) > limit:
        parts.append(format_html('<span class="cut">… {} more characters</span>', wording.grouped(len(text) - limit)))
    return mark_safe("".join(parts))


def quoted(text: str, limit: int = LONGEST_STRING) -> SafeString:
    """Return a string as JSON writes it, quotes and escapes and all, escaped for HTML."""
    rest = len(text) - limit
    inner = marked(json.dumps(text[:limit], ensure_ascii=False)[1:-1], limit=7 * limit)
    more = format_html('<span class="cut">… {} more characters</span>', wording.grouped(rest)) if rest > 0 else ""
    return format_html('"{}{}"', inner, more)


def scalar(node: Node) -> SafeString:
    """Return a string, number, truth or null as highlighted code."""
    if isinstance(node, str):
        return format_html('<span class="s">{}</span>', quoted(node))
    return format_html('<span class="n">{}</span>', plain(node))


def plain(node: Node) -> str:
    """Return a value as JSON text in one line."""
    match node:
        case Number():
            return node.text
        case Fields():
            inner = ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {plain(value)}" for name, value in node.pairs)
            return f"{{ {inner} }}" if inner else "{}"
        case list():
            return f"[{', '.join(plain(item) for item in node)}]"
        case _:
            return json.dumps(node, ensure_ascii=False)


def size(node: Node) -> int:
    """Return how many items a list or an object has; 0 for anything else."""
    return len(items_of(node))


def items_of(node: Node) -> list[Node]:
    """Return the values inside a list or an object; none for anything else."""
    return [value for _, value in node.pairs] if isinstance(node, Fields) else node if isinstance(node, list) else []


def small(node: Node) -> bool:
    """Say whether a value fits in one line: plain values only, and short."""
    if isinstance(node, Fields):
        return not node.pairs
    if not isinstance(node, list):
        return True
    # With a comma and a space behind each, half as many items as letters fit.
    if len(node) > LINE // 2:
        return False
    return all(not isinstance(item, list | Fields) or not size(item) for item in node) and len(plain(node)) <= LINE


def in_line(node: Node) -> SafeString:
    """Return a small value as highlighted code."""
    if isinstance(node, list):
        return format_html("[{}]", mark_safe(", ".join(scalar(item) for item in node)))
    return SafeString("{}") if isinstance(node, Fields) else scalar(node)


def lines(node: Node, indent: str = "", before: str = "", after: str = "") -> Iterator[str]:
    """Yield a value as escaped, highlighted lines of code."""
    if small(node):
        yield f"{indent}{before}{in_line(node)}{after}"
        return
    opening, closing = "{}" if isinstance(node, Fields) else "[]"
    yield f"{indent}{before}{opening}"
    items = node.pairs if isinstance(node, Fields) else [(None, item) for item in node]  # type: ignore[union-attr]
    for at, (name, value) in enumerate(items, start=1):
        label = "" if name is None else format_html('<span class="k">{}</span>: ', quoted(name))
        yield from lines(value, indent + "  ", label, "," if at < len(items) else "")
    yield f"{indent}{closing}{after}"


def code(text: str) -> SafeString:
    """Return JSON text pretty-printed and highlighted, cut after about 60,000 characters of markup."""
    return code_of(parse(text))


def code_of(node: Node) -> SafeString:
    """Return a value as `code` does its text."""
    shown: list[str] = []
    used = 0
    for line in lines(node):
        # The rest is not even built: half a million numbers would take seconds.
        if used > LONGEST_CODE:
            shown.append('<span class="cut">… cut here: the whole value is longer than a page can show</span>')
            break
        shown.append(line)
        used += len(line)
    return mark_safe("\n".join(shown))


def tree(text: str) -> SafeString:
    """Return JSON text as nested <details>, the first two levels open, at most 1,500 nodes."""
    return tree_of(parse(text))


def tree_of(node: Node) -> SafeString:
    """Return a value as `tree` does its text."""
    left = [MOST_NODES]
    html = branch(node, left, 0)
    if left[0] < 0:
        html += format_html('<p class="cut">{} more values are not shown as a tree</p>', wording.grouped(-left[0]))
    return format_html('<div class="json-tree">{}</div>', html)


def branch(node: Node, left: list[int], depth: int) -> SafeString:
    """Return the inside of one node of the tree; `left[0]` counts down the nodes that may still be shown."""
    if not isinstance(node, list | Fields) or not size(node):
        return in_line(node)
    items = node.pairs if isinstance(node, Fields) else list(enumerate(node))
    rows = []
    for name, value in items:
        left[0] -= 1
        if left[0] >= 0:
            rows.append(twig(str(name), value, left, depth))
    return format_html("<ul>{}</ul>", mark_safe("".join(rows)))


def twig(name: str, value: Node, left: list[int], depth: int) -> SafeString:
    """Return one named value of the tree: a line, or a fold with what is inside."""
    title = format_html('<span class="k">{}</span>', marked(name, 200))
    if not size(value):
        return format_html("<li>{} {}</li>", title, in_line(value))
    words = (
        f"{wording.grouped(size(value))} {'field' if isinstance(value, Fields) else 'item'}{'s'[: size(value) != 1]}"
    )
    opened = SafeString(" open") if depth < 2 and size(value) <= 50 else ""
    inside = branch(value, left, depth + 1)
    return format_html(
        '<li><details{}><summary>{} <span class="faint">{}</span></summary>{}</details></li>',
        opened,
        title,
        words,
        inside,
    )


def said(node: Node, depth: int = 0) -> SafeString:
    """Return a value as people would write it down: prose, names with their values, lists; deep parts as JSON."""
    if isinstance(node, str):
        return format_html('<div class="text">{}</div>' if not depth else '<span class="text">{}</span>', marked(node))
    if not size(node) or depth > 1 or (small(node) and not any(isinstance(item, str) for item in items_of(node))):
        return format_html('<code class="json">{}</code>', quoted_json(node))
    if isinstance(node, Fields):
        pairs = ((marked(name, 200), said(value, depth + 1)) for name, value in node.pairs[:MOST_SAID])
        inner = format_html('<dl class="facts">{}</dl>', format_html_join("", "<dt>{}</dt><dd>{}</dd>", pairs))
    else:
        items = ((said(item, depth + 1),) for item in node[:MOST_SAID])  # type: ignore[index]
        inner = format_html('<ul class="bullets">{}</ul>', format_html_join("", "<li>{}</li>", items))
    rest = size(node) - MOST_SAID
    return inner + format_html('<p class="cut">… {} more</p>', wording.grouped(rest)) if rest > 0 else inner


def quoted_json(node: Node) -> SafeString:
    """Return a value as escaped JSON in one line, cut when it is long."""
    return marked(plain(node), limit=LONGEST_STRING)


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure's parts, ready to show: goal, preconditions, steps, and the rest as (name, value) pairs."""

    goal: SafeString | str
    preconditions: SafeString | str
    steps: list[SafeString]
    rest: list[tuple[str, SafeString]]


def procedure(node: Node) -> Procedure | None:
    """Return a value as a procedure, or None when it has no list of steps."""
    steps = node.get("steps") if isinstance(node, Fields) else None
    if not isinstance(node, Fields) or not isinstance(steps, list) or not steps:
        return None
    goal, before = node.get("goal"), node.get("preconditions")
    rest = [
        (wording.label(name), said(value, 1))
        for name, value in node.pairs
        if name not in {"goal", "steps", "preconditions"}
    ]
    return Procedure(
        goal=said(goal, 1) if goal else "",
        preconditions=said(before, 1) if before else "",
        steps=[step_said(step) for step in steps[:MOST_SAID]],
        rest=rest,
    )


def step_said(step: Node) -> SafeString:
    """Return one step: its words, or its action with what else it says below."""
    action = step.get("action") if isinstance(step, Fields) else None
    if not isinstance(step, Fields) or not isinstance(action, str):
        return said(step, 1)
    rest = Fields([(name, value) for name, value in step.pairs if name != "action"])
    return marked(action) + (said(rest, 1) if rest.pairs else SafeString(""))


def preview(text: str, limit: int = 160) -> str:
    """Return a value in one plain line for a list: a string without its quotes, anything else as JSON.

    `text` may be cut anywhere: a list page need not fetch a megabyte to show one line of it.
    """
    head = text[: 4 * limit]
    if text.startswith('"'):
        whole = LETTERS.match(head, 1)
        words = LONE.sub("", json.loads(f'"{whole.group()}"')) if whole else ""
    elif len(text) > len(head):
        words = head
    else:
        try:
            words = plain(parse(text))
        except ValueError:
            words = head
    return wording.cut(" ".join(words.split()), limit)
