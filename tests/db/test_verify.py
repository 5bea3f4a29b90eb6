"""manage.py verify: what nobody touched fits, and whatever somebody touches is named."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memories import jobs, recalls
from memories.checking import verify_reads
from memories.checking.verify_reads import Tally
from memories.recalls import Read
from memories.rules.policy import DEFAULT
from memories.services import superseding
from memories.services.ledger import Actor
from senselab.accounts.models import Account
from tests.db import acts
from tests.db.acts import BOB, NOON

DAY = timedelta(days=1)
TABLES = ("entry", "entryversion", "effect", "claim", "changeset", "counterdelta")


def tamper(account: Account, sql: str, *parameters: Any) -> None:
    """Change rows behind the back of every trigger, as somebody with the database in their hands could."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in TABLES:
            cursor.execute(f"ALTER TABLE memories_{table} DISABLE TRIGGER ALL")
        cursor.execute(sql, [account.pk, *parameters])
        assert cursor.rowcount > 0
        for table in TABLES:
            cursor.execute(f"ALTER TABLE memories_{table} ENABLE TRIGGER ALL")


def change(account: Account, table: str, what: str, where: str = "TRUE") -> None:
    tamper(account, f"UPDATE memories_{table} SET {what} WHERE account_id = %s AND {where}")


def delete(account: Account, table: str, where: str) -> None:
    tamper(account, f"DELETE FROM memories_{table} WHERE account_id = %s AND {where}")


def found(account: Account) -> list[str]:
    """Return what does not fit, one line each."""
    findings = verify_reads.account_findings(account, Tally())
    return [f"{where}{f' v{one.version}' if one.version else ''}: {one.words}" for where, one in findings]


@pytest.fixture
def entry_id(account: Account) -> int:
    """shop/retry: learned, confirmed twice, failed once. Four versions."""
    stored = acts.put(account, {"most": 3}, confidence=0.7, reason="seen in an incident")
    acts.told(account, "task-1", "success", now=NOON + DAY)
    acts.told(account, "task-2", "success", now=NOON + 2 * DAY, by=BOB, verified_by="ci")
    acts.told(account, "task-3", "failure", now=NOON + 3 * DAY)
    assert found(account) == []
    return stored.entry_id


def test_a_history_of_every_kind_of_change_fits(account: Account, entry_id: int) -> None:
    person = acts.viewer(account, sees_all=True)
    acts.put(account, {"most": 9}, now=NOON + 4 * DAY)
    acts.back(account, entry_id, to=3, expected=5, now=NOON + 5 * DAY)
    recalls.write(account.pk, DEFAULT, [Read(entry_id, 6, BOB, "s", NOON + 6 * DAY, 200)])
    acts.put(account, {"most": 3}, now=NOON + 7 * DAY)
    mistake = acts.put(account, "a mistake", key="mistake", now=NOON + 7 * DAY)
    acts.undone(account, mistake.change_set_id, now=NOON + 7.1 * DAY)
    acts.put(account, "mine", key="own", shared=False, by=BOB)
    acts.put(account, "hunch", key="hunch", confidence=0.35, memory_type="belief")
    acts.put(account, "window", key="window", ttl_at=NOON + 8 * DAY)
    acts.put(account, "better", key="retry-2", now=NOON + 8 * DAY)
    superseding.supersede(
        person,
        entry_id,
        by="shop/retry-2",
        actor=Actor("person", "mira"),
        policy=DEFAULT,
        reason="",
        now=NOON + 9 * DAY,
    )
    acts.told(account, "task-9", "success", "shop/retry", "shop/retry-2", now=NOON + 10 * DAY)
    assert jobs.transitions("expire", account, NOON + 11 * DAY, jobs.expired) == 1
    assert jobs.transitions("decay", account, NOON + 30 * DAY, jobs.decayed) == 1
    jobs.retier(account, NOON + 30 * DAY)

    assert found(account) == []


