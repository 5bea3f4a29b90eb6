"""What has to be in order before SenseLab runs; whatever is not ends the start with one sentence."""

import contextlib
import errno
import hashlib
import os
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import DatabaseError, connections

from senselab.accounts import services
from senselab.cluster import make_data_folder
from senselab.engine import MINIMUM

LOCK = int.from_bytes(b"senselab", "big") // 2  # any number, as long as all nodes take the same


def check_data_folder() -> None:
    try:
        make_data_folder(settings.DATA_DIR)
        with tempfile.TemporaryFile(dir=settings.DATA_DIR):
            pass
    except OSError as error:
        sys.exit(f"The data folder {settings.DATA_DIR} (SENSELAB_DATA) cannot be written to: {error.strerror}.")


def check_port() -> None:
    """Make sure that we may listen at HOST and PORT; web's own processes share a port, so they would not notice."""
    if not 0 < settings.PORT < 65536:
        sys.exit(f"PORT is a number from 1 to 65535, not {settings.PORT}.")
    try:
        found = socket.getaddrinfo(settings.HOST, settings.PORT, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            sys.exit(
                f"PORT {settings.PORT} is in use: SenseLab runs already, or something else does; set another PORT."
            )
        sys.exit(f"Nothing can listen at HOST {settings.HOST} and PORT {settings.PORT}: {error.strerror}.")


def keep_secret_key() -> None:
    """Write the key that signs sessions, once, readable by its owner only."""
    path = settings.DATA_DIR / "secret_key"
    with contextlib.suppress(FileExistsError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(secrets.token_urlsafe(50))
        if os.geteuid() == 0:
            folder = settings.DATA_DIR.stat()
            os.chown(path, folder.st_uid, folder.st_gid)


def clear_metrics() -> None:
    """Make the folder in which web processes count together, and begin to count at 0."""
    folder = settings.DATA_DIR / "metrics"
    folder.mkdir(mode=0o700, exist_ok=True)
    for path in folder.glob("*.db"):
        path.unlink(missing_ok=True)
    if os.geteuid() == 0:
        owner = settings.DATA_DIR.stat()
        os.chown(folder, owner.st_uid, owner.st_gid)


def check_database() -> None:
    """Make sure that the database answers and is new enough."""
    try:
        with psycopg.connect(settings.DATABASE_URL, connect_timeout=5) as connection:
            found = connection.info.server_version
    except psycopg.Error as error:
        sys.exit(f"The database at DATABASE_URL does not answer: {first_line(error)}.")
    if found < MINIMUM * 10_000:
        version = f"{found // 10_000}.{found % 10_000}"
        sys.exit(f"The database is PostgreSQL {version}, which is too old: SenseLab needs {MINIMUM} or newer.")


def first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Hold a lock in the database, so that two nodes do not prepare it at once."""
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
        # Asked for again and again: a statement that waited would be waited for by the index that the other node makes
        # beside writers, and neither would ever go on.
        while not has_lock(connection):
            time.sleep(0.2)
        yield


def has_lock(connection: psycopg.Connection) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(%s)", [LOCK]).fetchone()
    return bool(row and row[0])


def prepare() -> services.FirstRun | None:
    """Migrate, collect static files and set the schedules; return what the very first start made."""
    with alone():
        try:
            call_command("migrate", interactive=False, verbosity=0)
        except DatabaseError as error:
            reason = "the database's user lacks a right" if lacks_a_right(error) else "the database refused a step"
            sys.exit(f"The migrations failed because {reason}: {first_line(error)}.")
        collect_static()
        call_command("sync_schedules", verbosity=0)
        made = services.first_run()
    connections.close_all()
    return made


def lacks_a_right(error: BaseException | None) -> bool:
    while error and not isinstance(error, psycopg.errors.InsufficientPrivilege):
        error = error.__cause__ or error.__context__
    return error is not None


def fingerprint() -> str:
    """Return what changes when any static file does."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            found = Path(storage.path(name)).stat()
            digest.update(f"{name} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def collect_static() -> None:
    """Collect static files when they changed: hashing and compressing all of them takes seconds."""
    stamp, now = settings.STATIC_ROOT / ".fingerprint", fingerprint()
    if not stamp.exists() or stamp.read_text() != now:
        call_command("collectstatic", interactive=False, verbosity=0)
        stamp.write_text(now)
