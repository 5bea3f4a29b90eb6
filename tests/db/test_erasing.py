"""Erasing: a word told in every place an agent has is in no dump afterwards, a tombstone stands, every seal fits."""

import json
import secrets
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from memories.checking import verify_reads
from memories.checking.verify_reads import Tally
from memories.models import ChangeSet, Claim, Comment, Entry, EntryVersion
from memories.services import importing
from memories.transfer import leaving
from outcomes.models import Edge, Event, Outcome, TaskText, Trace
from senselab.accounts import sealing
from senselab.accounts import services as accounts
from senselab.accounts.models import AuditRecord
from senselab.survival import programs
from tests.api.conftest import Caller
from tests.db import acts

NAME = {"entity_path": "shop/pay", "key": "limit"}
ENTRY_KEY = "shop/pay/limit"


@pytest.fixture
def word():
    """A word that nobody says but who is to be erased."""
    return f"kwyjibo{secrets.token_hex(8)}"


@pytest.fixture
def admin(account):
    key = accounts.create_key(account, name="admin key", scopes=("read", "write", "review", "admin"))
    return Caller(key, "admin-tool")


def tell(bot, reviewer, word, name=NAME):
    """Say a word in every place that has text: about one entry, by one agent."""
    path, key = name["entity_path"], name["key"]
    relied = f"{path}/{key}"
    kept = {"Idempotency-Key": secrets.token_hex(4)}
    first = {
        "value": {"say": word}, "pattern_refs": [f"{word}/ref"], "artifact_refs": [{"uri": f"s3://{word}"}],
        "importance_score": 0.5, "importance_dimensions": {word: 0.5}, "session_id": "s-1",
    }  # fmt: skip
    assert bot.write(path, key, headers=kept, **first).status_code == 200
    again = {**name, "value": f"{word} again"}
    beside = {"entity_path": "shop", "key": "beside", "value": "stays"}
    assert bot.post("commits", {"writes": [again, beside], "message": f"for {word}"}).status_code == 200
    told = bot.report(
        "T-1", "failure", relied, session_id="s-1", task_input=f"do {word}", response_text=word, situation=word,
        tool_calls=[{"tool_name": "x", "arguments": word}], session_metadata={"m": word}, covariates={"c": word},
        actions_taken=[{"action_kind": "run", "action_key": word}], entity_paths=[path],
        attempts=[{"attempt": 1, "outcome_type": "failure", "causal_entry_keys": [relied], "summary": word}],
    )  # fmt: skip
    assert told.status_code == 200, told.content
    read = {**name, "version": 2, "value": word, "written_by": "agent/deploy-bot"}
    trace = {"agent_id": bot.agent, "session_id": "s-2", "outcome_ref": "T-2", "outcome_type": "success"}
    more = {"causal_entries": [read], "task_input": word, "query_events": [{"q": word}], "new": [word]}
    assert bot.post("traces", trace | more).status_code in {200, 201}
    event = {"event_type": "webhook", "agent_id": bot.agent, "summary": word, "details": {**name, "w": word}}
    assert bot.post("timeline/events", event).status_code in {200, 201}
    edge = {"source_entity": relied, "relation": f"is_{word}", "target_entity": word, "provenance": {"by": word}}
    assert bot.post("graph/edges", edge).status_code in {200, 201}
    seen = {"description": word, "observation_id": word}
    assert bot.post("evidence", {**name, "evidence": seen, "confidence_delta": -0.1}).status_code == 200
    assert bot.post("feedback", {**name, "outcome": "accepted", "note": f"well {word}"}).status_code == 200
    version = bot.read(path, key)["version"]
    decided = {"items": [{**name, "version": version}], "decision": "comment", "text": f"look {word}"}
    assert reviewer.post("review/decisions", decided).status_code == 200
    sent = {"items": [{**name, "version": version}], "decision": "archive", "reason": word}
    assert reviewer.post("review/decisions", sent).status_code == 200


def erase(admin, **body):
    answer = admin.post("erasures", {"reason": "it should not be here", **body})
    assert answer.status_code == 200, answer.content
    return answer.json()


def findings(account):
    return [*verify_reads.account_findings(account, Tally()), *sealing.findings(account.pk)]


def holds(word):
    """Return the tables that say a word, bytes read as well."""
    found = []
    # Beside the wall, which lets nobody look into all accounts.
    with connection.connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
        )
        for (table,) in cursor.fetchall():
            cursor.execute(
                f'SELECT count(*) FROM "{table}" r WHERE position(%s IN r::text) + position(%s IN r::text) > 0',
                [word, word.encode().hex()],
            )
            found += [table] if cursor.fetchone()[0] else []
    return found


def test_the_word_is_told_everywhere_before(account, bot, reviewer, word):
    tell(bot, reviewer, word)
    said = set(holds(word))
    assert said >= {
        "memories_claim", "memories_changeset", "memories_comment", "memories_evidence", "memories_entry",
        "memories_entrytext", "outcomes_outcome", "outcomes_trace", "outcomes_event", "outcomes_edge",
        "outcomes_tasktext", "accounts_keptanswer",
    }  # fmt: skip


