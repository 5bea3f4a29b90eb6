"""Makes copies of the whole database, proves them by restoring, and brings one back."""

import contextlib
import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from senselab.survival import copies
from senselab.survival.copies import Copy, Note
from senselab.survival.programs import CannotBackUp, found, named, run

MANAGE = Path(__file__).resolve().parents[2] / "manage.py"


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Let one backup at a time work in a folder.

    :raises CannotBackUp: another does already, or the folder cannot be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CannotBackUp(f"{folder} cannot be written: {error.strerror}.") from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise CannotBackUp("Another backup is under way.") from error
    finally:
        os.close(fd)


def make(conninfo: str, folder: Path, *, now: datetime, bin_folder: str = "") -> Copy:
    """Write a copy of the database; there is a whole one, or none.

    :raises CannotBackUp: it cannot be made.
    """
    copies.sweep(folder)
    path = copies.path_for(folder, now)
    part = path.with_suffix(".part")
    try:
        part.touch(mode=0o600)
        options = ["--format=custom", "--no-owner", "--no-privileges", "--lock-wait-timeout=60s", f"--file={part}"]
        run(found("pg_dump", bin_folder), options, conninfo)
        copies.sync(part)
        part.replace(path)
        with psycopg.connect(conninfo) as connection:
            server = connection.info.server_version
        note = Note(made_at=now, bytes=path.stat().st_size, sha256=copies.digest(path), server=server)
        copies.write_note(path, note)
        copies.sync(path)
    except OSError as error:
        raise CannotBackUp(f"{folder} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)
    return Copy(path, note)


def prove_it(conninfo: str, copy: Copy, *, now: datetime, bin_folder: str = "") -> Copy:
    """Restore a copy into a scratch database, recompute everything there, and note that all of it fits.

    :raises CannotBackUp: it cannot be restored, or something does not fit.
    """
    copies.checked(copy)
    # One name, so that what an interrupted proof left is dropped by the next.
    with scratch(conninfo, f"{conninfo_to_dict(conninfo)['dbname']}_proof") as address:
        fill(address, copy, bin_folder)
        looked = verified(address)
    proven = Copy(copy.path, msgspec.structs.replace(copy.note, proven_at=now, looked=looked))
    copies.write_note(copy.path, proven.note)
    return proven


def make_and_prove(
    conninfo: str, folder: Path, *, clock: Callable[[], datetime], prove: bool = True, bin_folder: str = ""
) -> Copy:
    """Make a copy and, unless told otherwise, prove it; one at a time in a folder.

    :raises CannotBackUp: it cannot be made, or does not hold; a copy that does not hold stays, marked so.
    """
    with alone(folder):
        copy = make(conninfo, folder, now=clock(), bin_folder=bin_folder)
        return prove_it(conninfo, copy, now=clock(), bin_folder=bin_folder) if prove else copy


@contextlib.contextmanager
def scratch(conninfo: str, name: str) -> Iterator[str]:
    """Make a database beside the one at an address, and drop it in the end.

    :raises CannotBackUp: the user may not.
    """
    with server(conninfo) as connection:
        create(connection, name)
    try:
        yield named(conninfo, name)
    finally:
        with server(conninfo) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def create(connection: psycopg.Connection, name: str) -> None:
    try:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    except psycopg.errors.InsufficientPrivilege as error:
        raise CannotBackUp("The database's user may not make a database beside it: grant it CREATEDB.") from error


@contextlib.contextmanager
def server(conninfo: str) -> Iterator[psycopg.Connection]:
    """Connect to a server beside our database, whether that is there or not.

    :raises CannotBackUp: the server does not answer.
    """
    try:
        with psycopg.connect(named(conninfo, "postgres"), autocommit=True) as connection:
            yield connection
    except psycopg.OperationalError as error:
        raise CannotBackUp(f"The server does not answer: {str(error).strip().splitlines()[0]}") from error


def fill(address: str, copy: Copy, bin_folder: str = "") -> None:
    options = ["--exit-on-error", "--no-owner", "--no-privileges", "--jobs=2", str(copy.path)]
    run(found("pg_restore", bin_folder), options, address)


def verified(address: str) -> str:
    """Recompute a database's every entry and seal in a process of its own; return what was looked at, in words.

    :raises CannotBackUp: something does not fit.
    """
    environment = os.environ | {"DATABASE_URL": address}
    command = [sys.executable, str(MANAGE), "verify"]
    done = subprocess.run(command, env=environment, cwd=MANAGE.parent, capture_output=True, text=True, check=False)
    said = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["it says nothing"]
    if done.returncode:
        raise CannotBackUp(f"The copy was restored, but not all of it fits: {said[-1]}; first: {said[0]}")
    return said[-1]


def bring_back(conninfo: str, copy: Copy, *, now: datetime, bin_folder: str = "") -> str:
    """Put a copy in the place of the database; return the name under which the one it replaces stays.

    The copy is restored and checked beside it first; then names are exchanged, within a moment. Whoever is connected
    is sent away and comes back to the copy. One interrupted between the two names goes on here.

    :raises CannotBackUp: it cannot be restored, and then nothing has changed.
    """
    copies.checked(copy)
    name = str(conninfo_to_dict(conninfo)["dbname"])
    fresh, before = f"{name}_fresh", f"{name}_before_{now.strftime('%Y%m%d_%H%M%S')}"
    with server(conninfo) as connection:
        create(connection, fresh)
    try:
        fill(named(conninfo, fresh), copy, bin_folder)
        verified(named(conninfo, fresh))
    except CannotBackUp:
        with server(conninfo) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(fresh)))
        raise
    with server(conninfo) as connection:
        kept = exchange(connection, name, fresh, before)
    return kept


def exchange(connection: psycopg.Connection, name: str, fresh: str, before: str) -> str:
    """Give `fresh` the name of the database, and that one another; '' when there was none."""
    there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
    if there:
        # Nobody may come in between the end of the others and the new name.
        connection.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(sql.Identifier(name)))
        try:
            send_away(connection, name)
            rename(connection, name, before)
        finally:
            now = before if gone(connection, name) else name
            connection.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(sql.Identifier(now)))
    rename(connection, fresh, name)
    return before if there else ""


def gone(connection: psycopg.Connection, name: str) -> bool:
    return connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None


def send_away(connection: psycopg.Connection, name: str) -> None:
    connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
        [name],
    )


def rename(connection: psycopg.Connection, name: str, other: str) -> None:
    connection.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(name), sql.Identifier(other)))


def drop_replaced(conninfo: str) -> list[str]:
    """Drop the databases that restores replaced; return their names."""
    names = replaced(conninfo)
    with server(conninfo) as connection:
        for name in names:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
    return names


def replaced(conninfo: str) -> list[str]:
    """Return the names of databases that a restore replaced, the oldest first."""
    name = str(conninfo_to_dict(conninfo)["dbname"])
    with server(conninfo) as connection:
        rows = connection.execute("SELECT datname FROM pg_database ORDER BY datname").fetchall()
    return [found for (found,) in rows if re.fullmatch(rf"{re.escape(name)}_before_\d{{8}}_\d{{6}}", found)]
