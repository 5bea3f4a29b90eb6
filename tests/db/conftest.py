"""Callers at the API as in its own tests, and a connection whose round trips are counted."""

from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
from django.utils import timezone

from tests.api.conftest import Caller, bot, counted, helper, nobody, reviewer, stranger
from tests.db import trips
from tests.db.racing import Race

__all__ = ["Caller", "bot", "counted", "helper", "nobody", "reviewer", "stranger"]


@pytest.fixture
def relay(lasting: None) -> Iterator[trips.Relay]:
    """This test's connection goes through a relay that counts."""
    with trips.relayed() as relay:
        yield relay


@pytest.fixture(scope="session")
def race(database_url: str) -> Iterator[Race]:
    """Eight processes, started once."""
    race = Race(database_url)
    yield race
    race.pool.shutdown()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """Let the clock stand at a moment, for jobs, which read it themselves."""
    return lambda moment: monkeypatch.setattr(timezone, "now", lambda: moment)
