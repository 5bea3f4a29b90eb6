"""Settings > Data: an account leaves as a file and comes back from one, for admins; lists go to spreadsheets."""

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from memories import jobs
from memories.models import JobRun, TierMove, UploadPart
from memories.rules.policy import DEFAULT
from memories.services import comments, evidence, policies
from memories.services.acts import Act, Actor
from memories.services.evidence import Observed
from memories.transfer import leaving, lists, tabular
from outcomes.models import Edge, Event, Trace
from senselab import sheets
from senselab.accounts import services as accounts
from senselab.accounts.models import Agent, AuditRecord, Role
from tests.db import acts
from tests.db.acts import NOON
from tests.ui.conftest import Page


@pytest.fixture
def door(client_of, ada):
    return client_of(ada)


def joined(person, account):
    accounts.give_role(person, account, Role.ADMIN)
    return person


def body(answer):
    return b"".join(answer.streaming_content)


def upload(client, content, name="acme.jsonl"):
    return client.post("/settings/data/import/", {"file": SimpleUploadedFile(name, content)}, follow=True)


def at(client, account):
    client.post("/account/", {"account": account.slug})
    return client


def test_the_history_is_downloaded_as_the_command_writes_it(door, account):
    acts.put(account, {"most": 3})
    answer = door.get("/settings/data/export/")
    assert answer["Content-Disposition"] == f'attachment; filename="{account.slug}.jsonl"'
    assert body(answer) == b"".join(leaving.export(account))


def test_an_upload_is_taken_in_by_the_worker_and_gives_the_same_file_again(door, ada, account, other_account):
    acts.put(account, {"most": 3})
    acts.told(account, "task-1")
    file = b"".join(leaving.export(account))
    joined(ada, other_account)
    page = Page(upload(at(door, other_account), file))
    assert "the worker takes it in now" in page.text
    assert "waiting" in page.text
    jobs.asked()
    assert b"".join(leaving.export(other_account)) == file
    run = JobRun.objects.get(account_id=other_account.pk, job="import")
    assert (run.state, run.looked, run.changed) == ("done", run.total, run.total - 1) or run.looked == run.changed
    assert not UploadPart.objects.filter(account_id=other_account.pk).exists()
    assert "holds" in Page(door.get("/settings/data/")).text


def test_a_file_that_is_none_of_ours_fails_once_and_says_why(door, account):
    upload(door, b"a,b\n1,2\n")
    with pytest.raises(ExceptionGroup):
        jobs.asked()
    run = JobRun.objects.get(account_id=account.pk, job="import")
    assert (run.state, run.failures) == ("failed", 1)
    assert "Line 1 is no line of an export" in run.error
    assert "failed" in Page(door.get("/settings/data/")).text
    jobs.fold()
    assert not UploadPart.objects.filter(account_id=account.pk).exists()


def test_an_account_that_holds_something_takes_no_file(door, account):
    acts.put(account, 1)
    assert "already" in Page(upload(door, b"{}\n")).text
    assert not JobRun.objects.filter(account_id=account.pk, job="import").exists()


def test_without_a_file_the_page_says_so(door, account):
    assert "Choose a file first" in Page(door.post("/settings/data/import/", follow=True)).text
    assert "holds no line" in Page(upload(door, b" ")).text


@pytest.fixture
def busy(account, ada):
    """An account that has something in each of its lists."""
    stored = acts.put(account, "=1+1", reason="@SUM(A1)", key="=cmd", confidence=0.2)
    acts.told(account, "-2+3", "success", "shop/=cmd")
    acts.put(account, "=1+1", key="=doubt", confidence=0.2)
    person = Actor("person", "=rex")
    evidence.add(acts.viewer(account, sees_all=True), stored.entry_id, Observed(NOON, "=1+1", "o-1", 0.0), actor=person,
                 now=NOON)  # fmt: skip
    comments.say(account.pk, [stored.entry_id], "=1+1", Act("comment", person, NOON, DEFAULT))
    policies.save(account.pk, {"hot_capacity": 20}, expected=1, actor=person, reason="=1+1", now=NOON)
    accounts.create_key(account, name="=key")
    Agent.objects.get_or_create(account=account, agent_id="=agent")
    Event.objects.create(account=account, agent_id="=agent", event_type="note", summary="=1+1", created_at=NOON)
    Trace.objects.create(account=account, agent_id="=agent", outcome_ref="=task", created_at=NOON)
    Edge.objects.create(account=account, digest=b"0" * 32, source_entity="=shop", relation="needs",
                        target_entity="pay", first_seen=NOON, last_seen=NOON)  # fmt: skip
    parts = dict.fromkeys(("importance", "recency", "frequency", "durability", "priority"), 0.5)
    moved = {"branch": "main", "at": NOON, "before": 3, "after": 1, "place": 1, **parts}
    TierMove.objects.create(account=account, entry_id=stored.entry_id, **moved)
    jobs.tiers()
    return account


