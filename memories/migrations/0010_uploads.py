"""Files on their way in, kept in the database until a worker has taken them in."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_contracts"), ("memories", "0009_vectors")]

    operations = [
        migrations.CreateModel(
            name="UploadPart",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id", "run_id", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("run_id", models.BigIntegerField()),
                ("number", models.IntegerField()),
                ("data", models.BinaryField()),
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
    ]
