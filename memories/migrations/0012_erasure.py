"""Where an erasure leaves its mark, and the change it makes; the new check reads no rows before the next migration."""

from django.db import migrations, models
from django.db.models import Q

CHANGES = [
    "created", "written", "outcome", "feedback", "evidence", "decayed", "expired", "review", "rollback", "superseded",
    "merged", "erased",
]  # fmt: skip
NAME = "a_change_is_one_we_know"
REPLACED = f"""
ALTER TABLE memories_entryversion DROP CONSTRAINT IF EXISTS {NAME};
ALTER TABLE memories_entryversion ADD CONSTRAINT {NAME}
    CHECK (change IN ({", ".join(f"'{word}'" for word in CHANGES)})) NOT VALID;
"""


def column(model: str, name: str) -> migrations.SeparateDatabaseAndState:
    """Add a moment that may be missing; made again after an interruption, it finds the column there."""
    add = f"ALTER TABLE memories_{model} ADD COLUMN IF NOT EXISTS {name} timestamptz NULL"
    drop = f"ALTER TABLE memories_{model} DROP COLUMN IF EXISTS {name}"
    state = migrations.AddField(model, name, models.DateTimeField(null=True))
    return migrations.SeparateDatabaseAndState([migrations.RunSQL(add, drop)], [state])


class Migration(migrations.Migration):
    # One table at a time: writers of the release before lock these in an order of their own.
    atomic = False
    dependencies = [("memories", "0011_alike")]

    operations = [
        column("changeset", "erased_at"),
        column("claim", "erased_at"),
        column("entry", "renamed_at"),
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(REPLACED, migrations.RunSQL.noop)],
            [
                migrations.RemoveConstraint("entryversion", NAME),
                migrations.AddConstraint(
                    "entryversion", models.CheckConstraint(condition=Q(change__in=CHANGES), name=NAME)
                ),
            ],
        ),
    ]
