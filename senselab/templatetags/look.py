"""The tags and filters of every page; settings makes them builtins, so no template loads them.

Filters turn plain values into words or escaped HTML; tags are for what needs several values. All are autoescaped.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import template
from django.contrib.messages.storage.base import Message
from django.http import QueryDict
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from senselab import bars, browsers, difftext, drawings, jsontext, marks, wording

register = template.Library()

# words: {{ value|filter }}
register.filter("label", wording.label)
register.filter("conf", lambda value: wording.fixed(value, 2))
register.filter("exact", lambda value: wording.fixed(value, 3))
register.filter("trimmed", wording.trimmed)
register.filter("grouped", wording.grouped)
register.filter("percent", wording.percent)
register.filter("signed", wording.signed)
register.filter("standing", lambda tier: wording.STANDINGS.get(tier, "Unknown"))
register.filter("tier_word", marks.tier_word)
register.filter("cut", wording.cut)
register.filter("browser", browsers.named)
register.filter("shown", marks.shown)
register.filter("below", wording.below)
register.filter("key_word", wording.key_label)

# JSON: {{ text|filter }}, where text is the stored JSON text
register.filter("json_code", jsontext.code)
register.filter("json_tree", jsontext.tree)
register.filter("json_preview", jsontext.preview)

# two texts as pieces: {{ pieces|filter }}
register.filter("woven", difftext.woven)
register.filter("old_side", difftext.old_side)
register.filter("new_side", difftext.new_side)

# marks: {% tag value %}
register.simple_tag(marks.icon)
register.simple_tag(marks.chip)
register.simple_tag(marks.evidence_chip)
register.simple_tag(marks.evidence_icon)
register.simple_tag(marks.status_chip)
register.simple_tag(marks.type_icon)
register.simple_tag(marks.type_chip)
register.simple_tag(marks.tier_label)
register.simple_tag(marks.tier_chip)
register.simple_tag(marks.key_label)
register.simple_tag(marks.change_icon)
register.simple_tag(marks.change_dot)
register.simple_tag(marks.outcome_word)
register.simple_tag(marks.tally)
register.simple_tag(marks.entry_name)
register.simple_tag(marks.avatar)
register.simple_tag(marks.who)
register.simple_tag(marks.legend)
register.simple_tag(marks.swatch)

# drawings
register.filter("took", drawings.took)
register.filter("step_word", drawings.step_word)
register.filter("event_word", drawings.event_word)
register.simple_tag(drawings.event_dot)
register.simple_tag(drawings.step_dot)
register.simple_tag(drawings.span_bar)
register.simple_tag(drawings.reliability)

# bars
register.simple_tag(bars.share, name="share_bar")
register.simple_tag(bars.spark)


@register.simple_tag
def conf_bar(
    effective: float | None, stored: float | None = None, was: float | None = None, evidence: str = ""
) -> SafeString:
    """Return the bar of a confidence; see bars.confidence."""
    return bars.confidence(effective, stored=stored, was=was, evidence=evidence)


@register.simple_tag
def ruler(
    effective: float,
    stored: float | None = None,
    was: float | None = None,
    was_label: str = "",
    archive: float = bars.ARCHIVE,
    review: float = bars.REVIEW,
    trust: float = bars.TRUST,
) -> SafeString:
    """Return a confidence on its scale; see bars.ruler."""
    return bars.ruler(effective, stored=stored, was=was, was_label=was_label, lines=bars.Lines(archive, review, trust))


@register.filter
def ago(moment: datetime | None, now: datetime | None = None) -> str:
    """Return how long ago a moment was: "4 d"."""
    return wording.ago(moment, now or timezone.now())


@register.filter
def day(moment: datetime | None, now: datetime | None = None) -> str:
    """Return the day of a moment: "26 Nov", or "26 Nov 2025" in another year."""
    return wording.day(moment, now or timezone.now())


@register.filter
def clock(moment: datetime | None, now: datetime | None = None) -> str:
    """Return day and time of a moment: "26 Nov 09:53"."""
    return wording.clock(moment, now or timezone.now())


@register.simple_tag
def when(moment: datetime | None, style: str = "ago") -> SafeString:
    """Return a <time> element in the style ago, day or clock, the exact moment in its title."""
    return marks.when(moment, timezone.now(), style)


@register.filter
def undo_url(message: Message) -> str:
    """Return where a toast's Undo button posts to: the tag "undo:<url>" of a message, or ""."""
    tags = (message.extra_tags or "").split()
    urls = (tag.removeprefix("undo:") for tag in tags if tag.startswith("undo:"))
    return next((url for url in urls if url.startswith("/") and not url.startswith("//")), "")


