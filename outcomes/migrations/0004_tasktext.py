"""What past tasks were about, so that tasks like them are found; 0006 makes it of the outcomes there are."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

LINK = """
ALTER TABLE outcomes_tasktext ADD CONSTRAINT tasktext_names_an_outcome_of_its_account
    FOREIGN KEY (account_id, outcome_id) REFERENCES outcomes_outcome (account_id, id) ON DELETE CASCADE
    DEFERRABLE INITIALLY IMMEDIATE;
"""


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
    ]
