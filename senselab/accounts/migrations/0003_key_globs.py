"""Where keys reach, how they are rotated, and where they were used from."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_contracts")]

    operations = [
        migrations.AddField("apikey", "globs", models.JSONField(blank=True, db_default=[], default=list)),
        migrations.AddField("apikey", "last_used_from", models.GenericIPAddressField(blank=True, null=True)),
        migrations.AddField("apikey", "old_secret_sha256", models.BinaryField(blank=True, max_length=32, null=True)),
        migrations.AddField("apikey", "old_until", models.DateTimeField(blank=True, null=True)),
    ]
