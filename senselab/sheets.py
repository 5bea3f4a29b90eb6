"""Tables for spreadsheets: CSV in which no cell is a formula, whatever somebody called themselves."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, cast

from django.http import HttpResponse, StreamingHttpResponse

# With one of these a spreadsheet begins to compute, or to read the cell as another one.
ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def cell(value: Any) -> str:
    """Return a value as the text of a cell; an apostrophe keeps it from being read as a formula."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return f"'{text}" if text.lstrip(" ").startswith(ACTIVE) else text


def written(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow([cell(value) for value in row])
        yield line.getvalue()


def download(name: str, rows: Iterable[Iterable[Any]]) -> HttpResponse:
    """Answer with rows as a CSV file of that name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    answer = StreamingHttpResponse(written(rows), content_type="text/csv; charset=utf-8", headers=headers)
    return cast("HttpResponse", answer)
