"""Pages as they are sent: whatever would mislead stands there as an escape, whoever wrote the template.

Characters that turn text round or that nobody sees are shown wherever people read: in text, tooltips, labels of
fields and of charts, titles, toasts. Letters that pass for others are shown where names stand. Fields of forms keep
what is stored, as they send it back.
"""

import json
import re
from collections.abc import Callable
from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from senselab import jsontext, lookalikes, wording

# What people read of a tag: tooltips, names for screen readers, and what script puts into charts and the list of keys.
READ = frozenset({"title", "alt", "aria-label", "aria-description", "placeholder", "label"})
READ |= {"data-label", "data-what", "data-mark", "data-copied"}
# Where names stand: <bdi> is the house's own mark of a name; our own words around it have nothing to show.
NAMES = frozenset({"bdi", "title", "option", "label", "legend", "caption", "h1", "h2", "h3"})
ONLY_TEXT = frozenset({"title", "option"})
AS_SENT = frozenset({"textarea", "script", "style"})
SPACES = "\n\t\r"
FOREIGN = re.compile(r"[^\t\n\r -~]")
PIECE = re.compile(r"""<!--.*?-->|<(/?)([a-zA-Z][\w-]*)((?:[^"'>]|"[^"]*"|'[^']*')*)>|[^<]+|<""", re.DOTALL)
ATTRIBUTE = re.compile(r"""(?<=\s)([\w-]+)=("[^"]*"|'[^']*')""")


@lru_cache(maxsize=4_096)
def could_mislead(char: str) -> bool:
    """Say whether a character misleads anywhere: in a text, or as a letter of a name."""
    return wording.misleads(char, "a", "a") or bool(lookalikes.places(f"a{char}") or lookalikes.places(char))


def plain(text: str, *, is_name: bool = True) -> str:
    """Return a text whose misleading characters are escapes, for where no markup can stand."""
    if not FOREIGN.search(text):
        return text
    keep = SPACES if is_name else jsontext.TEXT_SPACES
    runs = wording.marked(text, keep, is_name=is_name)
    return "".join(wording.escaped(run) if strange else run for strange, run in runs)


def in_json(text: str) -> str:
    """Return JSON that says the same, what would turn its text round or hide in it written as escapes."""
    return FOREIGN.sub(lambda found: json.dumps(found[0])[1:-1] if _hides(found[0]) else found[0], text)


@lru_cache(maxsize=4_096)
def _hides(char: str) -> bool:
    return char not in jsontext.TEXT_SPACES and wording.misleads(char, "a", "a")


def _marked(text: str, *, is_name: bool) -> str:
    keep = SPACES if is_name else jsontext.TEXT_SPACES
    return "".join(
        str(jsontext.marked(run, keep="", is_name=True)) if strange else run
        for strange, run in wording.marked(text, keep, is_name=is_name)
    )


def _attribute(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    return f"{name}={plain(value)}" if name in READ else found[0]


def unmasked(html: str) -> str:
    """Return a page, or a part of one, in which nothing misleads; all else stays as it is, letter for letter."""
    if not any(map(could_mislead, set(FOREIGN.findall(html)))):
        return html
    out: list[str] = []
    inside: list[str] = []
    for piece in PIECE.finditer(html):
        closing, tag, attributes = piece[1], (piece[2] or "").lower(), piece[3]
        if tag:
            out.append(f"<{closing}{piece[2]}{ATTRIBUTE.sub(_attribute, attributes)}>")
            if tag in NAMES | AS_SENT:
                _step(inside, tag, is_end=bool(closing))
        elif piece[0].startswith("<!--") or AS_SENT.intersection(inside):
            out.append(piece[0])
        elif ONLY_TEXT.intersection(inside):
            out.append(plain(piece[0]))
        else:
            out.append(_marked(piece[0], is_name=bool(inside)))
    return "".join(out)


def _step(inside: list[str], tag: str, *, is_end: bool) -> None:
    if not is_end:
        inside.append(tag)
    elif tag in inside:
        del inside[inside.index(tag) :]


def show_what_misleads(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Send no page with a character that misleads: a middleware."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        answer = get_response(request)
        if isinstance(answer, HttpResponse) and answer.get("Content-Type", "").startswith("text/html"):
            page = answer.content.decode(answer.charset)
            shown = unmasked(page)
            if shown is not page:
                answer.content = shown.encode(answer.charset)
        return answer

    return handle
