"""A PostgreSQL server of ours as one sees it: its address, whether it lives, when it is ready."""

import os
import re
import signal
import time
from pathlib import Path
from urllib.parse import quote

import psycopg

from senselab.cluster import NAME, Place, last_line
from senselab.engine import DatabaseUnavailable

# Fast shutdown first; what it did not manage in time, crash recovery puts right at the next start.
STOP = [(signal.SIGINT, 3.0), (signal.SIGQUIT, 1.0)]
BUSY = re.compile("starting up|shutting down|in recovery|not yet accepting|not accepting|terminating")


def address(sockets: Path, name: str = NAME) -> str:
    return f"postgresql://{NAME}@/{name}?host={quote(str(sockets), safe='')}&port=5432"


def ready(place: Place, lifeline: int) -> bool:
    """Wait until a connection works and the database exists; False when the keeper went away before that.

    :raises DatabaseUnavailable: the server refuses us, and will for ever.
    """
    while alive(lifeline):
        try:
            with psycopg.connect(address(place.sockets, "postgres"), autocommit=True) as connection:
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone():
                    connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(NAME)))
                return True
        except psycopg.OperationalError as error:
            if "FATAL" in str(error) and not BUSY.search(str(error)):
                raise DatabaseUnavailable(f"PostgreSQL refuses the connection: {last_line(str(error))}.") from error
            time.sleep(0.05)
    return False


def alive(lifeline: int) -> bool:
    """Say whether a keeper still reads the lifeline."""
    try:
        os.write(lifeline, b".")
    except BrokenPipeError:
        return False
    except BlockingIOError:
        return True
    return True