def test_a_whole_dump_does_not_say_the_word_any_more(
    lasting, account, admin, bot, reviewer, word, database_url, tmp_path
):
    tell(bot, reviewer, word)
    spoken = Caller(accounts.create_key(account, name="another"), f"agent/{word}")
    tell(spoken, reviewer, word, {"entity_path": f"{word}/place", "key": f"{word} key"})
    erase(admin, **NAME, confirm=ENTRY_KEY)
    place = {"entity_path": f"{word}/place", "key": f"{word} key"}
    erase(admin, **place, confirm=f"{word}/place/{word} key", names=True)
    erase(admin, agent_id=f"agent/{word}", confirm=f"agent/{word}", names=True)
    file = tmp_path / "whole.sql"
    programs.run(programs.found("pg_dump"), [f"--file={file}"], database_url)
    dump = file.read_text()
    lines = [line[:300] for line in dump.splitlines() if word in line or word.encode().hex() in line]
    assert lines == []
    assert "memories_entryversion" in dump
    assert findings(account) == []


def test_a_tombstone_stands_and_every_seal_fits(account, admin, bot, reviewer, word):
    tell(bot, reviewer, word)
    before = list(EntryVersion.objects.filter(account=account).order_by("id").values_list("seal", flat=True))
    told = erase(admin, **NAME, confirm=ENTRY_KEY)
    assert (told["erased"]["entries"], told["erased"]["comments"]) == (1, 1)
    history = admin.get("history", **NAME).json()["versions"]
    assert {version["value"] for version in history} == {None}
    last = EntryVersion.objects.filter(account=account).order_by("id").last()
    assert (last.change, last.status, last.confidence) == ("erased", "archived", 0.0)
    stone = ChangeSet.objects.get(account=account, pk=told["change_set"])
    assert (stone.kind, stone.reason) == ("erasure", "it should not be here")
    after = list(EntryVersion.objects.filter(account=account).order_by("id").values_list("seal", flat=True))
    assert after[:-1] == before
    assert findings(account) == []
    assert admin.read("shop", "beside")["value"] == "stays"


def test_seals_still_show_what_is_changed_beside_an_erasure(account, admin, bot, reviewer, word):
    tell(bot, reviewer, word)
    erase(admin, **NAME, confirm=ENTRY_KEY)
    claim = Claim.objects.filter(account=account, erased_at__isnull=False).first()
    Claim.objects.filter(account=account, pk=claim.pk).update(value='"put there"')
    assert "something is left of a claim that was erased" in str(findings(account))
    Claim.objects.filter(account=account, pk=claim.pk).update(value="null", erased_at=None)
    assert "nothing says that it was erased" in str(findings(account))
    Claim.objects.filter(account=account, pk=claim.pk).update(erased_at=acts.NOON)
    assert "no version stands for it" in str(findings(account))


def test_a_reason_that_is_gone_without_an_erasure_is_found(account, bot):
    bot.post("commits", {"writes": [{**NAME, "value": 1}], "message": "why"})
    ChangeSet.objects.filter(account=account).update(reason="", erased_at=acts.NOON)
    assert "claim or reason are not what was sealed" in str(findings(account))


def tamper(account, column, *, erasing):
    """Change a version without the function, with the word that it says for itself or without."""
    with transaction.atomic(), connection.cursor() as cursor:
        if erasing:
            cursor.execute("SELECT set_config('senselab.erasing', %s::text, true)", [account.pk])
        cursor.execute(f"UPDATE memories_entryversion SET {column} WHERE account_id = %s", [account.pk])


def test_nothing_gets_past_the_trigger_without_a_tombstone(account, bot):
    bot.write("shop", "a", 1)
    for column in ("integrity_chain = ''", "confidence = 0.9"):
        with pytest.raises(DatabaseError, match="append-only"):
            tamper(account, column, erasing=column.startswith("confidence"))
    for function in ("memories_erase", "outcomes_erase"):
        with pytest.raises(DatabaseError, match="tombstone"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s, now(), '{{}}')", [account.pk])


def test_what_was_erased_does_not_come_back_by_rollback_or_undo(account, admin, bot, word):
    bot.write(**{"path": "shop/pay", "key": "limit"}, value=word)
    told = erase(admin, **NAME, confirm=ENTRY_KEY)
    back = admin.post("rollback", {**NAME, "to_version": 1, "expected_version": 2, "reason": "please"})
    assert back.status_code == 409
    assert admin.post(f"change-sets/{told['change_set']}/undo", {"reason": "please"}).status_code == 409
    assert bot.write("shop/pay", "limit", "a new beginning").json()["version"] == 3
    assert findings(account) == []


def test_of_an_entry_by_two_only_the_agents_own_words_go(account, admin, bot, helper, word):
    bot.write("shop/pay", "limit", word)
    helper.write("shop/pay", "limit", "what the helper says")
    bot.write("shop/pay", "other", word)
    told = erase(admin, agent_id="agent/deploy-bot", confirm="agent/deploy-bot")
    assert told["erased"]["values"] == 2
    assert admin.read("shop/pay", "limit")["value"] == "what the helper says"
    assert admin.get("entries", agent_id="agent/deploy-bot").json()["total"] == 0
    assert findings(account) == []


