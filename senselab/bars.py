"""Bars as SVG with width attributes: exact without script or inline style."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from senselab import wording

ARCHIVE, REVIEW, TRUST = 0.1, 0.3, 0.5
LETTER = 0.026  # width of one letter of a ruler's label, as a share of the narrowest ruler (250 px)


def pct(value: float) -> str:
    """Return a share of 0..1 as a number of per cent for an attribute: "38.4"."""
    return f"{100 * min(1.0, max(0.0, value)):.1f}".removesuffix(".0")


def confidence(
    effective: float | None, *, stored: float | None = None, was: float | None = None, evidence: str = ""
) -> SafeString:
    """Return the bar of a confidence: effective solid, what silence took pale, a mark where it once stood.

    The ticks below are the archive line, the review line and 0.5. The number stands beside it in words.
    """
    if effective is None:
        return SafeString("")
    lost = SafeString("")
    if stored is not None and stored - effective > 0.004:
        lost = format_html(
            '<rect class="lost" x="{}" y="3" width="{}" height="4"/>', pct(effective), pct(stored - effective)
        )
    ghost = SafeString("")
    if was is not None:
        ghost = format_html('<rect class="ghost" x="{}" width="2" height="10"/>', pct(was - 0.01))
    ticks = format_html_join(
        "", '<rect class="tick" x="{}" y="8" width="1" height="2"/>', ((pct(at),) for at in (ARCHIVE, REVIEW, TRUST))
    )
    return format_html(
        '<svg class="{}" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" y="3" width="100" height="4" rx="2"/>'
        '<rect class="fill" y="3" width="{}" height="4" rx="2"/>{}{}{}</svg>',
        f"conf {evidence}".strip(),
        pct(effective),
        lost,
        ticks,
        ghost,
    )


@dataclass(frozen=True, slots=True)
class Lines:
    """The thresholds a ruler shows."""

    archive: float = ARCHIVE
    review: float = REVIEW
    trust: float = TRUST


LINES = Lines()


def ruler(
    effective: float,
    *,
    stored: float | None = None,
    was: float | None = None,
    was_label: str = "",
    lines: Lines = LINES,
) -> SafeString:
    """Return a confidence on its scale of 0..1 with the thresholds, what silence took, and an earlier value.

    Green when the value stands at or above `lines.trust` and above where it was, else the colour of its place.
    """
    stored = effective if stored is None else max(stored, effective)
    words = f"Confidence {wording.fixed(stored, 2)}, effective {wording.fixed(effective, 2)}; "
    words += f"review line {wording.fixed(lines.review, 2)}, archive line {wording.fixed(lines.archive, 2)}"
    if was is not None:
        words += f"; {was_label or 'before'} {wording.fixed(was, 2)}"
    tone = "good" if effective >= lines.trust else "fair" if effective >= lines.review else ""
    return format_html(
        '<svg class="{}" role="img" aria-label="{}">{}{}{}</svg>',
        f"ruler {tone}".strip(),
        words,
        ruler_bar(effective, stored, lines),
        ruler_scale(lines),
        ruler_labels(effective, was, was_label),
    )


def ruler_bar(effective: float, stored: float, lines: Lines) -> SafeString:
    """Return track, zones, the solid and the pale part."""
    return format_html(
        '<rect class="track" width="100%" y="16" height="12" rx="4"/>'
        '<rect class="z1" width="{0}%" y="16" height="12" rx="4"/>'
        '<rect class="z2" x="{0}%" y="16" width="{1}%" height="12"/>'
        '<rect class="fill" y="18" width="{2}%" height="8" rx="2"/>'
        '<rect class="lost" x="{2}%" y="18" width="{3}%" height="8"/>',
        pct(lines.archive),
        pct(lines.review - lines.archive),
        pct(effective),
        pct(stored - effective),
    )


def ruler_scale(lines: Lines) -> SafeString:
    """Return the ticks and the numbers under the bar."""
    marks = [(lines.archive, ""), (lines.review, " review"), (lines.trust, "")]
    ticks = format_html_join(
        "", '<line class="tick" x1="{0}%" x2="{0}%" y1="14" y2="32"/>', ((pct(at),) for at, _ in marks)
    )
    numbers = format_html_join(
        "",
        '<text x="{}%" y="44" text-anchor="middle">{}{}</text>',
        ((pct(at), wording.fixed(at, 2).lstrip("0"), word) for at, word in marks),
    )
    ends = SafeString('<text x="0" y="44">0</text><text x="100%" y="44" text-anchor="end">1</text>')
    return format_html("{}{}{}", ticks, numbers, ends)


def ruler_labels(effective: float, was: float | None, was_label: str) -> SafeString:
    """Return the numbers above the bar, kept apart from each other and inside the edges."""
    number = wording.fixed(effective, 2)
    mine = ruler_text(effective, number, "me", edge_anchor(effective, len(number)))
    if was is None:
        return mine
    line = format_html('<line class="was" x1="{0}%" x2="{0}%" y1="13" y2="31"/>', pct(was))
    said = f"{was_label} {wording.fixed(was, 2)}".strip()
    if abs(was - effective) >= LETTER * (len(said) + 5) / 2:
        return format_html("{}{}{}", line, ruler_text(was, said, "then", edge_anchor(was, len(said))), mine)
    # Too near for both to stand over their marks: the lower one ends at its mark, the higher one begins there.
    left, right = (number, said) if effective <= was else (said, number)
    if min(effective, was) < LETTER * len(left) or max(effective, was) > 1 - LETTER * len(right):
        return format_html("{}{}", line, mine)
    sides = ("end", "start") if effective <= was else ("start", "end")
    return format_html(
        "{}{}{}", line, ruler_text(was, said, "then", sides[1]), ruler_text(effective, number, "me", sides[0])
    )


def edge_anchor(at: float, letters: int) -> str:
    """Return where a label of so many letters must be held so that it stays inside the ruler."""
    half = LETTER * letters / 2
    return "start" if at < half else "end" if at > 1 - half else "middle"


def ruler_text(at: float, words: str, css: str, anchor: str) -> SafeString:
    """Return one label above the bar."""
    return format_html('<text class="{}" x="{}%" y="10" text-anchor="{}">{}</text>', css, pct(at), anchor, words)


def share(parts: list[tuple[str, float]]) -> SafeString:
    """Return one bar split into (class, amount) parts; classes a, b2, c, g, w, r colour them."""
    whole = sum(amount for _, amount in parts) or 1
    rects, at = [], 0.0
    for css, amount in parts:
        rects.append((css, pct(at / whole), pct(amount / whole)))
        at += amount
    return format_html(
        '<svg class="split-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{}</svg>',
        format_html_join("", '<rect class="{}" x="{}" width="{}" height="8"/>', rects),
    )


def spark(values: list[float]) -> SafeString:
    """Return a spark line of at least two values, scaled to its own range."""
    if len(values) < 2:
        return SafeString("")
    low, high = min(values), max(values)
    step, span = 96 / (len(values) - 1), (high - low) or 1
    points = [f"{at * step:.1f} {28 - 26 * (value - low) / span:.1f}" for at, value in enumerate(values)]
    path = "M" + " L".join(points)
    return format_html(
        '<svg class="spark" viewBox="0 0 96 30" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="area" d="{0} L96 30 L0 30Z"/><path d="{0}"/></svg>',
        path,
    )
