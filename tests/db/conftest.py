"""Callers at the API as in its own tests, and a connection whose round trips are counted."""

from collections.abc import Iterator

import pytest

from tests.api.conftest import Caller, bot, counted, helper, nobody, reviewer, stranger
from tests.db import trips

__all__ = ["Caller", "bot", "counted", "helper", "nobody", "reviewer", "stranger"]


@pytest.fixture
def relay(lasting: None) -> Iterator[trips.Relay]:
    """This test's connection goes through a relay that counts."""
    with trips.relayed() as relay:
        yield relay
