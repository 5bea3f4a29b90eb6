"""Pairs of entries that are alike; keys carry the account."""

import django.db.models.deletion
from django.db import migrations, models


def keys():
    for column in ("one_id", "other_id"):
        yield (
            f"ALTER TABLE memories_alikepair ADD CONSTRAINT alikepair_names_a_entry_of_its_account_{column}"
            f" FOREIGN KEY (account_id, {column}) REFERENCES memories_entry (account_id, id)"
            " DEFERRABLE INITIALLY IMMEDIATE;"
        )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_key_globs"),
        ("memories", "0010_uploads"),
    ]

    operations = [
        migrations.CreateModel(
            name="AlikePair",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id",
                        "one_id",
                        "other_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("one_claim", models.BigIntegerField()),
                ("other_claim", models.BigIntegerField()),
                ("kind", models.CharField(max_length=8)),
                ("score", models.FloatField()),
                ("why", models.TextField()),
                ("found_at", models.DateTimeField()),
                ("dismissed_by", models.TextField(default="")),
                ("dismissed_at", models.DateTimeField(null=True)),
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
                    "one",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="memories.entry",
                    ),
                ),
                (
                    "other",
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
                        models.OrderBy(models.F("found_at"), descending=True),
                        condition=models.Q(("dismissed_at__isnull", True)),
                        name="pairs_to_look_at",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["same", "opposite"])), name="a_pair_is_alike_or_opposite"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("one__lt", models.F("other"))), name="a_pair_is_kept_once"
                    ),
                ],
            },
        ),
        migrations.RunSQL("\n".join(keys()), migrations.RunSQL.noop),
    ]
