"""Log lines: plain or JSON, with the id of the request, and without what only its owner may know.

Keys, tokens of links and passwords in addresses are struck out wherever they come from. Routes stand for paths where
Django tells of a request, and PostgreSQL's DETAIL, which quotes rows, is left out of tracebacks.
"""

import json
import logging
import re
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from senselab import wording

# Set for each request by the middleware.
request_id: ContextVar[str] = ContextVar("request_id", default="")

STRUCK = "[secret]"
SECRETS = (
    re.compile(r"(?<=sl_[0-9a-f]{16}_)[\w-]+"),
    re.compile(r"(?<=/invitation/)[^/\s\"']+"),
    re.compile(r"(?<=/password/)[^/\s\"']+/[^/\s\"']+"),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
    re.compile(r"(?i)(?<=bearer )[\w.~+/-]+=*"),
)
QUOTING = re.compile(r"^[^\n]*\b(?:DETAIL|CONTEXT|LINE \d+): [^\n]*\n?", re.MULTILINE)


def cleaned(text: str) -> str:
    """Return a text of the log without secrets and without what PostgreSQL quotes of rows."""
    for secret in SECRETS:
        text = secret.sub(STRUCK, text)
    return QUOTING.sub("", text)


def in_one_line(text: str) -> str:
    """Return a text as a terminal may have it: what could end a line, turn it round or pass for something else stands
    as an escape, so that no word of a caller's begins a line of ours."""
    if text.isascii() and text.isprintable():
        return text
    runs = wording.marked(text, is_name=True)
    return "".join(wording.escaped(run) if strange else run for strange, run in runs)


def indented(text: str) -> str:
    """Return a traceback whose lines, an error's words among them, all stand behind a margin."""
    return "\n".join(f"  {in_one_line(line)}" for line in text.splitlines())


def routed(record: logging.LogRecord) -> str:
    """Return the message of a record; where it tells of a request, by route and not by address."""
    request = getattr(record, "request", None)
    match = getattr(request, "resolver_match", None)
    if match is not None and record.name == "django.request":
        status = getattr(record, "status_code", "")
        return f"{status} {request.method} /{match.route}"  # type: ignore[union-attr]
    return record.getMessage()


class Line(logging.Formatter):
    """One line for people: level, logger, words, and the request."""

    def format(self, record: logging.LogRecord) -> str:
        asked = _request_of(record)
        told = f"{record.levelname} {record.name} {cleaned(in_one_line(routed(record)))}"
        told += f" [{asked}]" if asked else ""
        if record.exc_info:
            told += f"\n{indented(cleaned(self.formatException(record.exc_info)))}"
        return told


class Json(logging.Formatter):
    """One JSON object a line, for machines."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": cleaned(routed(record)),
        }
        if asked := _request_of(record):
            told["request_id"] = asked
        if record.exc_info:
            told["exception"] = cleaned(self.formatException(record.exc_info))
        return json.dumps(told)


def _request_of(record: logging.LogRecord) -> str:
    return getattr(getattr(record, "request", None), "request_id", "") or request_id.get()
