"""Where the embedded server of a data folder lives, and as whom: folders, rights, initdb, configuration."""

import contextlib
import hashlib
import logging
import os
import pwd
import re
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from senselab import engine
from senselab.engine import DatabaseUnavailable

logger = logging.getLogger(__name__)

NAME = "senselab"  # of the database and of its owner
# The last two settings keep what agents wrote out of the log.
CONFIGURATION = """\
# Written at each start. Change a setting with ALTER SYSTEM: that is kept with the data and wins over this file.
listen_addresses = ''
port = 5432
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0700
max_connections = 120
shared_buffers = {shared}MB
effective_cache_size = {cached}MB
work_mem = 16MB
maintenance_work_mem = 128MB
max_wal_size = 2GB
checkpoint_timeout = 15min
wal_compression = off
random_page_cost = 1.1
jit = off
synchronous_commit = {durable}
fsync = {durable}
full_page_writes = {durable}
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%t '
log_checkpoints = off
log_min_duration_statement = 1s
log_parameter_max_length = 0
log_error_verbosity = terse
"""


@dataclass(frozen=True)
class Place:
    """Where the server of one data folder lives, and as whom (uid, gid) it runs."""

    home: Path
    sockets: Path
    uid: int
    gid: int
    folder: str = "pgdata"

    @property
    def cluster(self) -> Path:
        return self.home / self.folder

    @property
    def log(self) -> Path:
        return self.home / "log"

    def as_owner(self) -> dict[str, Any]:
        """Return what makes subprocess run something as the server's user."""
        return engine.running_as(self.uid, self.gid)

    def give(self, path: Path) -> None:
        """Let who owns the home own a file in it too: root may have been here before them."""
        if os.geteuid() == 0:
            owner = self.home.stat()
            os.chown(path, owner.st_uid, owner.st_gid)


def owner_of(data: Path) -> tuple[int, int]:
    """Return uid and gid for the server: ours; for root, which PostgreSQL refuses, the folder's owner or nobody."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    if data.exists() and data.stat().st_uid != 0:
        return data.stat().st_uid, data.stat().st_gid
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def digest(data: Path) -> str:
    return hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:16]


def socket_folder(data: Path) -> Path:
    # Always /tmp, never $TMPDIR: the path must be short, and the same for every process that asks.
    return Path("/tmp") / f"senselab-{owner_of(data)[0]}-{digest(data)}"


def make_data_folder(data: Path) -> None:
    """Make the folder: what is secret in it is closed by itself, and the server's user must get through."""
    if not data.exists():
        data.mkdir(parents=True)
        data.chmod(0o711)


def place_of(data: Path) -> Place:
    """Return the place of a data folder's server, made when missing.

    :raises DatabaseUnavailable: there are data that the server's user can no longer reach.
    """
    uid, gid = owner_of(data)
    inside, outside = data / "postgres", Path("/var/lib") / f"senselab-{digest(data)}"
    make_data_folder(data)
    home = outside if (outside / "pgdata").exists() else inside
    if home is inside and os.geteuid() == 0 and not engine.can_enter(data, uid, gid):
        if inside.exists():
            raise DatabaseUnavailable(f"The user with id {uid}, as whom PostgreSQL runs, cannot enter {data}.")
        home = outside
        logger.warning("The user with id %d cannot enter %s, so the database goes to %s.", uid, data, home)
    if not home.exists():
        home.mkdir(parents=True)
        home.chmod(0o711)
        if os.geteuid() == 0 and home is inside:
            os.chown(home, data.stat().st_uid, data.stat().st_gid)
    return Place(home, socket_folder(data), uid, gid)


def make_private(folder: Path, uid: int, gid: int) -> None:
    """Make the socket folder, or make sure that the one found is nobody else's.

    :raises DatabaseUnavailable: somebody else made it.
    """
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(folder, uid, gid)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid or found.st_mode & 0o077:
        raise DatabaseUnavailable(f"{folder} was made by somebody else; remove it and start again.")


def initialise(place: Place, binaries: Path) -> None:
    """Make the data directory, all or nothing.

    :raises DatabaseUnavailable: initdb failed.
    """
    fresh = place.home / "pgdata.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(fresh, place.uid, place.gid)
    builtin = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    # The builtin provider came with PostgreSQL 17.
    locale = builtin if int(engine.version(binaries, place.as_owner()) or 0) >= 17 else ["--locale=C.UTF-8"]
    command = [
        str(binaries / "initdb"),
        "-D",
        str(fresh),
        "-U",
        NAME,
        "-E",
        "UTF8",
        "--data-checksums",
        "--auth=reject",
        *locale,
    ]
    done = subprocess.run(
        command, env=engine.environment(), cwd="/", capture_output=True, text=True, check=False, **place.as_owner()
    )
    if done.returncode:
        raise DatabaseUnavailable(f"PostgreSQL cannot make its data folder: {last_line(done.stderr)}")
    fresh.rename(place.cluster)


def memory() -> int:
    """Return how many MiB of memory this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20


def shared_megabytes() -> int:
    """Return how much the server keeps in memory by itself: an eighth of the machine's, from 128 MiB to 2 GiB.

    A million entries have about 2 GiB of indexes; with less, jobs that touch them all wait for pages.
    """
    return min(max(memory() // 8, 128), 2048)


def configure(place: Place, *, durable: bool) -> list[str]:
    """Write the configuration and return the server's arguments."""
    # The files stand outside the data directory: root must not write where the server's user could put a symbolic link.
    people = {pwd.getpwuid(uid).pw_name for uid in {0, os.geteuid(), place.home.stat().st_uid}}
    texts = {
        "config_file": CONFIGURATION.format(
            sockets=place.sockets, durable="on" if durable else "off", shared=shared_megabytes(), cached=memory() // 2
        ),
        "hba_file": "local all all peer map=senselab\nlocal replication all peer map=senselab\n",
        "ident_file": "".join(f'senselab "{person}" {NAME}\n' for person in sorted(people)),
    }
    arguments = ["-D", str(place.cluster)]
    for setting, text in texts.items():
        path = place.home / f"{setting.removesuffix('_file')}.conf"
        path.write_text(text)
        path.chmod(0o644)
        place.give(path)
        arguments += ["-c", f"{setting}={path}"]
    return arguments


def last_line(text: str) -> str:
    """Return the line that says why, without PostgreSQL's time stamp and level."""
    lines = text.splitlines() or ["it says nothing"]
    telling = [line for line in lines if re.search(r"FATAL|PANIC|error", line)] or lines
    return re.sub(r"^.*?(FATAL|PANIC|error): *", "", telling[-1]).strip()
