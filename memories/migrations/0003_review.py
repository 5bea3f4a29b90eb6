"""What people decide by and about: evidence, marks, traces, comments, bulk runs; keys carry the account."""

import django.db.models.deletion
from django.db import migrations, models

NUMBERED = ["evidence", "comment", "bulkrun"]
LINKS = [
    ("evidence", "entry_id", "entry"),
    ("evidence", "change_set_id", "changeset"),
    ("reviewmark", "entry_id", "entry"),
    ("reviewtrace", "entry_id", "entry"),
    ("reviewtrace", "change_set_id", "changeset"),
    ("comment", "entry_id", "entry"),
    ("comment", "change_set_id", "changeset"),
    ("bulkitem", "entry_id", "entry"),
    ("bulkitem", "run_id", "bulkrun"),
]


def keys():
    """Return what makes primary and foreign keys carry the account, as in 0002."""
    for table in NUMBERED:
        name = f"memories_{table}"
        yield f"ALTER TABLE {name} DROP CONSTRAINT {name}_pkey, ADD PRIMARY KEY (account_id, id);"
    for table, column, target in LINKS:
        yield (
            f"ALTER TABLE memories_{table} ADD CONSTRAINT {table}_names_a_{target}_of_its_account_{column}"
            f" FOREIGN KEY (account_id, {column}) REFERENCES memories_{target} (account_id, id)"
            " DEFERRABLE INITIALLY IMMEDIATE;"
        )


def append_only():
    for table in ("evidence", "comment"):
        yield (
            f"CREATE TRIGGER history_is_append_only BEFORE UPDATE OR DELETE ON memories_{table}"
            " FOR EACH ROW EXECUTE FUNCTION memories_refuse_change();"
            f"CREATE TRIGGER history_is_not_truncated BEFORE TRUNCATE ON memories_{table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION memories_refuse_change();"
        )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("memories", "0002_walls"),
    ]

    operations = [
        migrations.CreateModel(
            name="BulkRun",
            fields=[
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("decision", models.CharField(max_length=12)),
                ("terms", models.JSONField(default=dict)),
                ("selected", models.TextField(default="")),
                ("kind", models.CharField(max_length=20)),
                ("cause", models.TextField(default="")),
                ("reason", models.TextField(default="")),
                ("actor_kind", models.CharField(max_length=10)),
                ("actor", models.TextField()),
                ("author", models.TextField()),
                ("request_id", models.CharField(default="", max_length=64)),
                ("undoes", models.BigIntegerField(null=True)),
                ("sees_all", models.BooleanField()),
                ("change_set_id", models.BigIntegerField(null=True)),
                ("state", models.CharField(default="waiting", max_length=10)),
                ("cancelled", models.BooleanField(default=False)),
                ("total", models.IntegerField()),
                ("done", models.IntegerField(default=0)),
                ("failed", models.IntegerField(default=0)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
                ("moved_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="BulkItem",
            fields=[
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
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="memories.entry",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="memories.bulkrun",
                    ),
                ),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id",
                        "run_id",
                        "entry_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("version", models.IntegerField()),
                ("to_version", models.IntegerField(null=True)),
                ("state", models.CharField(default="waiting", max_length=7)),
                ("why", models.TextField(default="")),
            ],
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
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
                (
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="comments",
                        to="memories.entry",
                    ),
                ),
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("actor", models.TextField()),
                ("text", models.TextField()),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Evidence",
            fields=[
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
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="evidence",
                        to="memories.entry",
                    ),
                ),
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("observation_id", models.TextField(db_collation="C", default="")),
                ("at", models.DateTimeField()),
                ("added_at", models.DateTimeField()),
                ("description", models.TextField()),
                ("delta", models.FloatField()),
                ("actor_kind", models.CharField(max_length=10)),
                ("actor", models.TextField()),
                ("version_made", models.IntegerField()),
                ("change_set_id", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="ReviewMark",
            fields=[
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
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="memories.entry",
                    ),
                ),
                ("seen_version", models.IntegerField(null=True)),
                ("seen_expiry", models.DateTimeField(null=True)),
                ("snoozed_version", models.IntegerField(null=True)),
                ("snoozed_until", models.DateTimeField(null=True)),
                ("sent_by", models.TextField(default="")),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id", "entry_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("place_version", models.IntegerField(null=True)),
                ("place_at", models.DateTimeField(null=True)),
                ("claimed_by", models.TextField(default="")),
                ("claimed_until", models.DateTimeField(null=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ReviewTrace",
            fields=[
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
                (
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="memories.entry",
                    ),
                ),
                ("seen_version", models.IntegerField(null=True)),
                ("seen_expiry", models.DateTimeField(null=True)),
                ("snoozed_version", models.IntegerField(null=True)),
                ("snoozed_until", models.DateTimeField(null=True)),
                ("sent_by", models.TextField(default="")),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id",
                        "change_set_id",
                        "entry_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("freshness", models.FloatField()),
                ("accessed_at", models.DateTimeField()),
                ("waiting_since", models.DateTimeField()),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(
                models.F("account"),
                models.F("branch"),
                models.F("settled_confidence"),
                models.F("id"),
                condition=models.Q(
                    ("status", "under_review"),
                    models.Q(
                        ("status", "active"),
                        models.Q(
                            ("evidence_status__in", ["contested", "discredited"]),
                            ("negative_reinforcement__gt", 0),
                            _connector="OR",
                        ),
                    ),
                    _connector="OR",
                ),
                name="entries_in_question",
            ),
        ),
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(
                models.F("account"),
                models.F("branch"),
                models.F("superseded_by"),
                condition=models.Q(("superseded_by__isnull", False)),
                name="entries_replaced",
            ),
        ),
        migrations.AddIndex(
            model_name="bulkrun",
            index=models.Index(
                models.F("account"), models.OrderBy(models.F("id"), descending=True), name="runs_by_age"
            ),
        ),
        migrations.AddConstraint(
            model_name="bulkrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ("waiting", "running", "finished", "cancelled"))),
                name="a_run_is_waiting_running_finished_or_cancelled",
            ),
        ),
        migrations.AddConstraint(
            model_name="bulkitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ("waiting", "done", "failed"))),
                name="an_item_is_waiting_done_or_failed",
            ),
        ),
        migrations.AddIndex(
            model_name="comment",
            index=models.Index(
                models.F("account"),
                models.F("entry"),
                models.OrderBy(models.F("id"), descending=True),
                name="comments_by_entry",
            ),
        ),
        migrations.AddIndex(
            model_name="comment",
            index=models.Index(models.F("account"), models.F("change_set"), name="comments_by_change_set"),
        ),
        migrations.AddIndex(
            model_name="evidence",
            index=models.Index(
                models.F("account"),
                models.F("entry"),
                models.OrderBy(models.F("id"), descending=True),
                name="evidence_by_entry",
            ),
        ),
        migrations.AddConstraint(
            model_name="evidence",
            constraint=models.UniqueConstraint(
                condition=models.Q(("observation_id", ""), _negated=True),
                fields=("account", "entry", "observation_id"),
                name="an_observation_counts_once_for_an_entry",
            ),
        ),
        migrations.AddConstraint(
            model_name="evidence",
            constraint=models.CheckConstraint(
                condition=models.Q(("delta__gte", -1.0), ("delta__lte", 1.0)), name="evidence_moves_by_at_most_1"
            ),
        ),
        migrations.RunSQL("\n".join([*keys(), *append_only()]), migrations.RunSQL.noop),
    ]
