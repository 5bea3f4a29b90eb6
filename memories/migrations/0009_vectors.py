"""When claims changed, for jobs that follow; and vectors, where PostgreSQL knows them."""

from django.db import migrations, models
from django.db.models.functions import Now

from memories.vectors import table


def prepare(*_):
    table.prepare()


class Migration(migrations.Migration):
    dependencies = [("memories", "0008_words")]

    operations = [
        migrations.AddField("entrytext", "reworded_at", models.DateTimeField(db_default=Now())),
        migrations.AddIndex(
            "entrytext", models.Index(models.F("account"), models.F("reworded_at"), name="entries_by_rewording")
        ),
        migrations.RunPython(prepare, migrations.RunPython.noop),
        migrations.RunSQL(migrations.RunSQL.noop, "DROP TABLE IF EXISTS memories_entryvector"),
    ]
