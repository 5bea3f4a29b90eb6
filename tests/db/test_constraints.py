"""What the database refuses by itself, each by a name that says why."""

from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction

from senselab.accounts import services as accounts
from tests.db import acts
from tests.db.records import insert

ENTRY, VERSION, EFFECT, OUTCOME = "memories_entry", "memories_entryversion", "memories_effect", "outcomes_outcome"
OURS = ("memories_", "outcomes_")
TRACE, OTHER_TRACE = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
SEALED = {"number": 1, "digest": "\\x00", "seal": "\\x00"}

REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("confidence_is_a_probability", ENTRY, {"key": "a", "confidence": 1.000001}),
    ("confidence_is_a_probability", ENTRY, {"key": "a", "confidence": -0.000001}),
    ("masses_of_evidence_are_never_negative", ENTRY, {"key": "a", "evidence_success": -1e-9}),
    ("masses_of_evidence_are_never_negative", ENTRY, {"key": "a", "triple_failure": -1e-9}),
    ("every_outcome_is_a_success_or_a_failure", ENTRY, {"key": "a", "outcome_count": 7}),
    ("every_outcome_is_a_success_or_a_failure", ENTRY, {"key": "a", "success_count": -1, "failure_count": 2}),
    ("freshness_never_reaches_0", ENTRY, {"key": "a", "freshness": 0}),
    ("freshness_never_reaches_0", ENTRY, {"key": "a", "freshness": 1.01}),
    ("a_status_is_one_we_know", ENTRY, {"key": "a", "status": "deleted"}),
    ("an_evidence_status_is_one_we_know", ENTRY, {"key": "a", "evidence_status": "proven"}),
    ("a_type_is_one_we_know", ENTRY, {"key": "a", "memory_type": "rumour"}),
    ("a_tier_is_hot_warm_or_archive", ENTRY, {"key": "a", "tier": 4}),
    ("versions_count_from_1", ENTRY, {"key": "a", "version": 0}),
    ("a_private_entry_belongs_to_its_author", ENTRY, {"key": "a", "shared": False}),
    ("a_private_entry_belongs_to_its_author", ENTRY, {"key": "a", "owner": acts.ADA}),
    ("importance_is_between_0_and_1", ENTRY, {"key": "a", "importance_score": 1.5}),
    ("an_entry_key_is_taken_once_in_an_account_and_branch", ENTRY, {}),
    ("a_version_number_is_taken_once", VERSION, {}),
    ("a_change_is_one_we_know", VERSION, {"number": 9, "change": "edited"}),
    ("a_versions_confidence_is_a_probability", VERSION, {"number": 9, "confidence": 2}),
    ("a_step_of_an_outcome_counts_once_for_an_entry", EFFECT, {}),
    ("an_effect_made_a_version_or_says_why_not", EFFECT, {"step": 9, "version_made": None}),
    ("an_effect_made_a_version_or_says_why_not", EFFECT, {"step": 9, "weight": None}),
    ("an_effect_made_a_version_or_says_why_not", EFFECT, {"step": 9, "skipped": "expired"}),
    ("an_outcome_is_stored_once", OUTCOME, {}),
    ("an_outcome_type_is_one_we_know", OUTCOME, {"digest": "\\x00", "outcome_type": "shrug"}),
    ("causal_confidence_is_a_probability", OUTCOME, {"digest": "\\x00", "causal_confidence": 1.1}),
    ("an_edge_is_kept_once", "outcomes_edge", {}),
    ("an_edges_confidence_is_a_probability", "outcomes_edge", {"digest": "\\x01", "confidence": 1.1}),
    ("an_actor_is_an_agent_a_person_or_a_job", "memories_changeset", {"actor_kind": "ghost"}),
    ("an_author_is_summed_once_under_a_path", "memories_counter", {}),
    ("an_observation_counts_once_for_an_entry", "memories_evidence", {}),
    ("evidence_moves_by_at_most_1", "memories_evidence", {"delta": -1.1}),
    ("a_run_is_waiting_running_finished_or_cancelled", "memories_bulkrun", {"state": "stuck"}),
    ("an_item_is_waiting_done_or_failed", "memories_bulkitem", {"state": "lost"}),
    ("a_run_is_in_a_state_we_know", "memories_jobrun", {"state": "stuck"}),
    ("a_move_leads_from_one_tier_to_another", "memories_tiermove", {"before": 2, "after": 2}),
    ("a_move_leads_from_one_tier_to_another", "memories_tiermove", {"before": 0, "after": 2}),
    ("a_person_has_one_role_in_an_account", "accounts_membership", {}),
    ("a_role_is_viewer_reviewer_or_admin", "accounts_membership", {"role": "owner"}),
    ("an_agent_is_known_once_in_an_account", "accounts_agent", {}),
    ("a_key_is_found_by_its_public_id", "accounts_apikey", {}),
    ("scopes_are_read_write_review_or_admin", "accounts_apikey", {"public_id": "b", "scopes": ["root"]}),
    ("scopes_are_read_write_review_or_admin", "accounts_apikey", {"public_id": "b", "scopes": []}),
    ("a_key_may_call_at_least_once_a_minute", "accounts_apikey", {"public_id": "b", "rate_per_minute": 0}),
    ("an_invitation_is_found_by_its_token", "accounts_invitation", {}),
    ("an_invitation_gives_a_role", "accounts_invitation", {"token_sha256": "\\x01", "role": "owner"}),
    ("an_email_is_known_of_one_person", "accounts_person", {"username": "somebody else"}),
    ("an_identity_is_one_persons", "accounts_identity", {}),
    ("an_identity_has_a_reason", "accounts_identity", {"subject": "another", "linked_by": "rumour"}),
    ("a_place_in_the_trail_is_taken_once", "accounts_auditrecord", SEALED),
    ("a_record_is_sealed_whole_or_not", "accounts_auditrecord", {"number": 2, "digest": None, "seal": None}),
    ("a_pair_is_alike_or_opposite", "memories_alikepair", {"one_id": 1, "other_id": 2, "kind": "odd"}),
    ("a_pair_is_kept_once", "memories_alikepair", {"one_id": 2, "other_id": 1, "kind": "same"}),
]