def test_names_go_on_request_wherever_they_were_said(account, admin, bot, helper, word):
    path = f"shop/{word}"
    bot.write(path, "secret name", "v")
    helper.write("shop", "refers", "see there", pattern_refs=[f"{path}/secret name"])
    helper.report("T-9", "success", f"{path}/secret name", entity_paths=[path])
    helper.post("feedback", {"entity_path": "shop", "key": "refers", "outcome": "superseded",
                             "superseded_by": f"{path}/secret name"})  # fmt: skip
    erase(admin, entity_path=path, key="secret name", confirm=f"{path}/secret name", names=True)
    told = b"".join(leaving.export(account)).decode()
    assert word not in told
    assert "see there" in told
    assert findings(account) == []
    row = Entry.objects.get(account=account, entity_path__startswith="erased/")
    assert admin.get("history", entity_path=row.entity_path, key=row.key).json()["version_count"] == 3


def test_an_agent_without_a_name_keeps_its_record(account, admin, bot, helper, word):
    helper.write("shop", "a", "stays", confidence=0.7)
    spoken = Caller(accounts.create_key(account, name="another"), f"agent/{word}")
    spoken.report("T-1", "success", "shop/a", task_input=word)
    spoken.get("entries/shop/a")
    before = bot.read("shop", "a")["confidence"]
    told = erase(admin, agent_id=f"agent/{word}", confirm=f"agent/{word}", names=True)
    assert word not in b"".join(leaving.export(account)).decode()
    assert bot.read("shop", "a")["confidence"] == before
    assert f"erased-{told['change_set']}" in bot.get("why", entity_path="shop", key="a").content.decode()
    assert findings(account) == []


def test_an_account_with_tombstones_travels(account, other_account, admin, bot, reviewer, word):
    tell(bot, reviewer, word)
    erase(admin, **NAME, confirm=ENTRY_KEY, names=True)
    file = b"".join(leaving.export(account))
    assert word.encode() not in file
    importing.take_in(other_account, file.splitlines(keepends=True))
    assert b"".join(leaving.export(other_account)) == file
    assert list(verify_reads.account_findings(other_account, Tally())) == []


def test_it_takes_a_reason_the_name_and_an_admin(account, admin, bot, reviewer):
    bot.write("shop/pay", "limit", 1)
    asked = {**NAME, "reason": "why", "confirm": ENTRY_KEY}
    assert reviewer.post("erasures", asked).status_code == 403
    for missing, pointer in (("reason", "/reason"), ("confirm", "/confirm")):
        answer = admin.post("erasures", asked | {missing: ""})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    seen = admin.post("erasures", asked | {"preview": True, "confirm": ""}).json()
    assert (seen["erases"]["values"], seen["confirm"]) == (1, ENTRY_KEY)
    assert "backups" in seen["not_reached"][0]
    assert bot.read("shop/pay", "limit")["value"] == 1
    assert admin.post("erasures", asked | {"key": "nothing"}).status_code == 404
    assert admin.post("erasures", {"reason": "why"}).status_code == 422


def test_the_trail_tells_of_it_without_what_was_said(account, admin, bot, word):
    bot.write("shop/pay", "limit", word)
    erase(admin, **NAME, confirm=ENTRY_KEY)
    record = AuditRecord.objects.get(account=account, action="erased")
    assert (record.target, record.after["values"], record.after["reason"]) == (
        f"an entry: {ENTRY_KEY}",
        1,
        "it should not be here",
    )
    assert word not in json.dumps(record.after)


def test_another_account_keeps_its_words(account, other_account, admin, bot, stranger, word):
    stranger.write("shop/pay", "limit", word)
    stranger.report("T-1", "success", ENTRY_KEY, task_input=word)
    bot.write("shop/pay", "limit", word)
    bot.post("graph/edges", {"source_entity": "a/1", "relation": "like", "target_entity": "a/2"})
    erase(admin, agent_id="agent/deploy-bot", confirm="agent/deploy-bot", names=True)
    assert stranger.read("shop/pay", "limit")["value"] == word
    assert Outcome.objects.of(other_account.pk).get().task_input == word
    for model in (Comment, Edge, Event, TaskText, Trace):
        assert model.objects.filter(account=account).count() == 0


def test_the_command_says_what_would_go_and_erases_when_confirmed(account, bot, word):
    bot.write("shop/pay", "limit", word)
    said = StringIO()
    call_command("erase", "--entry", "shop/pay", "limit", account=account.slug, stdout=said)
    assert "1 values" in said.getvalue()
    assert bot.read("shop/pay", "limit")["value"] == word
    call_command(
        "erase", "--entry", "shop/pay", "limit", account=account.slug, reason="r", confirm=ENTRY_KEY, stdout=said
    )
    assert "backups" in said.getvalue()
    assert bot.read("shop/pay", "limit")["value"] is None
