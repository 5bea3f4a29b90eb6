"""What past tasks were about, so that tasks like them are found; made from the outcomes there are."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

from outcomes.rules import tasks

LINK = """
ALTER TABLE outcomes_tasktext ADD CONSTRAINT tasktext_names_an_outcome_of_its_account
    FOREIGN KEY (account_id, outcome_id) REFERENCES outcomes_outcome (account_id, id) ON DELETE CASCADE
    DEFERRABLE INITIALLY IMMEDIATE;
"""
TOLD = """
    SELECT o.id, o.branch, o.committed_at, o.task_input, o.situation, o.entity_paths, o.causal_entry_keys || ARRAY(
               SELECT jsonb_array_elements_text(a->'causal_entry_keys') FROM jsonb_array_elements(o.attempts) AS a)
      FROM outcomes_outcome o WHERE o.account_id = %s AND o.id > %s AND NOT o.replayed ORDER BY o.id LIMIT 1000
"""
KEEP = """
    INSERT INTO outcomes_tasktext (account_id, outcome_id, entity_path, branch, at, terms)
    VALUES (%s, %s, %s, %s, %s, %s)
"""


def describe(_apps, schema_editor):
    """Describe every task that was told before there was this table."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT id FROM accounts_account ORDER BY id")
        for (account,) in cursor.fetchall():
            last = 0
            while last is not None:
                last = _describe(cursor, account, last)


def _describe(cursor, account, last):
    """Describe some tasks of an account and return the last one, None when there are no more."""
    cursor.execute(TOLD, [account, last])
    found = cursor.fetchall()
    for outcome, branch, at, task, situation, paths, keys in found:
        terms = tasks.terms_of(task, situation)
        rows = [(account, outcome, path, branch, at, terms) for path in tasks.paths_of(paths, keys)]
        cursor.executemany(KEEP, rows)
    return found[-1][0] if found else None


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("outcomes", "0003_traces"),
    ]

    operations = [
        migrations.CreateModel(
            name="TaskText",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id",
                        "outcome_id",
                        "entity_path",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("outcome_id", models.BigIntegerField()),
                ("entity_path", models.TextField(db_collation="C", default="")),
                ("branch", models.TextField(db_collation="C", default="main")),
                ("at", models.DateTimeField()),
                (
                    "terms",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("account"),
                        models.F("branch"),
                        models.F("entity_path"),
                        models.OrderBy(models.F("at"), descending=True),
                        name="tasks_by_entity",
                    ),
                    models.Index(
                        models.F("account"),
                        models.F("branch"),
                        models.OrderBy(models.F("at"), descending=True),
                        name="tasks_by_time",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        models.F("account"), models.F("terms"), name="tasks_by_terms"
                    ),
                ],
            },
        ),
        migrations.RunSQL(LINK, migrations.RunSQL.noop),
        migrations.RunPython(describe, migrations.RunPython.noop),
    ]
