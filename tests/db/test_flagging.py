"""The job that sends to review what seems to hold a key: once for what is said, without telling the key."""

from datetime import timedelta

import pytest

from memories import screening
from memories.checking import verify_reads
from memories.checking.verify_reads import Tally
from memories.jobs import flagging
from memories.jobs.runs import Run
from memories.models import Claim
from memories.queue import review
from memories.queue.review import Queue
from memories.rules.decisions import Item, Word
from memories.services import importing
from memories.services import review as deciding
from memories.services.acts import Actor
from memories.services.decisions import Decision
from memories.transfer import leaving
from tests.db import acts

KEY = "AKIA" + "QWERTYUIOPASDFGH"
LATER = acts.NOON + timedelta(minutes=5)


def flag(account, before=None, *, at=LATER):
    run = Run(before=before or {})
    flagging.flag(account, at, run)
    return run


def waiting(account, *, at=LATER):
    page = review.page(Queue(), acts.viewer(account, sees_all=True), at)
    return [(item.row.key, item.why) for item in page.items]


def decide(account, stored, word, *, at=LATER):
    seen = [Item(stored.entry_id, acts.entry(account, now=at).version)]
    people = acts.viewer(account, sees_all=True)
    return deciding.decide(people, seen, Decision(word=word), actor=Actor("person", "rex"), author="rex", now=at)


def test_what_seems_to_hold_a_key_waits_for_a_person_with_its_kind_alone(account):
    acts.put(account, f"deploy with {KEY}")
    acts.put(account, "the key is in the vault", key="other")
    assert flag(account).looked == 2
    why = "\u201cIt seems to hold a key or token (AWS Access Key)\u201d"
    assert waiting(account) == [("retry", f"Sent to review by secrets: {why}; confidence 1.00")]
    assert acts.entry(account, now=LATER).state.status == "under_review"
    assert list(verify_reads.account_findings(account, Tally())) == []


def test_no_outcome_takes_it_out_of_review_and_a_person_does_for_good(account):
    stored = acts.put(account, KEY)
    before = flag(account).terms
    acts.told(account, "task", "success", now=LATER)
    assert acts.entry(account, now=LATER).state.status == "under_review"
    decide(account, stored, Word.ACCEPT)
    acts.put(account, KEY, now=LATER)
    run = flag(account, before, at=LATER + timedelta(minutes=5))
    assert (run.looked, run.changed) == (1, 0)
    assert acts.entry(account, now=LATER).state.status == "active"


def test_something_else_with_a_key_is_sent_again(account):
    stored = acts.put(account, KEY)
    before = flag(account).terms
    decide(account, stored, Word.ACCEPT)
    acts.put(account, f"another {KEY}", now=LATER)
    assert flag(account, before, at=LATER + timedelta(minutes=5)).changed == 1


def test_a_run_goes_on_where_the_one_before_came_to_and_repeats_nothing(account, monkeypatch):
    for n in range(5):
        acts.put(account, f"{n} {KEY}", key=f"k{n}", now=acts.NOON + timedelta(seconds=n))
    monkeypatch.setattr(flagging, "CLAIMS", 2)
    monkeypatch.setattr(flagging, "TOGETHER", 2)
    first = flag(account)
    second = flag(account, first.terms)
    third = flag(account, second.terms)
    assert [(run.looked, run.changed) for run in (first, second, third)] == [(2, 2), (2, 2), (1, 1)]
    assert flag(account).changed == 0


def test_what_takes_too_long_to_look_through_waits_as_well(account, monkeypatch):
    acts.put(account, "eyJ" * 100)
    whole = screening.hits
    monkeypatch.setattr(screening, "hits", lambda text: whole(text, seconds=0.0))
    flag(account)
    assert "takes too long" in waiting(account)[0][1]


def test_where_the_rule_is_off_nobody_looks(account):
    account.policy_values = {"secrets": "off"}
    account.save()
    acts.put(account, KEY)
    assert flag(account).looked == 0


@pytest.mark.parametrize("word", ["redact", "refuse"])
def test_an_import_of_a_key_is_refused_where_keys_are_not_stored(account, other_account, word):
    acts.put(account, KEY)
    file = b"".join(leaving.export(account)).splitlines(keepends=True)
    other_account.policy_values = {"secrets": word}
    other_account.save()
    with pytest.raises(importing.BadFile) as refused:
        importing.take_in(other_account, file)
    assert "AWS Access Key" in refused.value.detail
    assert KEY not in refused.value.detail
    assert not Claim.objects.filter(account=other_account).exists()
