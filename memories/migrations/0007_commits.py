"""Commits, and the transaction that made a change set, by which a stream knows what it has sent."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

COMMIT_KEYS = """
ALTER TABLE memories_commit ADD CONSTRAINT commit_names_a_changeset_of_its_account_change_set_id
    FOREIGN KEY (account_id, change_set_id) REFERENCES memories_changeset (account_id, id)
    DEFERRABLE INITIALLY IMMEDIATE;
"""
# A column without a default rewrites nothing, and a default set afterwards applies to what comes. Django does not know
# the column: no statement but the stream's names it. Its index comes in 0015, beside writers.
TRANSACTIONS = """
ALTER TABLE memories_changeset ADD COLUMN xact xid8;
ALTER TABLE memories_changeset ALTER COLUMN xact SET DEFAULT pg_current_xact_id();
"""
NO_TRANSACTIONS = "ALTER TABLE memories_changeset DROP COLUMN xact;"


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_contracts"),
        ("memories", "0006_references_and_actors"),
    ]

    operations = [
        migrations.CreateModel(
            name="Commit",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("id", models.CharField(max_length=12)),
                ("branch", models.TextField(db_collation="C", default="main")),
                ("tree_hash", models.CharField(max_length=64)),
                (
                    "parent_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=12), default=list, size=None
                    ),
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
                (
                    "change_set",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="memories.changeset",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("account"),
                        models.F("branch"),
                        models.OrderBy(models.F("change_set"), descending=True),
                        name="commits_by_branch",
                    )
                ],
            },
        ),
        # The strongest lock first: who has one and waits for a stronger one may wait for who waits for it.
        migrations.RunSQL(TRANSACTIONS, NO_TRANSACTIONS),
        migrations.RunSQL(COMMIT_KEYS, migrations.RunSQL.noop),
    ]
