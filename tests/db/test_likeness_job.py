"""The job that finds what is alike: once, of what is said now, a bounded part at a time."""

from datetime import timedelta

import pytest

from memories.jobs import embedding, likeness
from memories.jobs.runs import Run
from memories.models import JobRun
from memories.queue import pairs
from memories.services import pairs as services
from memories.services import superseding, writing
from tests.db import acts
from tests.db.meaning import Meaning, chosen

LATER = acts.NOON + timedelta(minutes=5)


def write(account, value, *, at=acts.NOON, **more):
    return writing.write(account.pk, acts.draft(value, **more), actor=acts.agent(), policy=acts.DEFAULT, now=at)


def compare(account, before=None, *, at=LATER):
    run = Run(before=before or {})
    likeness.compare_new(account, at, run)
    return run


def shown(account, *, at=LATER):
    page = pairs.page(acts.viewer(account, sees_all=True), at)
    return [(pair.kind, sorted(row.key for row in pair.sides)) for pair in page.pairs]


def test_what_one_entity_says_twice_and_against_itself_is_found(account):
    write(account, "Retry with jitter, three times at most", key="one")
    write(account, "retry with jitter; three times at most.", key="two")
    write(account, "Never retry with jitter, three times at most", key="three", path="elsewhere")
    write(account, "The gateway timeout is 30 seconds", key="four")
    write(account, "The gateway timeout is 60 seconds", key="five")
    run = compare(account)
    assert (run.looked, run.changed) == (5, 2)
    assert sorted(shown(account)) == [("opposite", ["five", "four"]), ("same", ["one", "two"])]


def test_a_run_goes_on_where_the_one_before_came_to(account, monkeypatch):
    for number in range(5):
        write(account, f"The {number}th thing", key=f"k{number}", at=acts.NOON + timedelta(seconds=number))
    monkeypatch.setattr(likeness, "CLAIMS", 2)
    looked, before = [], {}
    for _ in range(4):
        run = compare(account, before, at=LATER)
        looked.append(run.looked)
        before = run.terms
    assert looked == [2, 2, 1, 0]


def test_nothing_is_alike_across_accounts_owners_and_entities(account, other_account):
    write(account, "money is paid at night", key="one")
    write(account, "money is paid at night", key="one", path="elsewhere")
    write(account, "money is paid at night", key="private", shared=False)
    write(other_account, "money is paid at night", key="two")
    assert compare(account).changed == compare(other_account).changed == 0


def test_a_pair_goes_when_one_of_the_two_says_something_else_or_is_replaced(account):
    write(account, "money is paid at night", key="one")
    write(account, "money is paid at night!", key="two")
    before = compare(account).terms
    write(account, "invoices are blue", key="two", at=LATER)
    assert shown(account) == []
    compare(account, before, at=LATER + timedelta(minutes=5))
    assert acts.rows_of("SELECT count(*) FROM memories_alikepair WHERE account_id = %s", account.pk) == [(0,)]
    write(account, "money is paid at night.", key="two", at=LATER)
    compare(account)
    assert shown(account) == [("same", ["one", "two"])]
    superseding.supersede(
        acts.viewer(account, sees_all=True),
        acts.entry(account, key="two").entry_id,
        by="shop/one",
        actor=acts.agent(),
        policy=acts.DEFAULT,
        reason="",
        now=LATER,
    )
    assert shown(account) == []


def test_a_dismissed_pair_returns_only_when_one_of_the_two_says_something_else(account):
    write(account, "money is paid at night", key="one")
    write(account, "money is paid at night!", key="two")
    compare(account)
    ids = [acts.entry(account, key=key).entry_id for key in ("one", "two")]
    services.dismiss(acts.viewer(account, sees_all=True), *reversed(ids), actor=acts.agent(), now=LATER)
    compare(account)
    assert shown(account) == []
    write(account, "money is paid at night, really", key="two", at=LATER)
    compare(account)
    assert shown(account) == [("same", ["one", "two"])]


def test_with_vectors_other_words_that_mean_the_same_are_found(account):
    write(account, "der laden ist geschlossen", key="one")
    write(account, "shut the shop", key="two")
    assert compare(account).changed == 0
    with chosen(Meaning()):
        embedding.embed(account, LATER)
    assert compare(account).changed == 1
    assert shown(account) == [("same", ["one", "two"])]


def test_a_large_entity_costs_a_fixed_number_of_statements(account, django_assert_num_queries):
    acts.fill(account, 400)
    write(account, "money is paid at night", key="one", at=acts.NOON + timedelta(seconds=1))
    with django_assert_num_queries(4):
        assert compare(account, {"after": acts.NOON.isoformat(), "after_id": 2**62}).looked == 1


def looked_at(account, runs):
    before = {}
    for _ in range(runs):
        run = compare(account, before)
        before = run.terms
        yield run.looked


def test_claims_of_one_moment_are_all_looked_at(account, monkeypatch):
    for number in range(5):
        write(account, f"The {number}th thing", key=f"k{number}")
    monkeypatch.setattr(likeness, "CLAIMS", 2)
    assert list(looked_at(account, 4)) == [2, 2, 1, 0]


def test_a_run_ends_after_so_many_comparisons_and_the_next_goes_on(account, monkeypatch):
    for number in range(5):
        write(account, f"The {number}th thing", key=f"k{number}")
    monkeypatch.setattr(likeness, "TOGETHER", 2)
    monkeypatch.setattr(likeness, "COMPARISONS", 10)
    assert list(looked_at(account, 3)) == [2, 2, 1]


def test_new_claims_are_not_all_compared_with_each_other(account, monkeypatch):
    monkeypatch.setattr(likeness, "TOGETHER", 2)
    monkeypatch.setattr(likeness, "NEIGHBOURS", 3)
    for number in range(20):
        write(account, f"The {number}th thing", key=f"k{number}")
    compared = []
    monkeypatch.setattr(likeness, "compare", lambda one, other, cosine: compared.append(one))
    assert compare(account).looked == 20
    assert len(compared) <= 20 * (3 + 2)


def test_a_run_that_is_cut_short_leaves_its_place_to_the_next(account, monkeypatch):
    for number in range(4):
        write(account, f"The {number}th thing", key=f"k{number}")
    row = JobRun.objects.create(account=account, job="compare", state="running", created_at=acts.NOON, terms={})
    done, store = [], likeness.store

    def once(*said):
        if done:
            raise KeyboardInterrupt
        done.append(said)
        return store(*said)

    monkeypatch.setattr(likeness, "TOGETHER", 2)
    monkeypatch.setattr(likeness, "store", once)
    with pytest.raises(KeyboardInterrupt):
        likeness.compare_new(account, LATER, Run(account.pk, row.pk))
    monkeypatch.setattr(likeness, "store", store)
    kept = JobRun.objects.get(account=account, job="compare")
    assert compare(account, kept.terms).looked == 2