@pytest.fixture
def something(db, account, ada):
    """An account with a row in every table whose constraints need one to stand beside."""
    stored = acts.put(account, confidence=0.7)
    acts.told(account, "DEP-1")
    accounts.create_key(account, name="k")
    act = {"entry_id": stored.entry_id, "change_set_id": stored.change_set_id}
    insert("memories_evidence", account.pk, observation_id="seen", delta=0, version_made=1, **act)
    insert("memories_counter", account.pk)
    insert("accounts_auditrecord", account.pk, **SEALED)
    insert("accounts_invitation", account.pk, role="viewer")
    insert("accounts_identity", account.pk, person_id=ada.pk, linked_by="email")
    type(ada).objects.filter(pk=ada.pk).update(known_email=f"{ada.username}@example.com")
    insert("outcomes_edge", account.pk)
    return account


@pytest.mark.parametrize(("name", "table", "changes"), REFUSED)
def test_the_database_refuses_by_name(something, name, table, changes):
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        insert(table, something.pk, **changes)
    assert refused.value.__cause__.diag.constraint_name == name


def test_every_constraint_has_a_test_here():
    there = {
        constraint.name
        for app in ("memories", "outcomes", "accounts")
        for model in apps.get_app_config(app).get_models()
        for constraint in model._meta.constraints
    }
    assert {name for name, _, _ in REFUSED} == there


def test_the_values_that_are_refused_are_refused_for_one_reason(something):
    """The same rows are taken once the one thing wrong with them is put right."""
    insert(ENTRY, something.pk, key="a")
    insert(VERSION, something.pk, number=9)
    insert(EFFECT, something.pk, step=9)
    insert(OUTCOME, something.pk, digest="\\x00")
    insert("memories_changeset", something.pk)
    insert("accounts_apikey", something.pk, public_id="b")
    insert("memories_jobrun", something.pk, state="done")


def test_of_a_name_there_may_be_one_shared_entry_and_one_for_each_agent(something):
    for owner in (acts.ADA, acts.BOB):
        insert(ENTRY, something.pk, owner=owner, shared=False)
    with pytest.raises(IntegrityError, match="an_entry_key_is_taken_once"), transaction.atomic():
        insert(ENTRY, something.pk, owner=acts.BOB, shared=False)
    insert(ENTRY, something.pk, branch="draft")


