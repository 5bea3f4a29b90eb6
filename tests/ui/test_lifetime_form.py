"""The time to live on an entry's page: shown, set, changed and cleared, by reviewers alone."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.db import acts

FORM = "Time to live"


@pytest.fixture
def send(client_of, rex):
    def sent(ttl_at, *, by=rex, expected=1, key="retry"):
        address = f"/entry/ttl/?path=shop&key={key}"
        return client_of(by).post(address, {"ttl_at": ttl_at, "expected": expected, "reason": "asked"}, follow=True)

    return sent


@pytest.fixture
def lasting_entry(account):
    return acts.put(account, 1, key="retry", now=timezone.now())


def in_days(days):
    return (timezone.now() + timedelta(days=days, hours=1)).strftime("%Y-%m-%dT%H:%M")


def test_it_says_that_an_entry_does_not_expire_and_lets_a_reviewer_set_it(look, lasting_entry, rex):
    page = look(by=rex)
    assert "It does not expire." in page.said(FORM)
    assert 'name="ttl_at"' in page.section(FORM)
    assert "Clear" not in page.said(FORM)


def test_setting_it_makes_a_version_that_says_when(send, look, lasting_entry, rex):
    answer = send(in_days(3))
    assert "It expires then." in answer.content.decode()
    page = look(by=rex)
    assert "It expires in 3 d" in page.said(FORM)
    assert "expires in 3 d" in page.text.split(FORM)[0]
    assert "v2" in page.said("Versions")


def test_clearing_it_makes_it_last(send, look, lasting_entry, rex):
    send(in_days(3))
    answer = send("", expected=2)
    assert "It does not expire any more." in answer.content.decode()
    assert "It does not expire." in look(by=rex).said(FORM)


def test_undo_brings_the_time_to_live_back(send, look, lasting_entry, rex, client_of):
    send(in_days(3))
    answer = send("", expected=2)
    undo = answer.content.decode().split('action="/changes/')[1].split('"')[0]
    client_of(rex).post(f"/changes/{undo}", follow=True)
    assert "It expires in 3 d" in look(by=rex).said(FORM)


@pytest.mark.parametrize("moment", ["yesterday", "2001-01-01T00:00", "9999-99-99T00:00"])
def test_a_moment_that_cannot_be_is_refused_and_nothing_changes(send, look, lasting_entry, rex, moment):
    assert send(moment).status_code == 422
    assert "It does not expire." in look(by=rex).said(FORM)


def test_a_page_somebody_wrote_over_is_refused(send, account, lasting_entry, look, rex):
    acts.put(account, 2, key="retry", now=timezone.now())
    assert send(in_days(3), expected=1).status_code == 412
    assert "It does not expire." in look(by=rex).said(FORM)


def test_a_viewer_sees_it_and_may_not_set_it(send, look, lasting_entry, vera):
    assert 'name="ttl_at"' not in look(by=vera).section(FORM)
    assert send(in_days(3), by=vera).status_code == 403


def test_an_expired_entry_says_so_and_offers_no_form(look, account, rex):
    ago = timezone.now() - timedelta(days=4)
    acts.put(account, 1, key="retry", ttl_at=ago + timedelta(days=1), now=ago)
    page = look(by=rex)
    assert "It expired" in page.said(FORM)
    assert 'name="ttl_at"' not in page.section(FORM)
