"""Tables for spreadsheets: CSV in which no cell is a formula, whatever somebody called themselves."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, cast

from django.http import HttpResponse, StreamingHttpResponse

from senselab import unmasking
from senselab.holding import exports

# With one of these a spreadsheet begins to compute, or to read the cell as another one.
ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# What stands before it unseen does not keep some spreadsheets from it.
UNSEEN = " \u00a0\u00ad\ufeff\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069"


def cell(value: Any, *, is_name: bool = True) -> str:
    """Return a value as the text of a cell, what misleads in it as escapes; an apostrophe keeps it from being read as
    a formula."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    shown = unmasking.plain(text, is_name=is_name)
    return f"'{shown}" if text.lstrip(UNSEEN).startswith(ACTIVE) else shown


def written(rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow([cell(value) for value in row])
        yield line.getvalue().encode()


def download(name: str, rows: Iterable[Iterable[Any]], *, account_id: int) -> HttpResponse:
    """Answer with rows as a CSV file of that name.

    :raises TooMany: the account has as many exports under way as one may have; so does Busy.
    """
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    pieces = exports.hold(written(rows), account_id)
    answer = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8", headers=headers)
    return cast("HttpResponse", answer)
