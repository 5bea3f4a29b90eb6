"""pytest plugin: the embedded server for tests, in a folder that outlives the run, so that it starts in a blink.

DATABASE_URL, when set, is used instead. Each run has a database of its own, so that two runs do not meet.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import environ
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

ROOT = Path(__file__).resolve().parent.parent

environ.Env.read_env(ROOT / ".env")
# At import, before pytest-django loads the settings, and whatever it was: tests never touch a real data folder.
# Processes of one run have a server each: a transaction that one holds open would hold up the streams of another.
os.environ["SENSELAB_DATA"] = str(ROOT / "var" / "test" / os.environ.get("PYTEST_XDIST_WORKER", ""))
# Nor does it depend on what is installed how near two texts are; tests that need a model bring their own.
os.environ["EMBEDDING_MODEL"] = "off"


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def drop_leftovers(conninfo: str) -> None:
    """Drop the databases of runs that were killed."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for (name,) in connection.execute(r"SELECT datname FROM pg_database WHERE datname LIKE 'test\_senselab\_%'"):
            found = re.match(r"test_senselab_(\d+)", name)
            if found and not is_alive(int(found[1])):
                connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    from django.conf import settings
    from django.db import connection

    from senselab import postgres

    shares = getattr(session.config.option, "dist", "no") != "no" and not hasattr(session.config, "workerinput")
    if session.config.option.collectonly or shares:
        return
    if not os.environ.get("DATABASE_URL"):
        session.config.add_cleanup(postgres.use(settings.DATA_DIR, durable=False).close)
        drop_leftovers(settings.DATABASE_URL)
    connection.settings_dict["TEST"]["NAME"] = f"test_senselab_{os.getpid()}"


@pytest.fixture
def lasting(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Let a test commit for other processes to see. Nothing is flushed: history refuses it, and accounts are apart."""
    from django.db import connection

    with django_db_blocker.unblock():
        yield
        # What it left in the queue would be late by the next test that asks.
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM django_q_ormq")


@pytest.fixture(scope="session")
def database_url(django_db_setup: None) -> str:
    """Return the address of this run's database, for processes that a test starts."""
    from django.conf import settings
    from django.db import connection

    return make_conninfo(settings.DATABASE_URL, dbname=connection.settings_dict["NAME"])
