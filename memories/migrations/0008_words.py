"""Words with accents folded, identifiers whole and in parts, stems, signs of scripts without spaces; parts of names.

What was there before is found by them after 0015, which neither keeps writers out nor makes them wait.
"""

from django.db import migrations, models

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


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial"), ("memories", "0007_commits")]

    operations = [
        migrations.RunSQL(ASKED, "DROP FUNCTION memories_asked(text)"),
        migrations.AddField("entrytext", "name", models.TextField(default="", db_default="", blank=True)),
    ]
