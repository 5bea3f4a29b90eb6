"""An entry that was replaced: only its place in life moves, and nothing is replaced in a circle."""

from datetime import timedelta

import pytest

from memories.rules.policy import DEFAULT
from memories.services import superseding
from memories.services.ledger import Actor
from memories.services.superseding import Superseded
from senselab.accounts.models import Account
from senselab.errors import Conflict, Invalid, NotFound, StaleVersion
from tests.db import acts
from tests.db.acts import ADA, BOB, NOON

MIRA = Actor("person", "mira")
LATER = NOON + timedelta(days=3)


def supersede(account: Account, entry_id: int, by: str | None, expected: int | None = None) -> Superseded:
    return superseding.supersede(
        acts.viewer(account, sees_all=True),
        entry_id,
        by=by,
        actor=MIRA,
        policy=DEFAULT,
        reason="there is a better one",
        now=LATER,
        expected=expected,
    )


def write(account: Account, key: str, **more: object) -> int:
    return acts.put(account, f"value of {key}", key=key, confidence=0.7, **more).entry_id  # type: ignore[arg-type]


def test_superseding_moves_the_status_and_names_the_successor(account: Account) -> None:
    old = write(account, "old")
    write(account, "new")
    acts.told(account, "task-1", "success", "shop/old")
    before = acts.head(account, old)

    done = supersede(account, old, "shop/new", expected=2)

    after = acts.head(account, old)
    assert (done.version, after.version) == (3, 3)
    assert (after.state.status, after.state.superseded_by) == ("superseded", "shop/new")
    assert after.state.standing == before.state.standing
    assert after.accessed_at == LATER


def test_an_entry_may_be_superseded_by_nothing(account: Account) -> None:
    old = write(account, "old")

    supersede(account, old, None)

    assert acts.head(account, old).state.superseded_by is None
    assert acts.head(account, old).state.status == "superseded"


def test_the_same_again_is_refused(account: Account) -> None:
    old = write(account, "old")
    write(account, "new")
    supersede(account, old, "shop/new")

    with pytest.raises(Conflict):
        supersede(account, old, "shop/new")


def test_an_entry_cannot_replace_itself(account: Account) -> None:
    old = write(account, "old")

    with pytest.raises(Invalid, match="cannot replace itself"):
        supersede(account, old, "shop/old")


def test_a_circle_is_refused_however_long(account: Account) -> None:
    a, b, c = (write(account, key) for key in "abc")
    supersede(account, a, "shop/b")
    supersede(account, b, "shop/c")

    with pytest.raises(Invalid, match="was itself replaced by this entry") as refused:
        supersede(account, c, "shop/a")

    assert refused.value.places[0].pointer == "/superseded_by"
    assert acts.head(account, c).state.status == "active"


def test_a_successor_has_to_be_there(account: Account, other_account: Account) -> None:
    old = write(account, "old")
    acts.put(other_account, 1, key="new")

    with pytest.raises(Invalid, match="no entry 'shop/new'"):
        supersede(account, old, "shop/new")


def test_what_all_see_is_not_replaced_by_what_one_agent_sees(account: Account) -> None:
    old = write(account, "old")
    write(account, "mine", shared=False, by=BOB)

    with pytest.raises(Invalid, match="for those who see this one"):
        supersede(account, old, "shop/mine")


def test_a_private_entry_may_be_replaced_by_a_shared_one_or_by_ones_own(account: Account) -> None:
    own, other = (write(account, key, shared=False, by=ADA) for key in ("own", "other"))
    write(account, "new")

    supersede(account, own, "shop/new")
    supersede(account, other, "shop/own")

    assert acts.head(account, other).state.superseded_by == "shop/own"


def test_a_key_with_slashes_is_found(account: Account) -> None:
    old = write(account, "old")
    acts.put(account, 1, path="shop", key="a/b/c")

    supersede(account, old, "shop/a/b/c")

    assert acts.head(account, old).state.superseded_by == "shop/a/b/c"


def test_whoever_looked_at_another_version_is_told(account: Account) -> None:
    old = write(account, "old")
    acts.told(account, "task-1", "success", "shop/old")

    with pytest.raises(StaleVersion):
        supersede(account, old, None, expected=1)


def test_an_entry_of_another_account_is_not_there(account: Account, other_account: Account) -> None:
    theirs = acts.put(other_account).entry_id

    with pytest.raises(NotFound):
        supersede(account, theirs, None)
