"""Change sets by agent, claims by what they refer to; built beside writers."""

import django.contrib.postgres.indexes
from django.db import migrations, models

from senselab.upgrading import IndexBeside


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("accounts", "0001_initial"),
        ("memories", "0005_was_owner"),
    ]

    operations = [
        IndexBeside(
            model_name="changeset",
            index=models.Index(
                models.F("account"),
                models.F("actor"),
                models.OrderBy(models.F("at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("actor_kind", "agent")),
                name="change_sets_by_agent",
            ),
        ),
        IndexBeside(
            model_name="claim",
            index=django.contrib.postgres.indexes.GinIndex(
                models.F("account"),
                models.F("pattern_refs"),
                condition=models.Q(("pattern_refs", []), _negated=True),
                name="claims_by_reference",
            ),
        ),
    ]
