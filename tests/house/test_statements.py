"""The wall that every other test runs behind must itself let nothing through."""

import pytest
from django.apps import apps
from django.db import connection

from memories import figures, heads, rows
from memories.models import Entry, EntryVersion
from memories.services.ledger_sql import Parts, append
from senselab.accounts.keys import FIND
from tests import statements
from tests.statements import NamesNoAccount, fault_of

BOUND = "JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM memories_entry",
        "SELECT * FROM memories_entry WHERE id = %s",
        "SELECT account_id FROM memories_entry e WHERE e.key = %s",
        "SELECT * FROM memories_entry e JOIN memories_claim c ON c.id = e.claim_id WHERE e.account_id = %s",
        f"SELECT * FROM memories_entry e {BOUND} WHERE e.id = %s",
        "SELECT (SELECT count(*) FROM memories_entry e WHERE e.key = %s) FROM memories_entry e WHERE e.account_id = %s",
        "UPDATE memories_entry SET account_id = %s WHERE id = %s",
        "DELETE FROM memories_recall r USING memories_entry e WHERE e.id = r.entry_id AND e.account_id = %s",
        "SELECT * FROM memories_entry e, memories_claim c WHERE e.account_id = %s AND c.id = e.claim_id",
        "SELECT * FROM (SELECT account_id, key FROM memories_entry) s WHERE s.key = %s",
        "SELECT * FROM accounts_keptanswer WHERE created_at < %s AND account_id = key_id",
        "UPDATE memories_entry SET tier = 1 WHERE id = %s",
        "UPDATE memories_entry e SET tier = 1 FROM memories_recall r WHERE e.account_id = %s AND r.entry_id = e.id",
        "DELETE FROM memories_counterdelta",
        "INSERT INTO memories_recall (entry_id, recall_count) VALUES (%s, 1)",
        "INSERT INTO memories_recall VALUES (%s, %s, 1)",
        'SELECT "memories_entry"."id" FROM "memories_entry" WHERE "memories_entry"."key" = %s',
        'UPDATE "accounts_apikey" SET "name" = %s WHERE "accounts_apikey"."id" = %s',
        'SELECT "accounts_membership"."id" FROM "accounts_membership"',
    ],
)
def test_a_statement_that_does_not_say_of_which_account_is_named(sql):
    assert fault_of(sql)


@pytest.mark.parametrize(
    "sql",
    [
        append(Parts()),
        append(Parts(grows=True)),
        FIND,
        heads.HEAD,
        f"{rows.VERSIONS} WHERE e.account_id = %(account)s",
        f"SELECT sum(s.entries) FROM {figures.SOURCE} WHERE s.account_id = %(account)s",
        f"SELECT * FROM memories_entry e {BOUND} WHERE e.account_id = ANY(%s)",
        "DELETE FROM memories_counterdelta WHERE account_id = %s",
        "DELETE FROM accounts_keptanswer WHERE created_at < %s",
        'SELECT "memories_entry"."id" FROM "memories_entry" WHERE "memories_entry"."account_id" IN (%s, %s)',
        "SELECT * FROM accounts_account WHERE slug = %s",
        "SELECT 1",
    ],
)
def test_a_statement_that_says_so_passes(sql):
    assert fault_of(sql) == ""


def test_every_table_of_memories_and_outcomes_is_watched():
    models = [*apps.get_app_config("memories").get_models(), *apps.get_app_config("outcomes").get_models()]
    of_accounts = {f"accounts_{name}" for name in ("apikey", "agent", "membership", "keptanswer")}
    assert {model._meta.db_table for model in models} | of_accounts <= statements.owned_tables()


def test_the_wall_stands_in_this_test_without_being_asked_for(db):
    with pytest.raises(NamesNoAccount, match="memories_entry"):
        Entry.objects.filter(key="retry").exists()
    with pytest.raises(NamesNoAccount), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memories_claim")
    with pytest.raises(NamesNoAccount, match="memories_entry"):
        EntryVersion.objects.filter(account_id=1, entry__key="retry").exists()
    assert not EntryVersion.objects.filter(account_id=1, number=2).exists()
