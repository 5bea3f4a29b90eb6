"""Words with accents folded, identifiers whole and in parts, stems, signs of scripts without spaces; parts of names."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import migrations, models
from django.db.models import F

from memories.rules import wordings

BATCH = 1_000

# A query in the words of memories.rules.wordings; every `~word~` in it stands for the English stem of that word.
# Immutable, so that the planner knows how rare the words are.
ASKED = """
CREATE FUNCTION memories_asked(query text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(string_agg(
               CASE WHEN s.place % 2 = 0
                    THEN coalesce((ts_lexize('pg_catalog.english_stem', s.part))[1], s.part) ELSE s.part END,
               '' ORDER BY s.place), '')::tsquery
      FROM unnest(string_to_array(query, '~')) WITH ORDINALITY AS s(part, place)
$$;
"""
CURRENT = """
    SELECT e.id, e.entity_path, e.key, left(c.value, %(characters)s)
      FROM memories_entry e JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
     WHERE e.account_id = %(account)s AND e.id > %(after)s ORDER BY e.id LIMIT %(batch)s
"""
STORE = """
    UPDATE memories_entrytext t
       SET words = n.words::tsvector || setweight(to_tsvector('pg_catalog.english', n.stems), 'D'), name = n.name
      FROM unnest(%(ids)s::bigint[], %(words)s::text[], %(stems)s::text[], %(names)s::text[]) AS n(id, words, stems, name)
     WHERE t.account_id = %(account)s AND t.entry_id = n.id
"""


def reword(apps, schema_editor):
    """Find every entry by the new words."""
    accounts = apps.get_model("accounts", "Account").objects.values_list("id", flat=True)
    with schema_editor.connection.cursor() as cursor:
        for account in accounts:
            after = 0
            while rows := reworded(cursor, account, after):
                after = rows[-1][0]


def reworded(cursor, account, after):
    values = {"account": account, "after": after, "batch": BATCH, "characters": wordings.CHARACTERS}
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
    dependencies = [("accounts", "0001_initial"), ("memories", "0007_commits")]

    operations = [
        migrations.RunSQL(ASKED, "DROP FUNCTION memories_asked(text)"),
        migrations.AddField("entrytext", "name", models.TextField(default="", db_default="", blank=True)),
        migrations.RemoveIndex("entrytext", "entries_by_words"),
        migrations.RunPython(reword, migrations.RunPython.noop),
        migrations.AddIndex("entrytext", GinIndex("account", "words", name="entries_by_words")),
        migrations.AddIndex(
            "entrytext",
            GinIndex("account", OpClass(F("name"), name="gin_trgm_ops"), name="entries_by_parts_of_names"),
        ),
    ]
