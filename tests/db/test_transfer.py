"""An account's history leaves as lines and comes back byte for byte, beside its source, all of it or nothing."""

import hashlib
import json
from datetime import timedelta

import pytest
from django.db import connection

from memories import recalls
from memories.checking import verify_reads
from memories.checking.verify_reads import Tally
from memories.models import Commit
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from memories.services import arriving, comments, evidence, importing
from memories.services.acts import Act, Actor
from memories.services.evidence import Observed
from memories.services.importing import BadFile, NotEmpty
from memories.transfer import leaving, tables
from outcomes.models import Edge, Event, Outcome, Trace
from tests.db import acts
from tests.db.acts import ADA, BOB, NOON

DAY = timedelta(days=1)


def written(account):
    return b"".join(leaving.export(account))


def taken_in(account, file):
    return importing.take_in(account, file.splitlines(keepends=True))


def told_again(file, *, change):
    """Return a file whose lines somebody changed, with a last line that fits it."""
    lines = change(file.splitlines(keepends=True)[:-1])
    body = b"".join(lines)
    end = {"line": "end", "lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"


@pytest.fixture
def story(account):
    """Two entries of one name, a hard name, outcomes, a rollback that shares a claim, an undo, a recall."""
    stored = acts.put(account, {"most": 3}, confidence=0.7, reason='said "once"\n\\ twice')
    acts.put(account, [1.0, 1e-9, 12345678901234567890], key="größe/🦊 x", by=BOB)
    acts.put(account, "mine", shared=False)
    acts.told(account, "task-1", "success", now=NOON + DAY)
    acts.told(account, "task-2", "failure", now=NOON + 2 * DAY, by=BOB, verified_by="ci")
    other = acts.put(account, {"most": 5}, now=NOON + 3 * DAY)
    acts.back(account, stored.entry_id, to=1, expected=other.version, now=NOON + 4 * DAY)
    undone = acts.put(account, "mistake", key="wrong", now=NOON + 4 * DAY)
    acts.undone(account, undone.change_set_id, now=NOON + 5 * DAY)
    recalls.write(account.pk, DEFAULT, [Read(stored.entry_id, 1, ADA, "s1", NOON + 5 * DAY, 300)])
    people, person = acts.viewer(account, sees_all=True), Actor("person", "rex")
    seen = Observed(NOON, "seen in a log", "o-1", -0.2)
    evidence.add(people, other.entry_id, seen, actor=person, now=NOON + 6 * DAY)
    comments.say(account.pk, [other.entry_id], "look at this", Act("comment", person, NOON + 7 * DAY, DEFAULT))
    told_beside(account, undone.change_set_id)
    return account


def told_beside(account, change_set_id):
    """What agents tell beside outcomes, and a commit, as rows."""
    outcome = Outcome.objects.of(account.pk).first()
    Commit.objects.create(
        account=account, id="c0ffee000001", change_set_id=change_set_id, tree_hash="0" * 64, parent_ids=["c0ffee000000"]
    )
    Trace.objects.create(account=account, agent_id=ADA, outcome_id=outcome.pk, created_at=NOON, body='{"a": 1.0}')
    Event.objects.create(account=account, agent_id=ADA, event_type="note", created_at=NOON, details={"deep": [None]})
    Edge.objects.create(
        account=account,
        digest=b"\x00\xff" * 16,
        source_entity="shop",
        relation="needs",
        target_entity="pay",
        first_seen=NOON,
        last_seen=NOON,
    )


def test_what_left_comes_back_byte_for_byte_beside_its_source(story, other_account):
    file = written(story)
    count = taken_in(other_account, file)
    assert count == file.count(b"\n") - 1
    assert written(other_account) == file
    assert written(story) == file
    assert list(verify_reads.account_findings(other_account, Tally())) == []
    kinds = {json.loads(line)["line"] for line in file.splitlines()}
    # Six weeks of the demo have the rest (test_transfer_demo).
    assert {table.kind for table in tables.TABLES} - kinds <= {"policy", "move", "tier day"}


def test_what_came_back_reads_and_is_searched_like_its_source(story, other_account):
    taken_in(other_account, written(story))
    for sql in (
        "SELECT words::text, name FROM memories_entrytext WHERE account_id = %s ORDER BY 1",
        "SELECT sum(recalls), sum(tokens_saved), sum(entries) FROM memories_counterdelta WHERE account_id = %s",
        "SELECT xact IS NOT NULL FROM memories_changeset WHERE account_id = %s",
    ):
        assert acts.rows_of(sql, story.pk) == acts.rows_of(sql, other_account.pk)
    acts.told(other_account, "task-9", "success", now=NOON + 9 * DAY)
    assert list(verify_reads.account_findings(other_account, Tally())) == []


def test_a_file_names_no_row_ids_and_no_account(story):
    lines = [json.loads(line) for line in written(story).splitlines()]
    # Traces and commits are known to clients by ids of their own.
    public = {("trace", "id"), ("commit", "id")}
    names = {name for line in lines[1:-1] for name in line if (line["line"], name) not in public}
    assert not {name for name in names if name == "id" or name.endswith("_id")} - {
        *("agent_id", "session_id", "actor_agent_id", "observation_id", "request_id"),
    }
    assert story.slug not in written(story).decode()


def test_the_same_claim_keeps_one_claim(story, other_account):
    taken_in(other_account, written(story))
    claims = "SELECT count(*), count(DISTINCT entry_id) FROM memories_claim WHERE account_id = %s"
    assert acts.rows_of(claims, story.pk) == acts.rows_of(claims, other_account.pk)


def test_an_account_that_holds_something_refuses(story, other_account):
    acts.put(other_account, 1)
    with pytest.raises(NotEmpty, match="already"):
        taken_in(other_account, written(story))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda file: file[: len(file) // 2].rpartition(b"\n")[0] + b"\n", "cut short"),
        (lambda file: file.replace(b'"main"', b'"mail"', 1), "checksum|no line|belong"),
        (lambda file: file[: len(file) // 2], "no line of an export|cut short"),
        (lambda file: b"", "cut short"),
        (lambda file: b"a,b\n1,2\n", "Line 1 is no line"),
        (lambda file: file.replace(b'"most', b'"\xff', 1), "no UTF-8|no line"),
        (lambda file: file.replace(b'"sha256":"', b'"sha256":1,"x":"'), "The last line is not an export's"),
        (lambda file: file.replace(b'"schema":1', b'"schema":2', 1), "later release"),
        (lambda file: file + file.splitlines(keepends=True)[3], "does not belong"),
    ],
)
def test_a_file_that_is_not_whole_leaves_nothing(story, other_account, change, words):
    with pytest.raises(BadFile, match=words):
        taken_in(other_account, change(written(story)))
    for table in tables.TABLES:
        assert acts.rows_of(f"SELECT count(*) FROM {table.db_table} WHERE account_id = %s", other_account.pk) == [(0,)]


def test_a_line_longer_than_any_of_ours_is_refused_before_it_is_read_whole(story, other_account, monkeypatch):
    longest = max(map(len, written(story).splitlines(keepends=True)))
    monkeypatch.setattr(arriving, "LONGEST", longest - 1)
    with pytest.raises(BadFile, match="is longer than"):
        taken_in(other_account, written(story))


def test_a_row_that_breaks_a_rule_of_the_tables_is_refused_and_nothing_stays(story, other_account):
    file = told_again(
        written(story), change=lambda lines: [line.replace(b'"confidence":', b'"confidence":1') for line in lines]
    )
    with pytest.raises(BadFile, match="cannot be stored"):
        taken_in(other_account, file)
    assert acts.rows_of("SELECT count(*) FROM memories_entry WHERE account_id = %s", other_account.pk) == [(0,)]


def test_a_line_that_names_an_entry_that_is_not_there_is_refused(story, other_account):
    def without_an_entry(lines):
        first = next(line for line in lines if line.startswith(b'{"line":"entry"'))
        return [line for line in lines if line is not first]

    with pytest.raises(BadFile, match="cannot be stored"):
        taken_in(other_account, told_again(written(story), change=without_an_entry))


def test_a_file_of_an_earlier_release_gets_defaults_for_what_it_does_not_know(story, other_account):
    def earlier(lines):
        plain = [json.loads(line) for line in lines]
        plain[0]["columns"]["entry"].remove("was_owner")
        for line in plain:
            if line["line"] == "entry":
                del line["was_owner"]
        return [json.dumps(line).encode() + b"\n" for line in plain]

    file = written(story)
    taken_in(other_account, told_again(file, change=earlier))
    assert written(other_account) == file


def test_every_table_of_an_account_travels_or_says_why_it_stays(db):
    owned = set(tables.owned())
    travels = {table.db_table for table in tables.TABLES}
    assert owned - travels - set(tables.STAYS) == set()
    assert travels & set(tables.STAYS) == set()
    # Vectors are kept only where PostgreSQL knows them.
    assert (travels | set(tables.STAYS)) - owned <= {"memories_entryvector"}
    assert all(reason.endswith(".") for reason in tables.STAYS.values())


def test_somebody_who_writes_meanwhile_is_noticed(story, other_account):
    def and_a_write():
        yield from written(story).splitlines(keepends=True)
        with connection.cursor() as cursor:
            day = "INSERT INTO memories_tierday (account_id, branch, day, hot, warm, cold)"
            cursor.execute(f"{day} VALUES (%s, 'x', now(), 0, 0, 0)", [other_account.pk])

    with pytest.raises(NotEmpty, match="Somebody wrote"):
        importing.take_in(other_account, and_a_write())
