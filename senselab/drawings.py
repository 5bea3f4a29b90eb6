"""Small pictures the server draws as SVG: when something happened, whether a word held, what hangs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from senselab import marks, wording

STEPS = {
    "read": ("eye", "", "read"),
    "query": ("search", "", "asked"),
    "context": ("info", "", "was told"),
    "tool": ("terminal", "accent", "did"),
    "model": ("sparkles", "", "asked a model"),
    "error": ("triangle-alert", "bad", "failed"),
}
SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000


def took(ms: float | None) -> str:
    """Return how long something took: "12 ms", "4.1 s", "7 min", "2.5 h"; a dash when nobody knows."""
    if ms is None:
        return wording.NONE
    for unit, name in ((HOUR, "h"), (MINUTE, "min"), (SECOND, "s")):
        if ms >= unit:
            value = ms / unit
            return f"{value:.1f} {name}" if value < 10 and unit != MINUTE else f"{value:.0f} {name}"
    return f"{ms:.0f} ms"


def step_word(kind: str) -> str:
    return STEPS.get(kind, ("", "", kind))[2]


def step_dot(kind: str, failed: bool = False) -> SafeString:
    """Return the round mark of a step; red when it failed."""
    name, tone, _ = STEPS.get(kind, ("git-commit-horizontal", "", ""))
    return format_html('<span class="{}">{}</span>', f"dot {'bad' if failed else tone}".strip(), marks.icon(name, "s"))


EVENTS = {
    "write": ("pencil", "accent", "wrote"),
    "rollback": ("rotate-ccw", "accent", "rolled back"),
    "read": ("eye", "", "read"),
    "cross_agent_read": ("users", "", "read across agents"),
}


def event_word(kind: str) -> str:
    return EVENTS.get(kind, ("", "", kind.replace("_", " ")))[2].capitalize()


def event_dot(kind: str, outcome_type: str | None = None) -> SafeString:
    """Return the round mark of an event; an outcome is an arrow that says how it went."""
    if kind == "outcome":
        return marks.change_dot("outcome", outcome_type in wording.GOOD_OUTCOMES)
    name, tone, _ = EVENTS.get(kind, ("git-commit-horizontal", "", ""))
    return format_html('<span class="{}">{}</span>', f"dot {tone}".strip(), marks.icon(name, "s"))


def fixed(value: float) -> str:
    """Return a number for an attribute: "12.4"."""
    return f"{value:.1f}".removesuffix(".0")


def span_bar(x: float, width: float, failed: bool = False) -> SafeString:
    """Return a thin bar over a whole span, the part in per cent from `x` filled."""
    return format_html(
        '<svg class="split-bar thin" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="c" width="100" height="8"/><rect class="{}" x="{}" width="{}" height="8"/></svg>',
        "r" if failed else "a",
        fixed(x),
        fixed(width),
    )


def reliability(points: Sequence[tuple[float, float, int]]) -> SafeString:
    """Return stated confidence against success, both 0..1: points (stated, held, uses), larger with more uses.

    On the line a word holds exactly as often as it says; the table beside it says the same.
    """
    most = max((uses for _, _, uses in points), default=1)
    dots = format_html_join(
        "",
        '<circle cx="{}" cy="{}" r="{}" class="{}"/>',
        (
            (
                fixed(24 + 160 * stated),
                fixed(170 - 160 * held),
                fixed(4 + 5 * (uses / most) ** 0.5),
                "g" if held >= stated - 0.1 else "r",
            )
            for stated, held, uses in points
        ),
    )
    return format_html(
        '<svg class="web rel" viewBox="0 0 196 196" role="img" aria-label="How often entries held, against how'
        ' sure the agent was; the table says the same"><rect class="box" x="24" y="10" width="160" height="160"/>'
        '<line class="edge" x1="24" y1="170" x2="184" y2="10"/>{}<text x="24" y="184">0</text>'
        '<text x="104" y="194" text-anchor="middle">stated</text><text x="184" y="184" text-anchor="end">1</text>'
        '<text x="18" y="16" text-anchor="end">1</text><text x="12" y="90" text-anchor="middle" '
        'transform="rotate(-90 12 90)">held</text></svg>',
        dots,
    )


@dataclass(frozen=True, slots=True)
class Node:
    """Something in a picture of what hangs together: its icon, its words cut to fit, and where it leads."""

    icon: str
    words: str
    url: str
    said: str


WIDTH, ROW, LEFT, MIDDLE, RIGHT, BOX = 360, 30, 0, 130, 252, 108
LETTERS, LETTERS_IN_THE_MIDDLE = 12, 11


def web(centre: Node, before: Sequence[Node], after: Sequence[Node]) -> SafeString:
    """Return a picture of a node in the middle, what it stands on at its left and what stands on it at its right."""
    height = ROW * max(len(before), len(after), 1) + 8
    middle = height / 2
    left, right = _column(before, height), _column(after, height)
    edges = [(LEFT + BOX, y, MIDDLE, middle) for y, _ in left] + [(MIDDLE + 100, middle, RIGHT, y) for y, _ in right]
    curves = format_html_join(
        "",
        '<path class="edge" d="M{} {}C{} {} {} {} {} {}"/>',
        (map(fixed, (x1, y1, (x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2)) for x1, y1, x2, y2 in edges),
    )
    nodes = [_node(node, LEFT, y, BOX) for y, node in left] + [_node(node, RIGHT, y, BOX) for y, node in right]
    return format_html(
        '<svg class="web" viewBox="0 0 {} {}" role="group" aria-label="{}">{}{}{}</svg>',
        WIDTH,
        height,
        f"{centre.said}: {len(before)} at its left that it stands on, {len(after)} at its right that stand on it",
        curves,
        _node(centre, MIDDLE, middle, 100, "me"),
        format_html_join("", "{}", ((node,) for node in nodes)),
    )


def _column(nodes: Sequence[Node], height: float) -> list[tuple[float, Node]]:
    start = (height - ROW * len(nodes)) / 2 + ROW / 2
    return [(start + ROW * place, node) for place, node in enumerate(nodes)]


def _node(node: Node, x: float, y: float, width: float, css: str = "") -> SafeString:
    inside = format_html(
        '<title>{}</title><rect class="{}" x="{}" y="{}" width="{}" height="24" rx="6"/>'
        '<use href="{}#{}" x="{}" y="{}" width="12" height="12"/><text x="{}" y="{}">{}</text>',
        node.said,
        f"box {css}".strip(),
        x + 0.5,
        fixed(y - 12),
        width - 1,
        static("icons.svg"),
        node.icon,
        x + 6,
        fixed(y - 6),
        x + 22,
        fixed(y + 4),
        wording.cut(node.words, LETTERS_IN_THE_MIDDLE if css else LETTERS),
    )
    return format_html('<a href="{}">{}</a>', node.url, inside) if node.url else format_html("<g>{}</g>", inside)
