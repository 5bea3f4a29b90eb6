"""The pages of erasing: for admins, what goes and what stays out of reach, the name to be typed, and a reason."""

import pytest

from memories.models import Claim, EntryVersion
from tests.db import acts
from tests.ui.conftest import Page

ENTRY = "/entry/erase/?path=shop&key=retry"


@pytest.fixture
def admin(client_of, ada):
    return client_of(ada)


@pytest.fixture
def told(account):
    stored = acts.put(account, "it says so", reason="because")
    acts.told(account, "T-1", "success", now=acts.NOON)
    return stored


def test_it_says_what_goes_and_what_it_does_not_reach(admin, told):
    page = Page(admin.get(ENTRY))
    assert page.status == 200
    for words in ("Values, with their references", "Outcomes that relied on it", "backups", "replicas", "shop/retry"):
        assert words in page.text


def test_typed_and_said_why_it_is_gone_and_the_page_tells_of_it(admin, account, told):
    page = Page(admin.post(ENTRY, {"reason": "a name in it", "confirm": "shop/retry"}, follow=True))
    assert "Erased for good" in page.text
    assert set(Claim.objects.filter(account=account).values_list("value", flat=True)) == {"null"}
    entry = Page(admin.get("/entry/?path=shop&key=retry"))
    assert "had what it said erased" in entry.text
    assert "a name in it" in entry.text


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"reason": "why", "confirm": "shop/other"}, "not the name"),
        ({"reason": "", "confirm": "shop/retry"}, "Say why"),
    ],
    ids=["another name", "no reason"],
)
def test_without_reason_or_name_nothing_is_erased(admin, account, told, sent, words):
    page = Page(admin.post(ENTRY, sent))
    assert page.status == 422
    assert words in page.text
    assert not EntryVersion.objects.filter(account=account, change="erased").exists()


def test_an_agent_is_erased_from_its_page_names_and_all(admin, account, told):
    assert "/agents/agent/ada/erase/" in Page(admin.get("/agents/agent/ada/")).html
    sent = {"reason": "it left", "confirm": "agent/ada", "names": "on"}
    assert "Erased for good" in Page(admin.post("/agents/agent/ada/erase/", sent, follow=True)).text
    assert admin.get("/agents/agent/ada/").status_code == 404


def test_who_is_no_admin_sees_no_way_there_and_finds_none(client_of, rex, told):
    reviewer = client_of(rex)
    assert "erase" not in Page(reviewer.get("/entry/?path=shop&key=retry")).html
    assert reviewer.get(ENTRY).status_code == 403
    assert reviewer.post("/agents/agent/ada/erase/", {"reason": "x", "confirm": "agent/ada"}).status_code == 403


def test_what_is_not_there_is_not_found(admin, account):
    assert admin.get(ENTRY).status_code == 404
    assert admin.get("/agents/agent/nobody/erase/").status_code == 404
