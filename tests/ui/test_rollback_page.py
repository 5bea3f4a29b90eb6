"""Going back to an earlier version: the preview, the act, and what stands in its way."""

import re

import pytest
from django.contrib.messages import get_messages
from django.utils import timezone

from memories import recalls
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from memories.services import rollback_preview
from memories.services.rollback import NoSuchVersion
from senselab.errors import Conflict, NotFound
from tests.db import acts
from tests.ui import story
from tests.ui.conftest import Page

HERE = "/entry/rollback/?path=shop&key=retry"


@pytest.fixture
def post(client_of, rex):
    """Return `post(by=..., **form)`: what a person gets who sends the form."""

    def posted(*, by=rex, htmx=False, **form):
        headers = {"HX-Request": "true"} if htmx else {}
        return Page(
            client_of(by).post(HERE, {"to": 4, "expected": 7, "reason": "double charges", **form}, headers=headers)
        )

    return posted


def test_the_last_validated_version_is_chosen_and_recommended(look, spoiled, rex):
    page = look("rollback/", by=rex)
    assert "Roll back to v4" in page.text
    assert re.search(r'value="4" id="to-4" checked', page.html)
    row = next(row for row in re.findall(r"<tr.*?</tr>", page.section("to-h"), re.S) if 'id="to-4"' in row)
    assert 'aria-label="recommended"' in row
    assert "v4 is the last version that outcomes had validated." in page.text


def test_a_validated_version_that_says_what_has_failed_since_is_not_recommended(look, account, rex):
    acts.put(account, "old")
    acts.told(account, "t1")
    acts.put(account, "new")
    acts.told(account, "t2")
    acts.told(account, "t3", "critical_failure")
    page = look("rollback/", by=rex)
    assert "Roll back to v2" in page.text
    assert "before the claim that failed" in page.text
    assert len(re.findall('aria-label="says the same as now"', page.html)) == 2


def test_without_a_validated_version_the_one_before_is_chosen(look, account, rex):
    acts.put(account, 1)
    acts.put(account, 2)
    acts.put(account, 3)
    page = look("rollback/", by=rex)
    assert "Roll back to v2" in page.text
    assert "recommended" not in page.text


def test_the_preview_says_what_changes_and_what_stays(look, spoiled, rex):
    page = look("rollback/", by=rex)
    said = page.said("effects-h")
    for words in (
        "Value 3 differences go back to v4",
        "Evidence status Discredited → Validated",
        "Author agent/bob → agent/ada",
        "Served to agents as a warning → as knowledge",
        "Status active",
        "Outcomes all 5 stay in the ledger",
        "History v1 to v7 stay; v8 is added",
        "Visibility shared",
    ):
        assert words in said, words
    assert re.search(r"Confidence 0\.\d{3} → 0\.\d{3}", said)
    assert any("max 6 3" in row for row in page.rows("value-h"))


def test_the_preview_says_who_read_what_is_taken_back(look, spoiled, account, rex):
    now = timezone.now()
    read = [Read(spoiled, 6, "agent/reader", "s", now, 200)] * 3 + [Read(spoiled, 2, "agent/early", "s", now, 200)]
    recalls.write(account.pk, DEFAULT, read)
    said = look("rollback/", by=rex).said("reach-h")
    assert "Who read v5 to v7 3 reads by 1 agent" in said
    assert "agent/reader 3" in said
    assert "agent/early" not in said


def test_a_rollback_writes_a_new_version_and_offers_undo(post, spoiled, account):
    page = post()
    assert (page.status, page.response["Location"]) == (302, "/entry/?path=shop&key=retry")
    row = acts.entry(account)
    assert (row.version, row.state.evidence_status, row.agent_id) == (8, "validated", acts.ADA)
    ((kind, actor, reason, change_set),) = acts.rows_of(
        "SELECT actor_kind, actor, reason, id FROM memories_changeset WHERE account_id = %s AND kind = 'rollback'",
        account.pk,
    )
    assert (kind, actor.split("-")[0], reason) == ("person", "rex", "double charges")
    (message,) = get_messages(page.response.wsgi_request)
    assert (str(message), message.extra_tags) == (
        "v8 is current: rolled back to v4.",
        f"undo:/changes/{change_set}/undo/",
    )


def test_the_toast_undoes_it(client_of, rex, spoiled, account):
    client = client_of(rex)
    answer = client.post(HERE, {"to": 4, "expected": 7, "reason": "double charges"}, follow=True)
    address = re.search(r'<form method="post" action="(/changes/\d+/undo/)"', answer.content.decode())[1]
    client.post(address)
    row = acts.entry(account)
    assert (row.version, row.state.evidence_status) == (9, "discredited")


def test_htmx_is_led_to_the_entry(post, spoiled):
    page = post(htmx=True)
    assert (page.status, page.response["HX-Redirect"]) == (200, "/entry/?path=shop&key=retry")


