"""Entries of agents that nobody knows yet are marked as long as they are on probation."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0013_erasing")]

    operations = [
        migrations.AddField("entry", "on_probation", models.BooleanField(default=False, db_default=False)),
    ]
