"""The small marks pages are made of: icons, chips, bars, avatars. Each returns escaped HTML without style or script."""

from __future__ import annotations

from datetime import UTC, datetime

from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from senselab import jsontext, wording

EVIDENCE = {
    "untested": "circle-dashed",
    "validated": "circle-check",
    "contested": "scale",
    "discredited": "circle-x",
}
STATUS = {
    "active": ("circle-dot", "line"),
    "under_review": ("inbox", "warn"),
    "superseded": ("git-merge", ""),
    "archived": ("archive", ""),
}
TYPES = {"fact": "quote", "belief": "lightbulb", "experience": "history", "procedure": "list-ordered"}
TIERS = {1: "flame", 2: "thermometer", 3: "archive"}
KEY_ICONS = {"pattern": "workflow", "risk": "triangle-alert", "decision": "route", "task summary": "list-checks"}
CHANGES = {
    "created": ("plus", "accent"),
    "written": ("pencil", "accent"),
    "outcome": ("activity", ""),
    "feedback": ("message-square", ""),
    "evidence": ("eye", ""),
    "decayed": ("clock", ""),
    "expired": ("hourglass", ""),
    "review": ("inbox", "warn"),
    "rollback": ("rotate-ccw", "accent"),
    "superseded": ("git-merge", ""),
    "merged": ("git-merge", ""),
    "erased": ("trash-2", "bad"),
    # Acts that are no change of one version.
    "write": ("pencil", "accent"),
    "undo": ("undo-2", "accent"),
    "decay": ("clock", ""),
    "expire": ("hourglass", ""),
    "decision": ("inbox", "warn"),
}


def icon(name: str, size: str = "", label: str = "", tone: str = "") -> SafeString:
    """Return an icon of the sprite; hidden from screen readers unless it has a label of its own.

    `size` is "" (16 px) or "s" (13 px); `tone` is ok, warn, bad, dim, faint or nothing.
    """
    classes = " ".join(filter(None, ("ico", size, tone)))
    said = format_html('role="img" aria-label="{}"', label) if label else SafeString('aria-hidden="true"')
    return format_html('<svg class="{}" {}><use href="{}#{}"/></svg>', classes, said, static("icons.svg"), name)


def chip(words: str, icon_name: str = "", tone: str = "") -> SafeString:
    """Return a chip: glyph, word and wash, so that colour never speaks alone."""
    return format_html(
        '<span class="{}">{}{}</span>', f"chip {tone}".strip(), icon(icon_name) if icon_name else "", words
    )


def evidence_chip(evidence_status: str) -> SafeString:
    """Return the chip of an evidence status."""
    return chip(wording.label(evidence_status), EVIDENCE.get(evidence_status, "circle-dashed"), evidence_status)


def evidence_icon(evidence_status: str) -> SafeString:
    """Return only the coloured glyph of an evidence status, with its word for screen readers."""
    tone = {"validated": "ok", "contested": "warn", "discredited": "bad"}.get(evidence_status, "faint")
    return icon(EVIDENCE.get(evidence_status, "circle-dashed"), label=wording.label(evidence_status), tone=tone)


def status_chip(status: str) -> SafeString:
    """Return the chip of a status."""
    return chip(wording.label(status), *STATUS.get(status, ("circle-dot", "line")))


def type_icon(memory_type: str, size: str = "s") -> SafeString:
    """Return the glyph of a memory type, named for screen readers."""
    return icon(TYPES.get(memory_type, "quote"), size, wording.label(memory_type), "faint")


def type_chip(memory_type: str) -> SafeString:
    """Return the chip of a memory type."""
    return chip(wording.label(memory_type), TYPES.get(memory_type, "quote"), "line")


def tier_label(tier: int) -> SafeString:
    """Return glyph and word of a tier (1 hot, 2 warm, 3 archive)."""
    return format_html('<span class="nb faint">{} {}</span>', icon(TIERS.get(tier, "archive"), "s"), tier_word(tier))


def tier_word(tier: int) -> str:
    """Return the word of a tier."""
    return wording.TIERS.get(tier, f"Tier {tier}")


def tier_chip(tier: int, rank: int | None = None) -> SafeString:
    """Return the chip of a tier, with the rank when it is known: "Hot, rank 17"."""
    words = f"{tier_word(tier)}, rank {wording.grouped(rank)}" if rank else tier_word(tier)
    return chip(words, TIERS.get(tier, "archive"), "line")


