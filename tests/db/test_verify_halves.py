"""A large account is checked by two processes: what they find is what one finds, as of one moment."""

import sys
from collections.abc import Iterator

import pytest

from memories.checking import halves, verify_reads
from memories.checking.verify_reads import Tally
from senselab.accounts.models import Account
from tests.db import acts
from tests.db.test_verify import change


@pytest.fixture
def altered(lasting: None, account: Account) -> Iterator[Account]:
    """Twenty entries, the first and the last of them altered; they are put right in the end."""
    ids = acts.fill(account, 20)
    places = f"number = 1 AND entry_id IN ({ids[2]}, {ids[19]})"
    change(account, "entryversion", "pinned = NOT pinned", places)
    yield account
    change(account, "entryversion", "pinned = NOT pinned", places)


def found(account: Account) -> tuple[Tally, list[str]]:
    tally = Tally()
    with verify_reads.one_view():
        lines = [f"{where} {one}" for where, one in verify_reads.account_findings(account, tally)]
    return tally, lines


@pytest.fixture
def in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "WORTH_IT", 2)
    monkeypatch.setattr(halves.os, "cpu_count", lambda: 2)


def test_two_processes_find_what_one_finds(altered: Account, in_two: None, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    second = halves.SecondHalf.ended
    monkeypatch.setattr(halves.SecondHalf, "ended", lambda self, tell: told.append(1) or second(self, tell))
    tally, both = found(altered)
    assert told == [1]
    monkeypatch.setattr(halves, "WORTH_IT", 1_000)
    alone, lines = found(altered)
    assert both == lines
    assert (tally, tally.versions) == (alone, 20)
    assert {line.split()[0] for line in lines} == {"shop/k2", "shop/k19"}


def test_a_half_whose_process_ends_is_done_again(
    altered: Account, in_two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    tally, lines = found(altered)
    assert tally == Tally(20, 20, 0)
    assert {line.split()[0] for line in lines} == {"shop/k2", "shop/k19"}


def test_what_nobody_else_could_see_is_looked_at_here(account: Account, in_two: None) -> None:
    acts.fill(account, 20)
    assert halves.middle(account.pk, 20) is None