@pytest.mark.parametrize("htmx", [False, True])
def test_when_somebody_wrote_meanwhile_the_new_difference_is_shown_and_nothing_lost(post, spoiled, account, htmx):
    acts.put(account, {"max": 9}, by=acts.BOB, now=timezone.now())
    page = post(htmx=htmx)
    assert page.status == 412
    assert acts.entry(account).version == 8
    assert "Somebody wrote v8 while you looked at v7." in page.text
    assert any("max 9 3" in row for row in page.rows("value-h"))
    assert re.search(r'<textarea name="reason"[^>]*>double charges</textarea>', page.html)
    assert 'name="expected" value="8"' in page.html
    assert re.search(r'id="to-4" checked', page.html)
    assert "/entry/compare/?path=shop&key=retry&from=7&to=8" in page.links()
    assert page.html.lstrip().startswith("<form id") == htmx
    assert post(expected=8).status == 302


def test_another_version_can_be_looked_at_without_writing(post, spoiled, account):
    page = post(to=1, preview=1, reason="let me think")
    assert page.status == 200
    assert "Roll back to v1" in page.text
    assert ">let me think</textarea>" in page.html
    assert acts.entry(account).version == 7


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"reason": "  "}, "Say why"),
        ({"reason": "x" * 2_001}, "at most 2,000 characters"),
        ({"reason": "a\0b"}, "holds no NUL"),
        ({"to": ""}, "Say which version"),
        ({"expected": ""}, "Say which version"),
    ],
)
def test_what_is_missing_is_said_and_what_was_typed_stays(post, spoiled, account, form, words):
    page = post(**form)
    assert page.status == 422
    assert words in page.text
    assert acts.entry(account).version == 7
    if form.get("reason", "").startswith("x"):
        assert ">" + "x" * 2_001 + "</textarea>" in page.html


@pytest.mark.parametrize(("to", "status"), [(7, 409), (8, 404), ("x", 404)])
def test_there_is_no_going_back_to_nowhere(look, post, spoiled, rex, to, status):
    assert look("rollback/", by=rex, to=to).status == status
    assert post(to=to).status == status


def test_an_entry_with_one_version_has_nothing_to_go_back_to(look, account, rex):
    acts.put(account, 1)
    page = look("rollback/", by=rex)
    assert page.status == 409
    assert "nothing to go back to" in page.text


def test_viewers_are_refused(look, post, spoiled, account, vera):
    assert look("rollback/", by=vera).status == 403
    assert post(by=vera).status == 403
    assert acts.entry(account).version == 7


def test_admins_may(post, spoiled, ada):
    assert post(by=ada).status == 302


def test_a_form_from_elsewhere_is_refused(spoiled, rex, account):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(rex, backend="django.contrib.auth.backends.ModelBackend")
    assert client.post(HERE, {"to": 4, "expected": 7, "reason": "x"}).status_code == 403
    assert acts.entry(account).version == 7


def test_another_accounts_entry_cannot_be_rolled_back(client_of, rex, other_account):
    for value in (1, 2):
        acts.put(other_account, value)
    answer = client_of(rex).post(HERE, {"to": 1, "expected": 2, "reason": "x"})
    assert answer.status_code == 404
    assert acts.entry(other_account).version == 2


def test_an_expired_entry_can_be_brought_back(look, account, post, rex):
    acts.put(account, "first", now=story.days_ago(5))
    acts.put(account, "second", ttl_at=story.days_ago(1), now=story.days_ago(3))
    assert "Ttl at" in look("rollback/", by=rex).said("effects-h")
    assert post(to=1, expected=2).status == 302
    row = acts.entry(account, now=timezone.now())
    assert (row.state.ttl_at, row.state.status) == (None, "active")


def test_the_preview_is_a_plain_function_with_the_same_facts(spoiled, account):
    shown = rollback_preview.preview(acts.viewer(account, sees_all=True), spoiled, 4)
    assert [(change.path, change.operation) for change in shown.changes] == [
        ("/summary", "replace"),
        ("/max", "replace"),
        ("/on/0", "remove"),
    ]
    assert shown.since == 5
    assert {change.field for change in shown.fields} >= {"confidence", "evidence_status", "agent_id"}
    told = shown.told()
    assert told["version"] == 7
    assert [kept["what"] for kept in told["keeps"]] == ["status", "outcomes", "history", "visibility", "pinned"]


def test_the_preview_refuses_what_a_rollback_would(spoiled, account):
    everybody = acts.viewer(account, sees_all=True)
    with pytest.raises(NoSuchVersion):
        rollback_preview.preview(everybody, spoiled, 8)
    with pytest.raises(Conflict):
        rollback_preview.preview(everybody, spoiled, 7)
    with pytest.raises(NotFound):
        rollback_preview.preview(everybody, 0, 1)
