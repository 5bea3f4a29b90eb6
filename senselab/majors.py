"""Data of an older PostgreSQL go over to the one that came with an upgrade: dumped, restored, compared, exchanged.

The old data and their programs stay beside the new ones, under the old version's number. Until every row was compared
nothing stands in another place; what is interrupted before is begun again, and what is interrupted after is finished by
the next start. When it fails, the old server goes on.
"""

import contextlib
import logging
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
from psycopg import sql

from senselab import engine
from senselab.cluster import NAME, Place, configure, initialise, last_line, make_private
from senselab.engine import DatabaseUnavailable
from senselab.keeper import Orders, keep
from senselab.serving import address, ready
from senselab.survival.copies import sync
from senselab.survival.programs import CannotBackUp, named, run

logger = logging.getLogger(__name__)

# All of a new cluster must be on the disk before it counts.
STOP = [(signal.SIGINT, 120.0)]
NEXT, DUMP, COMPARED = "pgdata-next", "dump-next", "compared"
DATABASES = "SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate AND datname <> 'postgres'"
RELATIONS = """
    SELECT n.nspname, c.relname, c.relkind::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'S') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY 1, 2
"""
# Two tables are the same when they have as many rows and the digests of their rows add up to the same.
ROWS = """
    SELECT count(*), coalesce(sum(('x' || left(encode(sha256(convert_to(t::text, 'UTF8')), 'hex'), 15))::bit(60)::bigint
                                  ::numeric), 0) FROM ONLY {} t
"""
COUNTED = "SELECT last_value, is_called FROM {}"
Contents = dict[str, tuple[object, ...]]


def succeed(place: Place, *, durable: bool) -> None:
    """Let the data go over when there is a newer PostgreSQL than made them, and finish what was interrupted."""
    finish(place)
    had, has = engine.major_of(place.cluster), engine.newest(place.as_owner())
    if had is None or has is None or had >= has:
        return
    old = engine.older(place.home, had, place.as_owner())
    if old is None:
        return  # `engine.find` says what is missing.
    logger.warning("The data of PostgreSQL %d go over to %d; this is done once and takes a while.", had, has)
    try:
        take_over(place, old, engine.following(place.home), durable=durable)
    except (CannotBackUp, DatabaseUnavailable, OSError, subprocess.CalledProcessError, psycopg.Error) as error:
        logger.warning("They stay with PostgreSQL %d for now: %s", had, str(error).strip())
        return
    logger.warning("PostgreSQL %d has them all; what was before stays in %s.", has, place.home / f"pgdata-{had}")


def take_over(place: Place, old: Path, new: Path, *, durable: bool) -> None:
    """Restore a dump of the data into a new cluster, and put that in their place once all of it was compared.

    :raises CannotBackUp: something cannot be restored, or is not the same afterwards.
    """
    clear(place)
    before = replace(place, sockets=Path(f"{place.sockets}-old"))
    after = replace(place, sockets=Path(f"{place.sockets}-new"), folder=NEXT)
    initialise(after, new)
    with serving(before, old, durable=durable) as source:
        names = dump(source, place, new)
        with serving(after, new, durable=durable) as target:
            restore(target, place, new, names)
            compare(source, target)
    carry_settings(place, after, new)
    mark(place)
    finish(place)


def clear(place: Place) -> None:
    """Remove what an interrupted attempt left."""
    for name in (NEXT, DUMP):
        shutil.rmtree(place.home / name, ignore_errors=True)


@contextlib.contextmanager
def serving(place: Place, binaries: Path, *, durable: bool) -> Iterator[str]:
    """Run a server that nobody else knows of and give its address; it ends with us.

    :raises DatabaseUnavailable: it does not start.
    """
    make_private(place.sockets, place.uid, place.gid)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    user = (place.uid, place.gid) if os.geteuid() == 0 else None
    with place.log.open("ab") as log:
        place.give(place.log)
        command = [str(binaries / "postgres"), *configure(place, durable=durable)]
        orders = Orders(lifeline=reading, stop=STOP, user=user)
        keeper = keep(command, orders, env=engine.environment(), cwd=Path("/"), out=log.fileno())
    os.close(reading)
    try:
        if not ready(place, writing):
            raise DatabaseUnavailable(f"it does not start: {last_line(place.log.read_text(errors='replace')[-4096:])}")
        yield address(place.sockets)
    finally:
        os.close(writing)
        keeper.wait()
        shutil.rmtree(place.sockets, ignore_errors=True)


