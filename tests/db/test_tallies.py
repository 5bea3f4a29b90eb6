"""Figures that are kept in the process are at every moment what a whole count would give."""

import secrets
from collections import Counter
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories import figures, recalls, tallies
from memories.figures import Totals
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from memories.viewers import Viewer
from senselab.accounts import services as accounts
from tests.db import acts
from tests.db.test_counters import ACT, Life

NOON = acts.NOON


@pytest.fixture(autouse=True)
def recalls_are_summed_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "SERVED_SECONDS", 0)


def assert_it_is_what_a_whole_count_gives(viewer: Viewer) -> None:
    tally, paths, agents = tallies.of(viewer), figures.by_path(viewer), figures.by_agent(viewer)
    assert tally.total == sum(paths.values(), Totals()) == figures.totals(viewer)
    assert list(tally.agents.items()) == [(name, sums.entries) for name, sums in agents.items()]
    means = [sums.confidence_avg for sums in paths.values() if sums.entries]
    bands = Counter(tallies.band(mean) for mean in means)
    assert tally.health.entities == len(means)
    assert tally.health.bands == tuple(bands[place] for place in range(4))
    assert tally.health.means == pytest.approx(sum(means), abs=1e-9)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(ACT, st.none()), min_size=3, max_size=16))
def test_whatever_is_written_read_and_folded_they_are_what_a_whole_count_gives(db, happened):
    account = accounts.create_account(f"kept-{secrets.token_hex(6)}")
    life = Life(account)
    viewers = [acts.viewer(account, sees_all=True), acts.viewer(account), acts.viewer(account, acts.ADA)]
    for act in happened:
        if act is None:
            figures.fold(account.pk)
        else:
            life.live(*act)
        for viewer in viewers:
            assert_it_is_what_a_whole_count_gives(viewer)


def test_folded_sums_are_read_once_until_somebody_folds(db, account, django_assert_num_queries):
    acts.put(account)
    figures.fold(account.pk)
    seen = acts.viewer(account)
    with django_assert_num_queries(3):
        tallies.of(seen)
    acts.put(account, key="more")
    with django_assert_num_queries(2):
        assert tallies.of(seen).total.entries == 2
    figures.fold(account.pk)
    with django_assert_num_queries(4):
        assert tallies.of(seen).total.entries == 2


def test_the_entries_of_paths_are_listed_anew_only_when_they_changed(db, account, monkeypatch):
    seen, asked = acts.viewer(account), []
    listed = figures.entries_by_path
    monkeypatch.setattr(figures, "entries_by_path", lambda *of: asked.append(of) or listed(*of))
    acts.put(account, path="shop")
    for _ in range(3):
        assert bytes(tallies.entities(seen, tallies.of(seen))) == b'{"shop":1}'
    assert len(asked) == 1
    acts.put(account, path="till")
    assert bytes(tallies.entities(seen, tallies.of(seen))) == b'{"shop":1,"till":1}'
    figures.fold(account.pk)
    assert bytes(tallies.entities(seen, tallies.of(seen))) == b'{"shop":1,"till":1}'


def test_weeks_are_counted_again_after_a_write_and_after_ten_seconds(db, account):
    def weeks(at: datetime) -> tuple[int, int]:
        found = tallies.extremes(seen, tallies.of(seen), at)
        return found.this_week, found.last_week

    acts.put(account, confidence=0.6)
    seen = acts.viewer(account)
    assert weeks(NOON) == (1, 0)
    acts.put(account, key="more", confidence=0.4)
    assert weeks(NOON) == (2, 0)
    assert weeks(NOON + figures.WEEK + tallies.WEEKS) == (0, 2)
    found = tallies.extremes(seen, tallies.of(seen), NOON)
    assert (found.confidence_min, found.confidence_max) == (0.4, 0.6)


def test_what_reads_added_is_summed_once_a_second(db, account, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(tallies, "SERVED_SECONDS", 60)
    entry_id = acts.put(account).entry_id
    seen = acts.viewer(account)
    assert tallies.of(seen).total.recalls == 0
    recalls.write(account.pk, DEFAULT, [Read(entry_id, 1, acts.BOB, "", NOON, 1)])
    with django_assert_num_queries(1):
        assert tallies.of(seen).total.recalls == 0
    monkeypatch.setattr(tallies, "SERVED_SECONDS", 0)
    assert tallies.of(seen).total.recalls == 1
