"""Runs of jobs, tiers day by day, moves between tiers, versions of the policy; keys carry the account."""

import django.db.models.deletion
from django.db import migrations, models

NUMBERED = ["jobrun", "tiermove"]


def keys():
    """Return what makes primary and foreign keys carry the account, as in 0002."""
    for table in NUMBERED:
        name = f"memories_{table}"
        yield f"ALTER TABLE {name} DROP CONSTRAINT {name}_pkey, ADD PRIMARY KEY (account_id, id);"
    yield (
        "ALTER TABLE memories_tiermove ADD CONSTRAINT tiermove_names_a_entry_of_its_account_entry_id"
        " FOREIGN KEY (account_id, entry_id) REFERENCES memories_entry (account_id, id) DEFERRABLE INITIALLY IMMEDIATE;"
    )
    yield (
        "CREATE TRIGGER history_is_append_only BEFORE UPDATE OR DELETE ON memories_policyversion"
        " FOR EACH ROW EXECUTE FUNCTION memories_refuse_change();"
        "CREATE TRIGGER history_is_not_truncated BEFORE TRUNCATE ON memories_policyversion"
        " FOR EACH STATEMENT EXECUTE FUNCTION memories_refuse_change();"
    )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("memories", "0003_review"),
    ]

    operations = [
        migrations.CreateModel(
            name="PolicyVersion",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.IntegerField()),
                ("values", models.JSONField(default=dict)),
                ("actor", models.TextField(default="")),
                ("reason", models.TextField(default="")),
                ("at", models.DateTimeField()),
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
        ),
        migrations.CreateModel(
            name="TierDay",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id", "branch", "day", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("branch", models.TextField(db_collation="C")),
                ("day", models.DateField()),
                ("hot", models.BigIntegerField()),
                ("warm", models.BigIntegerField()),
                ("cold", models.BigIntegerField()),
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
        ),
        migrations.CreateModel(
            name="JobRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("job", models.CharField(max_length=20)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        max_length=10,
                    ),
                ),
                ("asked_by", models.TextField(default="")),
                ("dry", models.BooleanField(default=False)),
                ("terms", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
                ("moved_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("looked", models.BigIntegerField(default=0)),
                ("changed", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(null=True)),
                ("cancelled", models.BooleanField(default=False)),
                ("failures", models.IntegerField(default=0)),
                ("error", models.TextField(default="")),
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
                        models.F("job"),
                        models.OrderBy(models.F("id"), descending=True),
                        name="runs_by_job",
                    ),
                    models.Index(
                        models.F("account"),
                        models.F("id"),
                        condition=models.Q(("state__in", ("waiting", "running"))),
                        name="runs_under_way",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "running", "done", "failed", "cancelled"])),
                        name="a_run_is_in_a_state_we_know",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TierMove",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("branch", models.TextField(db_collation="C")),
                ("at", models.DateTimeField()),
                ("before", models.SmallIntegerField()),
                ("after", models.SmallIntegerField()),
                ("place", models.IntegerField(null=True)),
                ("importance", models.FloatField()),
                ("recency", models.FloatField()),
                ("frequency", models.FloatField()),
                ("durability", models.FloatField()),
                ("priority", models.FloatField()),
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
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("account"),
                        models.F("branch"),
                        models.OrderBy(models.F("at"), descending=True),
                        models.OrderBy(models.F("id"), descending=True),
                        name="tier_moves_by_time",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("after__in", (1, 2, 3)),
                            ("before__in", (1, 2, 3)),
                            models.Q(("before", models.F("after")), _negated=True),
                        ),
                        name="a_move_leads_from_one_tier_to_another",
                    )
                ],
            },
        ),
        migrations.RunSQL("\n".join(keys()), migrations.RunSQL.noop),
    ]