def databases(server: str) -> list[str]:
    with psycopg.connect(named(server, "postgres")) as connection:
        return sorted(name for (name,) in connection.execute(DATABASES))


def dump(source: str, place: Place, programs: Path) -> list[str]:
    """Write roles and databases, by the programs of the new version as PostgreSQL advises; return the databases."""
    folder, names = place.home / DUMP, databases(source)
    folder.mkdir(mode=0o700)
    run(programs / "pg_dumpall", ["--roles-only", f"--file={folder / 'roles.sql'}"], source)
    for number, name in enumerate(names):
        options = ["--format=directory", "--jobs=2", f"--file={folder / str(number)}"]
        run(programs / "pg_dump", options, named(source, name))
    return names


def restore(target: str, place: Place, programs: Path, names: list[str]) -> None:
    folder, there = place.home / DUMP, databases(target)
    # The owner was made with the cluster; what starts with a backslash is for psql.
    said = (folder / "roles.sql").read_text().splitlines()
    roles = "\n".join(line for line in said if line != f"CREATE ROLE {NAME};" and not line.startswith("\\"))
    with psycopg.connect(named(target, "postgres"), autocommit=True) as connection:
        connection.execute(roles.encode())
        for name in names:
            if name not in there:
                connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    for number, name in enumerate(names):
        run(programs / "pg_restore", ["--exit-on-error", "--jobs=2", str(folder / str(number))], named(target, name))


def compare(source: str, target: str) -> None:
    """Look at every row on both sides.

    :raises CannotBackUp: something is not the same.
    """
    for name in databases(source):
        before, after = contents(named(source, name)), contents(named(target, name))
        other = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        if other:
            raise CannotBackUp(f"{other[0]} of the database {name} is not the same after it was restored.")


def contents(server: str) -> Contents:
    """Return what tells a database's tables and sequences from others."""
    found: Contents = {}
    with psycopg.connect(server) as connection:
        connection.execute("SET timezone = 'UTC'")
        for schema, name, kind in connection.execute(RELATIONS).fetchall():
            asked = sql.SQL(ROWS if kind == "r" else COUNTED).format(sql.Identifier(schema, name))
            found[f"{schema}.{name}"] = connection.execute(asked).fetchone() or ()
    return found


def carry_settings(place: Place, after: Place, programs: Path) -> None:
    """Keep what ALTER SYSTEM set, as far as the new server knows it; as its user, in whose folders it stands."""
    name, user = "postgresql.auto.conf", place.as_owner()
    subprocess.run(["cp", place.cluster / name, after.cluster / name], cwd="/", check=True, **user)
    command = [str(programs / "postgres"), "-C", "port", *configure(after, durable=True)]
    done = subprocess.run(command, cwd="/", env=engine.environment(), capture_output=True, check=False, **user)
    if done.returncode:
        subprocess.run(["cp", "/dev/null", after.cluster / name], cwd="/", check=True, **user)
        logger.warning("What ALTER SYSTEM set is left behind: %s", last_line(done.stderr.decode(errors="replace")))


def mark(place: Place) -> None:
    """Say on the disk that the new data are whole, and under which name the old ones will stay."""
    had = engine.major_of(place.cluster)
    names = [str(had), *(f"{had}.{number}" for number in range(1, 100))]
    free = next(name for name in names if not (place.home / f"pgdata-{name}").exists())
    part, path = place.home / f"{COMPARED}.part", place.home / COMPARED
    part.write_text(free)
    part.replace(path)
    sync(path)


def finish(place: Place) -> None:
    """Exchange the names of folders, or what is left of that; nothing when no data wait for it."""
    path = place.home / COMPARED
    if not path.exists():
        return
    kept, fresh = path.read_text(), place.home / NEXT
    for now, then in (
        (place.home / "engine", place.home / f"engine-{kept}"),
        (place.cluster, place.home / f"pgdata-{kept}"),
    ):
        if now.exists() and fresh.exists() and not then.exists():
            now.rename(then)
    if fresh.exists():
        fresh.rename(place.cluster)
    if (place.home / engine.NEXT).exists() and not (place.home / "engine").exists():
        (place.home / engine.NEXT).rename(place.home / "engine")
    sync(path)
    path.unlink()
    for name in (DUMP, engine.NEXT):
        shutil.rmtree(place.home / name, ignore_errors=True)