@pytest.mark.parametrize("name", lists.LISTS)
def test_a_list_goes_to_a_spreadsheet_without_a_formula(door, busy, name):
    answer = door.get(f"/settings/data/{name}.csv")
    rows = list(csv.reader(io.StringIO(body(answer).decode())))
    assert len(rows) >= 2
    assert all(len(row) == len(rows[0]) for row in rows)
    assert not [cell for row in rows[1:] for cell in row if cell.startswith(("=", "@", "-2"))]


@pytest.mark.parametrize("name", lists.LISTS)
def test_the_command_line_writes_the_list_that_the_page_gives(door, busy, tmp_path, name):
    target = tmp_path / "list.csv"
    call_command("export_list", busy.slug, name, output=target, stdout=io.StringIO())
    assert target.read_bytes() == body(door.get(f"/settings/data/{name}.csv"))
    kept = AuditRecord.objects.filter(account=busy, action="exported").order_by("id")
    assert [one.target for one in kept] == [f"list of {name}"] * 2


def test_the_list_of_what_waits_is_the_queue_with_its_reasons(door, busy):
    rows = list(csv.DictReader(io.StringIO(body(door.get("/settings/data/review.csv")).decode())))
    assert [(row["reasons"], row["key"]) for row in rows] == [("under_review", "'=doubt")]


def test_every_list_has_a_word_and_none_tells_a_secret(door, busy):
    assert set(lists.LISTS) == set(lists.WORDS)
    page = door.get("/settings/data/").content.decode()
    assert [name for name in lists.LISTS if f"/settings/data/{name}.csv" not in page] == []
    told = " ".join(lists.LISTS.values())
    assert not [word for word in ("secret", "password", "sha256", "digest") if word in told]


def test_only_admins_of_the_account_get_any_of_it(client_of, rex, vera, account):
    for person in (rex, vera):
        for path in ("", "export/", "entries.csv"):
            assert client_of(person).get(f"/settings/data/{path}").status_code == 403
        assert client_of(person).post("/settings/data/import/").status_code == 403
    assert client_of(rex).get("/jobs/").status_code == 200


def test_an_unknown_list_is_not_found(door):
    assert door.get("/settings/data/secrets.csv").status_code == 404


def test_an_import_cannot_be_run_from_the_page_of_jobs(door):
    assert door.post("/jobs/import/run/").status_code == 404


def test_what_leaves_and_what_comes_is_on_the_audit_trail(door, ada, account):
    upload(door, b"{}\n", name="old.jsonl")
    body(door.get("/settings/data/export/"))
    body(door.get("/settings/data/entries.csv"))
    door.head("/settings/data/entries.csv")
    kept = AuditRecord.objects.filter(account=account, action__in=["imported", "exported"]).order_by("id")
    told = [("imported", "history from old.jsonl"), ("exported", "history"), ("exported", "list of entries")]
    assert [(one.action, one.target) for one in kept] == told
    assert {one.actor for one in kept} == {ada.username}


def test_while_a_file_comes_in_nothing_is_counted(door, account, monkeypatch):
    upload(door, b"{}\n")
    monkeypatch.setattr(leaving, "size", lambda account_id: pytest.fail("counted"))
    assert "Nothing of it shows before" in Page(door.get("/settings/data/")).text


@pytest.mark.parametrize("start", ["=", "|", "%", " =", "\uff1d"])
def test_both_tables_keep_the_same_from_being_computed(start):
    assert sheets.cell(f"{start}1+1") == f"'{start}1+1"
    assert not hasattr(tabular, "FORMULA")


def test_an_account_has_two_exports_under_way_and_one_more_is_told_when_to_come_back(door, account):
    acts.put(account, {"most": 3})
    under_way = [door.get("/settings/data/export/"), door.get("/settings/data/entries.csv")]
    for address in ("/settings/data/export/", "/settings/data/entries.csv", "/settings/audit/?format=csv"):
        refused = door.get(address)
        assert (refused.status_code, refused["Retry-After"]) == (429, "5")
        assert "exports of yours are open already" in Page(refused).text
    assert AuditRecord.objects.filter(account=account, action="exported").count() == 2
    assert all(body(answer) for answer in under_way)
    assert body(door.get("/settings/audit/?format=csv"))
