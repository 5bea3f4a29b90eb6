"""What is made of the rows there are, and indexes over them, while others write; begun again when it was interrupted."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import migrations, models, transaction
from django.db.models import F

from memories.rules import wordings
from memories.vectors import table
from senselab.upgrading import IndexBeside

BATCH = 200

# The heads are held until the words of their claims are stored, so that no newer words are written over.
CURRENT = """
    SELECT e.id, e.entity_path, e.key, left(c.value, %(characters)s)
      FROM memories_entry e JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
     WHERE e.account_id = %(account)s AND e.id > %(after)s ORDER BY e.id LIMIT %(batch)s FOR NO KEY UPDATE OF e
"""
STORE = """
    UPDATE memories_entrytext t
       SET words = n.words::tsvector || setweight(to_tsvector('pg_catalog.english', n.stems), 'D'), name = n.name
      FROM unnest(%(ids)s::bigint[], %(words)s::text[], %(stems)s::text[], %(names)s::text[]) AS n(id, words, stems, name)
     WHERE t.account_id = %(account)s AND t.entry_id = n.id
"""
BY_TRANSACTION = [
    "DROP INDEX CONCURRENTLY IF EXISTS change_sets_by_transaction",
    "CREATE INDEX CONCURRENTLY change_sets_by_transaction ON memories_changeset (account_id, xact)"
    " WHERE xact IS NOT NULL",
]


def prepare(_apps, _schema_editor):
    """Make the table of vectors, where PostgreSQL knows them."""
    table.prepare()


def reword(apps, schema_editor):
    """Find every entry by the words of 0008."""
    accounts = apps.get_model("accounts", "Account").objects.order_by("id").values_list("id", flat=True)
    for account in list(accounts):
        after = 0
        while rows := reworded(schema_editor.connection, account, after):
            after = rows[-1][0]


def reworded(connection, account, after):
    values = {"account": account, "after": after, "batch": BATCH, "characters": wordings.CHARACTERS}
    with transaction.atomic(connection.alias), connection.cursor() as cursor:
        cursor.execute(CURRENT, values)
        rows = cursor.fetchall()
        found = [wordings.kept(*row[1:]) for row in rows]
        columns = {
            "ids": [row[0] for row in rows],
            "words": [words.words for words in found],
            "stems": [words.stems for words in found],
            "names": [words.name for words in found],
        }
        cursor.execute(STORE, {"account": account, **columns})
    return rows


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("accounts", "0003_key_globs"), ("memories", "0014_probation")]

    operations = [
        migrations.RunSQL("SET lock_timeout = 0", migrations.RunSQL.noop),
        migrations.RunSQL(BY_TRANSACTION, migrations.RunSQL.noop),
        migrations.RunPython(prepare, migrations.RunPython.noop),
        migrations.RunSQL(migrations.RunSQL.noop, "DROP TABLE IF EXISTS memories_entryvector"),
        migrations.RunPython(reword, migrations.RunPython.noop),
        IndexBeside(
            "entrytext",
            GinIndex("account", OpClass(F("name"), name="gin_trgm_ops"), name="entries_by_parts_of_names"),
        ),
        IndexBeside(
            "entrytext", models.Index(models.F("account"), models.F("reworded_at"), name="entries_by_rewording")
        ),
    ]
