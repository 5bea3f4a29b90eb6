"""What an agent says it can do, and what it binds its own writes to."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="capabilities",
            field=models.JSONField(blank=True, db_default=[], default=list),
        ),
        migrations.AddField(
            model_name="agent",
            name="contracts",
            field=models.JSONField(blank=True, db_default=[], default=list),
        ),
    ]