def key_label(key: str) -> SafeString:
    """Return the label that the prefix of a key gives it (pattern, risk, decision, task summary), or nothing."""
    word = wording.key_label(key)
    return format_html('<span class="tag">{}</span>', word) if word else SafeString("")


def change_icon(change: str, size: str = "s") -> SafeString:
    """Return the glyph of what made a version."""
    name, tone = CHANGES.get(change, ("git-commit-horizontal", ""))
    return icon(name, size, tone="bad" if tone == "bad" else "")


def change_dot(change: str, good: bool | None = None) -> SafeString:
    """Return the round mark of a timeline item; an outcome is an arrow that says how it went."""
    name, tone = CHANGES.get(change, ("git-commit-horizontal", ""))
    if good is not None:
        name, tone = ("arrow-up", "ok") if good else ("arrow-down", "bad")
    return format_html('<span class="{}">{}</span>', f"dot {tone}".strip(), icon(name, "s"))


def outcome_word(outcome_type: str) -> SafeString:
    """Return an outcome type with its arrow, green up or red down: never by colour alone."""
    good = outcome_type in wording.GOOD_OUTCOMES
    arrow = icon("arrow-up" if good else "arrow-down", "s")
    words = outcome_type.replace("_", " ")
    return format_html('<span class="{} nb">{} {}</span>', "ok" if good else "bad", arrow, words)


def tally(success: int, failure: int) -> SafeString:
    """Return what outcomes said, "+18 -0" with a true minus, or "none yet"."""
    if not success and not failure:
        return SafeString('<span class="faint nb">none yet</span>')
    return format_html(
        '<span class="nb num"><span class="{}">+{}</span> <span class="{}">{}{}</span></span>',
        "ok" if success else "faint",
        wording.grouped(success),
        "bad" if failure else "faint",
        wording.MINUS,
        wording.grouped(failure),
    )


def shown(text: str) -> SafeString:
    """Return a name with what could mislead as marked escapes: direction overrides, invisible characters, letters
    that pass for others."""
    return jsontext.marked(text, limit=1_600, keep="", is_name=True)


def entry_name(entity_path: str, key: str, link: str = "") -> SafeString:
    """Return an entry key, its path dim, its last part strong, isolated from the direction of the text around."""
    inner = format_html(
        '<bdi class="path">{}</bdi><span class="path">/</span><bdi>{}</bdi>', shown(entity_path), shown(key)
    )
    return format_html('<a class="mono" href="{}">{}</a>', link, inner) if link else inner


def avatar(name: str, kind: str = "agent") -> SafeString:
    """Return the mark of an agent (a robot) or of a person (initials)."""
    if kind == "person":
        return format_html('<span class="avatar" aria-hidden="true">{}</span>', wording.initials(name))
    return format_html('<span class="avatar bot" aria-hidden="true">{}</span>', icon("bot", "s"))


def who(name: str, kind: str = "agent") -> SafeString:
    """Return avatar and name of an agent, or of a person with kind="person"."""
    css = "" if kind == "person" else "mono small"
    return format_html('<span class="who">{} <bdi class="{}">{}</bdi></span>', avatar(name, kind), css, shown(name))


def when(moment: datetime | None, now: datetime, style: str = "ago") -> SafeString:
    """Return a <time> in short words (style ago, day or clock), the exact moment in its title."""
    if moment is None:
        return SafeString('<span class="faint">—</span>')
    words = {"ago": wording.ago, "day": wording.day, "clock": wording.clock}[style](moment, now)
    return format_html(
        '<time class="nb" datetime="{}" title="{} UTC">{}</time>', moment.isoformat(), exact_moment(moment), words
    )


def exact_moment(moment: datetime) -> str:
    """Return day, year and time to the second in UTC: "26 Nov 2026 09:53:07"."""
    then = moment.astimezone(UTC)
    return f"{then.day} {then:%b %Y %H:%M:%S}"


def legend(tone: str, shape: str, words: str) -> SafeString:
    """Return one item of a chart's legend: tone ok, warn, bad, mute, acc or ink; shape as in the sprite.

    Shapes: up, up-open, down, down-open, diamond, line, dash, box, slant (contested), stripe (discredited, failures).
    """
    return format_html('<span class="{}">{}{}</span>', tone, swatch(shape), words)


def swatch(shape: str = "box") -> SafeString:
    """Return the shape that stands for a series in a chart; it takes the colour of the words around it."""
    return format_html(
        '<svg class="swatch" aria-hidden="true"><use href="{}#shape-{}"/></svg>', static("icons.svg"), shape
    )