@register.simple_tag
def key(letter: str) -> SafeString:
    """Return the attributes that make a letter the key of a button or link; the list of keys is read from them."""
    return format_html('data-key="{0}" aria-keyshortcuts="{0}"', letter)


@register.filter
def iso(moment: datetime | None) -> str:
    """Return a moment for a data attribute that script parses, or ""."""
    return moment.isoformat() if moment else ""


def entry_address(entry: Any, page: str = "entry", **extra: Any) -> str:
    """Return the address of an entry's page: entry, or another page about the same entry.

    `entry` has entity_path, key, branch and, when it is private, owner; as attributes or as a mapping.
    """
    read = entry.get if isinstance(entry, Mapping) else lambda name, default="": getattr(entry, name, default)
    query = QueryDict(mutable=True)
    query["path"], query["key"] = str(read("entity_path")), str(read("key"))
    if (branch := read("branch", "main")) != "main":
        query["branch"] = branch
    if owner := read("owner", ""):
        query["owner"] = owner
    query.update({name: str(value) for name, value in extra.items() if value not in (None, "")})
    return f"{reverse(page)}?{query.urlencode()}"


register.filter("entry_url", entry_address)
register.simple_tag(entry_address, name="entry_url")


@register.simple_tag(takes_context=True)
def url_with(context: Context, **changes: Any) -> str:
    """Return the present address's query with some parameters changed; None or "" removes one.

    Paging starts again (`cursor` goes) unless it is what changes: {% url_with status="active" %}.
    """
    query = context["request"].GET.copy()
    query.pop("cursor", None)
    for name, value in changes.items():
        if value in (None, ""):
            query.pop(name, None)
        else:
            query.setlist(name, [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)])
    return f"?{query.urlencode()}"


@register.simple_tag
def query(**parameters: Any) -> str:
    """Return a query of its own, empty parameters left out: {% url 'entries' %}{% query evidence="contested" %}."""
    asked = QueryDict(mutable=True)
    for name, value in parameters.items():
        if value not in (None, "", []):
            asked.setlist(name, [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)])
    return f"?{asked.urlencode()}"


@register.simple_tag(takes_context=True)
def url_toggle(context: Context, name: str, value: Any) -> str:
    """Return the present address's query with one of several values of a parameter added, or taken away if there."""
    query = context["request"].GET.copy()
    query.pop("cursor", None)
    values, value = query.getlist(name), str(value)
    query.setlist(name, [kept for kept in values if kept != value] if value in values else [*values, value])
    return f"?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def is_asked(context: Context, name: str, value: Any) -> bool:
    """Say whether the present address has this value of a parameter: {% is_asked "status" "active" as on %}."""
    return str(value) in context["request"].GET.getlist(name)


@register.inclusion_tag("_value.html")
def value_view(text: str, memory_type: str = "", name: str = "value", raw_url: str = "") -> dict[str, Any]:
    """Show a value three ways (text, tree, raw), a procedure also as its steps; works without script.

    `text` is JSON text; `name` makes the ids unique on the page; `raw_url` leads to the whole of what was cut.
    """
    node = jsontext.parse(text)
    steps = jsontext.procedure(node) if memory_type == "procedure" else None
    return {
        "name": name,
        "text": text,
        "raw": text[: jsontext.LONGEST_CODE],
        "is_cut": len(text) > jsontext.LONGEST_CODE,
        "raw_url": raw_url,
        "said": jsontext.said(node),
        "tree": jsontext.tree_of(node),
        "code": jsontext.code_of(node),
        "steps": steps,
        "is_text": isinstance(node, str),
        "size": jsontext.size(node),
    }