KEYS = """
    SELECT t.relname, i.relname, x.indisprimary, x.indisunique,
           (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum = x.indkey[0]),
           (SELECT array_agg(a.attname) FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum = ANY(x.indkey))
      FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
     WHERE t.relnamespace = current_schema()::regnamespace AND (t.relname ~ '^memories_' OR t.relname ~ '^outcomes_')
       AND NOT t.relispartition
"""


def tables() -> set[str]:
    found = {
        model._meta.db_table for app in ("memories", "outcomes") for model in apps.get_app_config(app).get_models()
    }
    assert all(name.startswith(OURS) for name in found)
    return found


def test_the_primary_key_of_every_table_starts_with_the_account(db):
    first = {table: column for table, _, primary, _, column, _ in acts.rows_of(KEYS) if primary}
    # Vectors are no model of Django's.
    assert first == dict.fromkeys([*tables(), "memories_entryvector"], "account_id")


def test_every_other_unique_key_carries_the_account(db):
    without = [index for _, index, _, unique, _, names in acts.rows_of(KEYS) if unique and "account_id" not in names]
    assert without == []


def test_every_index_starts_with_the_account(db):
    assert [index for _, index, _, _, first, _ in acts.rows_of(KEYS) if first != "account_id"] == []


LINKS = """
    SELECT c.conname, t.relname, r.relname,
           (SELECT array_agg(a.attname ORDER BY k.place) FROM unnest(c.conkey) WITH ORDINALITY AS k(number, place)
              JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number)
      FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid
     WHERE c.contype = 'f' AND t.relnamespace = current_schema()::regnamespace
       AND (t.relname ~ '^memories_' OR t.relname ~ '^outcomes_') AND r.relname <> 'accounts_account'
       AND NOT t.relispartition
"""


def test_every_foreign_key_within_an_account_carries_it(db):
    assert [name for name, _, _, names in acts.rows_of(LINKS) if names[0] != "account_id"] == []


def test_everything_that_names_another_row_is_held_to_it(db):
    linked = {(table, names[1]) for _, table, _, names in acts.rows_of(LINKS)}
    named = {
        (model._meta.db_table, field.column)
        for app in ("memories", "outcomes")
        for model in apps.get_app_config(app).get_models()
        for field in model._meta.local_concrete_fields
        if isinstance(field, models.ForeignKey) and field.column != "account_id"
    }
    # What every read writes is not checked against its entry: that would lock the entry's row.
    assert named - linked == {("memories_recall", "entry_id"), ("memories_reading", "entry_id")}


def ids_of(account) -> dict[str, int]:
    """Return a row of an account for each table that others point to."""
    stored = acts.put(account, key="target")
    return {
        ENTRY: stored.entry_id,
        "memories_changeset": stored.change_set_id,
        "memories_claim": acts.head(account, stored.entry_id).claim.id,
        OUTCOME: acts.told(account, "target").outcome_id,
        "memories_bulkrun": insert("memories_bulkrun", account.pk, state="waiting")["id"],
    }


def test_no_row_can_point_into_another_account(something, other_account):
    ours, theirs = ids_of(something), ids_of(other_account)
    later = acts.put(something, key="later").entry_id
    links = acts.rows_of(LINKS)
    unique = {ENTRY: {"key": "a"}, VERSION: {"number": 9}, EFFECT: {"step": 9}, "memories_tiermove": {"after": 2}}
    unique |= {"memories_evidence": {"observation_id": "b", "delta": 0}, "memories_bulkitem": {"state": "done"}}
    for name, table, target, (_, column) in links:
        right = {other: ours[to] for _, of, to, (_, other) in links if of == table}
        # The smaller id comes first in a pair.
        right |= {"other_id": later, "kind": "same"} if table == "memories_alikepair" else {}
        values = unique.get(table, {}) | right | {column: theirs[target]}
        with pytest.raises(IntegrityError) as refused, transaction.atomic():
            insert(table, something.pk, **values)
        assert refused.value.__cause__.diag.constraint_name == name
    assert len(links) >= 16
