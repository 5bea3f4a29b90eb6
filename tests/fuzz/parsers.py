"""The parsers that are ours, each on any text: it is read, or refused by name; nothing else."""

import base64
import json
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from uuid import UUID

import django
import msgspec
from django.test import RequestFactory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "senselab.settings")
django.setup()

from memories import screening  # noqa: E402
from memories.api import identity  # noqa: E402
from memories.rules import detection, diff, folding, jsontexts, names, pointers  # noqa: E402
from memories.services import arriving  # noqa: E402
from memories.services.arriving import Arrival  # noqa: E402
from outcomes.rules import temporal, terms  # noqa: E402
from senselab import addresses, api, cursors, jsontext, logs, lookalikes, sheets  # noqa: E402
from senselab.accounts import globs, origins  # noqa: E402
from senselab.cli import formats, showing  # noqa: E402
from senselab.errors import Refusal  # noqa: E402

PLACE = "kanari/vault"


def cursor(text: str) -> None:
    packed = base64.urlsafe_b64encode(text.encode(errors="surrogatepass")).decode()
    for one in (text, packed):
        with suppress(Refusal):
            at, _ = cursors.read(one, datetime.fromisoformat, UUID)
            assert at.tzinfo is not None
        with suppress(Refusal):
            assert -(2**63) <= cursors.read(one, int)[0] < 2**63


def name(text: str) -> None:
    for clean in (names.clean_path, names.clean_key, names.clean_name, lambda told: names.clean_reference(told, 0)):
        with suppress(Refusal):
            found = clean(text)
            assert clean(found) == found


def glob(text: str) -> None:
    with suppress(Refusal):
        (one,) = globs.clean([{"pattern": text}])
        reach = globs.reach([one], "read")
        if reach is not None:
            assert reach.holds(text) or set("*?") & set(text)
            assert reach.of_entry_key(f"{PLACE}/key") == any(map(reach.holds, ("kanari", PLACE)))


def moment(text: str) -> None:
    with suppress(Refusal):
        assert identity.since_of(text).utcoffset() is not None
    with suppress(addresses.Unfit):
        addresses.day_after(text)


def version(text: str) -> None:
    request = RequestFactory().get("/", headers={"If-Match": text})
    with suppress(Refusal):
        found = api.expected_version(request)  # type: ignore[arg-type]
        assert found is None or found >= 0


def value(text: str) -> None:
    with suppress(Refusal):
        jsontexts.check_value(text)
        json.loads(text)
        jsontext.tree(text)
        jsontext.preview(text)
        diff.diff(text, "null")
        assert diff.diff(text, text) == []
        pointers.pointer_at(text, len(text) // 2)
        folding.spoken(text)


def words(text: str) -> None:
    temporal.read(text)
    terms.asked(text)
    terms.of_task(text)
    list(folding.chunks(text))
    folding.fold(text)
    found = detection.detect_feedback(text)
    assert found is None or len((found.suggested or "").split()) <= 5
    assert "".join(piece.text for piece in diff.word_diff(text, text[::-1]) if piece.operation != "add") == text


def secret(text: str) -> None:
    told = json.dumps(text)
    found = screening.hits(told)
    assert isinstance(json.loads(screening.redacted(told, found)), str)


def shown(text: str) -> None:
    assert max(lookalikes.places(text), default=-1) < len(text)
    assert not set("\u202e\u2066\u200b\0") & set(jsontext.marked(text))
    assert "\n" not in logs.in_one_line(text)
    logs.cleaned(text)
    assert not sheets.cell(text).startswith(("=", "+", "-", "@"))
    assert origins.clean(text) is None or origins.clean(str(origins.clean(text))) == origins.clean(text)


def lines(text: str) -> None:
    told = {"line": "header", "format": arriving.FORMAT, "schema": 1, "columns": {"entry": ["key"]}}
    header = msgspec.json.encode(told) + b"\n"
    given = text.encode(errors="replace").splitlines(keepends=True)
    for file in (given, [header, *given]):
        with suppress(Refusal):
            list(arriving.batches(Arrival(), file))


def note(text: str) -> None:
    matter, rest = formats.front_matter(f"---\n{text}\n---\nrest")
    assert isinstance(matter, dict)
    assert rest.endswith("rest")
    if text != "-":
        showing.value_of(text)


PARSERS: dict[str, Callable[[str], None]] = {
    parser.__name__: parser
    for parser in (cursor, name, glob, moment, version, value, words, secret, shown, lines, note)
}


def one(data: bytes) -> None:
    """Give what follows the first byte to the parser that this chooses."""
    if data:
        choices = list(PARSERS.values())
        choices[data[0] % len(choices)](data[1:].decode(errors="replace"))
