"""The cast: an account, people with a role in it, and the door they come through."""

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection
from django.test import Client
from django.test.utils import setup_databases, teardown_databases
from django_q.models import OrmQ
from hypothesis import HealthCheck

from senselab.accounts import audit
from senselab.accounts import services as accounts
from senselab.accounts.models import Account, Person, Role
from tests import statements

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60

# Examples are the same each time and may take as long as a busy machine lets them: no test measures time.
hypothesis.settings.register_profile(
    "steady", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis.settings.load_profile("steady")


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest, django_test_environment: None, django_db_blocker: Any
) -> Iterator[None]:
    """Make this run's database whoever asks; pytest-django makes none, and `lasting` would commit elsewhere, for tests
    that name neither `db` nor `transactional_db`."""
    verbosity = request.config.option.verbose
    with django_db_blocker.unblock(), statements.unguarded():
        made = setup_databases(verbosity=verbosity, interactive=False, aliases={"default"}, serialized_aliases=set())
    yield
    with django_db_blocker.unblock():
        # A server's session may outlive the server by a moment, and a database in use cannot be dropped.
        others = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"
        )
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            cursor.execute(others, cursor.fetchone())
        teardown_databases(made, verbosity=verbosity)


@pytest.fixture(scope="session", autouse=True)
def passwords_cost_nothing() -> None:
    """Hash a password once instead of a million times; a server of a test checks it just as well."""
    PBKDF2PasswordHasher.iterations = 1


@pytest.fixture(autouse=True)
def every_statement_names_the_account() -> Iterator[None]:
    with statements.guarded():
        yield


@pytest.fixture(autouse=True)
def refusals_end_with_their_test() -> Iterator[None]:
    """What was refused in a test is nothing to tell the accounts of the next one."""
    yield
    vars(audit.refusals).update(vars(audit.Refusals()))


@pytest.fixture(autouse=True)
def plain_static_files(settings) -> None:
    """Pages name their static files without a manifest, which only `collectstatic` makes."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


@pytest.fixture
def empty_queue(db: None) -> None:
    """Nothing waits for the worker, whatever other tests left."""
    OrmQ.objects.all().delete()


@pytest.fixture
def account(request: pytest.FixtureRequest) -> Account:
    """An account of its own for each test; committed when the test is `lasting`, else rolled back."""
    request.getfixturevalue("lasting" if "lasting" in request.fixturenames else "db")
    return accounts.create_account(f"acme-{secrets.token_hex(6)}", name="Acme Shop")


@pytest.fixture
def other_account(account: Account) -> Account:
    """Somebody else's."""
    return accounts.create_account(f"rival-{secrets.token_hex(6)}", name="Rival")


def joined(account: Account, name: str, role: Role) -> Person:
    person = accounts.create_person(f"{name}-{secrets.token_hex(4)}", password="correct horse battery")
    person.first_name = name.capitalize()
    person.save(update_fields=["first_name"])
    accounts.give_role(person, account, role)
    return person


@pytest.fixture
def ada(account: Account) -> Person:
    """Runs the place: admin."""
    return joined(account, "ada", Role.ADMIN)


@pytest.fixture
def rex(account: Account) -> Person:
    """Decides about doubtful entries: reviewer."""
    return joined(account, "rex", Role.REVIEWER)


@pytest.fixture
def vera(account: Account) -> Person:
    """Looks and touches nothing: viewer."""
    return joined(account, "vera", Role.VIEWER)


@pytest.fixture
def client_of() -> Callable[[Person], Client]:
    def logged_in(person: Person) -> Client:
        client = Client()
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return logged_in


@pytest.fixture
def api_key(account: Account) -> str:
    """A free key with the scopes read and write."""
    return accounts.create_key(account, name="test key", rate_per_minute=1_000_000)


@pytest.fixture
def review_key(account: Account) -> str:
    """A free key that may also decide and roll back."""
    return accounts.create_key(
        account, name="review key", scopes=("read", "write", "review"), rate_per_minute=1_000_000
    )


@dataclass(frozen=True, slots=True)
class Server:
    """A live server over this run's database."""

    url: str


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_open(port: int, process: subprocess.Popen[bytes]) -> None:
    """Return when somebody listens.

    :raises RuntimeError: nobody does in time, or the process ended.
    """
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends and process.poll() is None:
        with socket.socket() as probe:
            probe.settimeout(0.2)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise RuntimeError(f"nobody listens on port {port}")


@contextmanager
def serving(database_url: str, *, workers: int = 1, **settings: str) -> Iterator[Server]:
    """Run the server over a database, as `up` does but for its number of processes and some settings."""
    port = free_port()
    environment = {
        **os.environ,
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "senselab.settings",
        "PYTHONPATH": str(ROOT),
        # As many calls at work as there are threads, so that none is sent away while a test races.
        "WEB_THREADS": "16",
        **settings,
    }
    manage = [sys.executable, str(ROOT / "manage.py"), "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(manage, env=environment, cwd=ROOT, check=True)
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--workers", str(workers), "--blocking-threads", "16", "--no-access-log", "senselab.wsgi:application"]
    process = subprocess.Popen(command, env=environment, cwd=ROOT)
    try:
        wait_until_open(port, process)
        yield Server(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture(scope="session")
def live_server_process(database_url: str) -> Iterator[Server]:
    with serving(database_url) as server:
        yield server


@pytest.fixture
def server(lasting: None, live_server_process: Server) -> Server:
    return live_server_process
