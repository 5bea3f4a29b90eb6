"""Where an erasure leaves its mark, and the change it makes; the new check reads no rows before the next migration."""

from django.db import migrations, models
from django.db.models import Q

CHANGES = [
    "created", "written", "outcome", "feedback", "evidence", "decayed", "expired", "review", "rollback", "superseded",
    "merged", "erased",
]  # fmt: skip
NAME = "a_change_is_one_we_know"
REPLACED = f"""
ALTER TABLE memories_entryversion DROP CONSTRAINT {NAME};
ALTER TABLE memories_entryversion ADD CONSTRAINT {NAME}
    CHECK (change IN ({", ".join(f"'{word}'" for word in CHANGES)})) NOT VALID;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0011_alike")]

    operations = [
        migrations.AddField("changeset", "erased_at", models.DateTimeField(null=True)),
        migrations.AddField("claim", "erased_at", models.DateTimeField(null=True)),
        migrations.AddField("entry", "renamed_at", models.DateTimeField(null=True)),
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
