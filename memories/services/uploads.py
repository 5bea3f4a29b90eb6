"""A file on its way to a job: kept in the database, as the worker may run on another machine than the web."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db import connection, transaction

from memories.models import UploadPart
from memories.services import arriving, importing, running
from senselab.errors import Refusal

PIECE = 1024 * 1024


@transaction.atomic
def keep(account_id: int, pieces: Iterable[bytes], *, name: str, by: str, now: datetime) -> int:
    """Keep an uploaded history and ask for the run that takes it in; return that run's id.

    :raises Refusal: the account holds something already, or the file holds nothing.
    """
    importing.refuse_unless_empty(account_id)
    run_id = running.ask(account_id, "import", by=by, now=now, terms={"file": name[:200]})
    drop(account_id, run_id)
    count = 0
    for number, piece in enumerate(pieces):
        UploadPart.objects.create(account_id=account_id, run_id=run_id, number=number, data=piece)
        count += piece.count(b"\n")
    if not count:
        raise Refusal("That file holds no line.")
    running.amend(account_id, run_id, terms={"file": name[:200], "lines": count})
    return run_id


def lines(account_id: int, run_id: int) -> Iterator[bytes]:
    """Yield the lines of an uploaded file, each with its end; a part or two are in memory.

    :raises Refusal: the file is not there any more.
    """
    number, rest = 0, b""
    parts = UploadPart.objects.filter(account_id=account_id, run_id=run_id)
    while (data := parts.filter(number=number).values_list("data", flat=True).first()) is not None:
        *whole, rest = (rest + bytes(data)).split(b"\n")
        yield from (line + b"\n" for line in whole)
        if len(rest) > arriving.LONGEST:
            break  # too long for a line, which whoever reads it says
        number += 1
    if not number:
        raise Refusal("The uploaded file is not there any more; upload it again.")
    if rest:
        yield rest


def drop(account_id: int, run_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM memories_uploadpart WHERE account_id = %s AND run_id = %s", [account_id, run_id])


DROP_LEFT = """
    DELETE FROM memories_uploadpart p WHERE p.account_id = %(account)s AND NOT EXISTS (
        SELECT 1 FROM memories_jobrun r
         WHERE r.account_id = %(account)s AND r.id = p.run_id AND r.state IN ('waiting', 'running'))
"""


def drop_left(account_id: int) -> None:
    """Drop the files of runs that ended without taking them in."""
    with connection.cursor() as cursor:
        cursor.execute(DROP_LEFT, {"account": account_id})
