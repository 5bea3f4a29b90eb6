"""A key with globs learns nothing of what lies beyond them, in an account where it does."""

import pytest

from tests.walls.api_calls import API
from tests.walls.asking import keyed
from tests.walls.comparing import compared
from tests.walls.telling import kept_private


@pytest.mark.parametrize("shared_there", [True, False])
def test_a_key_with_globs_learns_nothing_of_what_lies_beyond(account, shared, shared_there):
    may = {"scopes": ("read", "write", "review"), "globs": [{"pattern": "mine/**"}, {"pattern": "mine"}]}
    askers = {
        "a bound one": (keyed(account, agent_id="agent/snoop", **may), API),
        "a free one": (keyed(account, **may), API),
    }
    assert compared(askers, lambda: kept_private(shared, account, told=False, shared=shared_there)) == {}