def test_references_fit_however_the_database_spells_them(account: Account) -> None:
    odd = {"uri": "s3://ü", "size_bytes": 100, "label": "b", "a": {"z": 1e22, "b": [1.0, -0.0, 1e-7]}}
    acts.put(account, "text", artifact_refs=[odd], pattern_refs=("shop/größe", 'a"b'))

    assert found(account) == []


def test_a_changed_state_breaks_its_seal_and_its_arithmetic(account: Account, entry_id: int) -> None:
    change(account, "entryversion", "confidence = 0.95", "number = 3")

    lines = found(account)

    assert (
        "shop/retry v3: its seal is broken: its state, its digests or its predecessor's seal are not what was sealed"
        in lines
    )
    assert any(
        line.startswith("shop/retry v3: the arithmetic of success task-2 gives confidence 0.8") for line in lines
    )
    assert any(line.startswith("shop/retry v4: it starts from 0.8") for line in lines)


def test_a_missing_version_is_named(account: Account, entry_id: int) -> None:
    delete(account, "entryversion", "number = 2")

    assert found(account) == [
        "shop/retry v2: version 2 is missing",
        "shop/retry v2: the effect of success task-1 says it made a version that is not there",
    ]


def test_a_missing_end_shows_on_the_head(account: Account, entry_id: int) -> None:
    delete(account, "effect", "version_made = 4")
    delete(account, "entryversion", "number = 4")

    assert "shop/retry: the head says version 4, its last version 3" in found(account)


@pytest.mark.parametrize("column", ["before", "weight", "after"])
def test_the_numbers_of_an_effect_are_computed_again(account: Account, entry_id: int, column: str) -> None:
    change(account, "effect", f"{column} = 0.5", "version_made = 4")

    (line,) = found(account)

    assert line.startswith(f"shop/retry v4: the arithmetic of failure task-3 gives {column} ")
    assert line.endswith("its effect says 0.5")


def test_what_an_effect_says_of_its_step_is_part_of_the_sum(account: Account, entry_id: int) -> None:
    change(account, "effect", "causal_confidence = 0.5", "version_made = 4")

    lines = found(account)

    assert any("gives weight" in line for line in lines)
    assert any("gives confidence" in line for line in lines)
    assert any("gives evidence_failure" in line for line in lines)


def test_a_weight_of_a_version_is_computed_again(account: Account, entry_id: int) -> None:
    change(account, "entryversion", "weight = 1.5", "number = 4")

    assert any("gives weight" in line and line.endswith("stored is 1.5") for line in found(account))


def test_a_label_follows_from_the_record(account: Account, entry_id: int) -> None:
    for table, where in (("entry", "TRUE"), ("entryversion", "number = 4")):
        change(account, table, "evidence_status = 'validated'", where)

    expected = "shop/retry v4: its label validated does not follow from its record of +2 -1: that is discredited"
    assert expected in found(account)


def test_a_record_made_up_at_a_rewrite_is_named(account: Account, entry_id: int) -> None:
    acts.put(account, "new claim", now=NOON + 4 * DAY)
    change(account, "entryversion", "success_count = 9, outcome_count = 9", "number = 5")

    assert "shop/retry v5: what was written gives success_count 0, stored is 9" in found(account)


def test_a_head_that_differs_from_its_last_version_is_named(account: Account, entry_id: int) -> None:
    change(account, "entry", "confidence = 0.99, validators = '{agent/eve}'")

    lines = found(account)

    assert any(line.startswith("shop/retry: the head says confidence 0.99, its last version 0.4") for line in lines)
    assert "shop/retry: the head says validators agent/eve, its last version agent/ada, agent/bob" in lines


def test_a_changed_value_is_named_three_times_over(account: Account, entry_id: int) -> None:
    change(account, "claim", """value = '{"most": 4}'""")

    assert found(account) == [
        "shop/retry v1: the content hash of its claim is not that of its value",
        "shop/retry v1: the digest of its claim is not that of its value",
        "shop/retry v1: its claim's value or references are not those that were sealed",
    ]


