"""Django's `migrate` that keeps nobody waiting for long: a step that does not get its lock soon is tried again."""

import time
from typing import Any

from django.core.management.commands import migrate
from django.db import OperationalError, connections

from senselab.upgrading import PATIENCE

ATTEMPTS, PAUSE = 120, 1.0
# No lock in time; a deadlock. What a step had done is undone, or made anew by it.
AGAIN = frozenset({"55P03", "40P01"})


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        for attempt in range(1, ATTEMPTS + 1):
            with connection.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = '{PATIENCE}'")
            try:
                super().handle(*args, **options)
                break
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", "") not in AGAIN or attempt == ATTEMPTS:
                    raise
                self.stderr.write(f"A step waited for others and is tried again: {str(error).splitlines()[0]}")
                time.sleep(PAUSE)
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
