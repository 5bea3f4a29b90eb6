"""Checks a large account in two processes, each half of it, as of the same moment: two cores take half the time."""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from memories.checking.verify import Finding
from senselab import keeper

log = logging.getLogger(__name__)

# Below so many versions a second process takes longer to begin than it saves.
WORTH_IT = 50_000
MIDDLE = """
    SELECT s.id FROM (
        SELECT e.id, sum(e.version) OVER (ORDER BY e.id) AS so_far FROM memories_entry e WHERE e.account_id = %s) s
     WHERE s.so_far >= %s ORDER BY s.id LIMIT 1
"""


def middle(account_id: int, versions: int) -> int | None:
    """Return the id of the last entry of the first half; None where all is looked at here.

    Only who reads as of one moment (`verify_reads.one_view`) can let another process see the same.
    """
    if versions < WORTH_IT or (os.cpu_count() or 1) < 2:
        return None
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        if cursor.fetchone() != ("repeatable read",):
            return None
        cursor.execute(MIDDLE, [account_id, versions // 2])
        row = cursor.fetchone()
    return int(row[0]) if row else None


class SecondHalf:
    """A process that looks at the entries after one, in the view of this transaction; it ends with us."""

    def __init__(self, account_id: int, after: int) -> None:
        self.account_id, self.after = account_id, after
        self.told: list[Any] = []

    def __enter__(self) -> Self:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_export_snapshot()")
            (snapshot,) = cursor.fetchone()
        address = make_conninfo(settings.DATABASE_URL, dbname=str(connection.settings_dict["NAME"]))
        manage = [sys.executable, str(settings.BASE_DIR / "manage.py"), "verify_half"]
        self.process = subprocess.Popen(
            [*manage, str(self.account_id), str(self.after), snapshot],
            env=os.environ | {"DATABASE_URL": address},
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=keeper.dying_with(os.getpid(), signal.SIGKILL),  # noqa: PLW1509
        )
        self.reader = threading.Thread(target=self._read, name="second half", daemon=True)
        self.reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            with contextlib.suppress(ValueError):
                self.told.append(json.loads(line))

    @property
    def looked(self) -> tuple[int, int, int]:
        """Return how many entries and versions it looked at so far, and how many of those by their seals alone."""
        counts = [line["looked"] for line in list(self.told) if "looked" in line]
        entries, versions, unknown = counts[-1] if counts else (0, 0, 0)
        return entries, versions, unknown

    def ended(self, tell: Callable[[], None]) -> bool:
        """Wait for its end, calling `tell` meanwhile; say whether it looked at everything."""
        while self.reader.is_alive():
            self.reader.join(1.0)
            tell()
        code = self.process.wait()
        if code:
            log.warning("the process that checked the second half ended with exit code %d; it is done again", code)
        return code == 0

    def findings(self) -> Iterator[tuple[str, Finding]]:
        for line in self.told:
            if "found" in line:
                where, version, words = line["found"]
                yield where, Finding(version, words)


def line_of(**said: Any) -> str:
    """Return what the second process says, to be written as a line."""
    return json.dumps(said, separators=(",", ":"))