def test_a_changed_value_with_fitting_hashes_still_breaks_what_was_sealed(account: Account, entry_id: int) -> None:
    acts.put(account, {"most": 4}, key="other")
    tamper(
        account,
        """UPDATE memories_claim c SET value = o.value, digest = o.digest, salt = o.salt, content = o.content,
                  content_hash = o.content_hash
             FROM memories_claim o WHERE c.account_id = %s AND o.account_id = c.account_id AND c.entry_id = %s
                  AND o.entry_id <> c.entry_id""",
        entry_id,
    )

    lines = found(account)

    assert "shop/retry v1: its content digest is wrong: claim or reason are not what was sealed" in lines
    assert "shop/retry v1: its integrity_chain is broken" in lines


def test_a_changed_reason_is_named(account: Account, entry_id: int) -> None:
    change(account, "changeset", "reason = 'none of your business'", "kind = 'write'")

    assert found(account) == ["shop/retry v1: its content digest is wrong: claim or reason are not what was sealed"]


def test_a_changed_actor_is_named(account: Account, entry_id: int) -> None:
    change(account, "changeset", "actor = 'agent/eve'", "cause = 'task-3'")

    (line,) = found(account)

    assert line.startswith("shop/retry v4: its names are not those that were sealed")


def test_a_broken_chain_is_named_where_it_breaks(account: Account, entry_id: int) -> None:
    change(account, "entryversion", "integrity_chain = repeat('0', 64)", "number = 2")

    assert found(account) == [
        "shop/retry v2: its integrity_chain is broken",
        "shop/retry v3: its integrity_chain is broken",
    ]


def test_an_effect_needs_its_version_and_an_outcome_its_effect(account: Account, entry_id: int) -> None:
    change(account, "effect", "version_made = 7", "version_made = 4")

    assert found(account) == [
        "shop/retry v7: the effect of failure task-3 says it made a version that is not there",
        "shop/retry v4: no effect of an outcome made it",
    ]


def test_counters_are_counted_again(account: Account, entry_id: int) -> None:
    change(account, "counterdelta", "entries = entries + 1", "entries > 0")

    assert found(account) == ["counters of agent/ada under shop: the counter says entries 2, the entries themselves 1"]


def test_every_batch_is_looked_at(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    acts.fill(account, 25)
    monkeypatch.setattr(verify_reads, "VERSIONS", 4)
    monkeypatch.setattr(verify_reads, "VALUES", 3)
    change(account, "entryversion", "pinned = true")
    tally = Tally()

    lines = list(verify_reads.account_findings(account, tally))

    assert (tally.entries, tally.versions) == (25, 25)
    assert sum("its seal is broken" in finding.words for _, finding in lines) == 25


def test_versions_under_a_policy_that_is_no_longer_kept_are_checked_by_their_seals(account: Account) -> None:
    account.policy_version, account.policy_values = 2, {"prior_strength": 4.0}
    account.save()
    acts.put(account)
    change(account, "entryversion", "policy = 'house@7'")
    tally = Tally()

    lines = [finding.words for _, finding in verify_reads.account_findings(account, tally)]

    assert tally.unknown == 1
    assert lines == ["its seal is broken: its state, its digests or its predecessor's seal are not what was sealed"]


def test_the_command_answers_in_one_line_when_all_fits(account: Account, entry_id: int) -> None:
    out = io.StringIO()

    call_command("verify", account=account.slug, stdout=out)

    assert out.getvalue() == "1 entries, 4 versions, all fit\n"


def test_the_command_names_account_entry_and_version_and_fails(account: Account, entry_id: int) -> None:
    change(account, "entryversion", "pinned = true", "number = 4")
    out = io.StringIO()

    with pytest.raises(SystemExit) as stopped:
        call_command("verify", account=account.slug, stdout=out)

    assert stopped.value.code == 1
    assert f"{account.slug}: shop/retry v4: its seal is broken" in out.getvalue()
    assert out.getvalue().endswith("1 entries, 4 versions, 2 things do not fit\n")


@pytest.mark.django_db
def test_the_command_knows_no_account_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="There is no account 'nowhere'"):
        call_command("verify", account="nowhere")
