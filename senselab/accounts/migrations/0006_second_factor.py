"""Whether an account asks everybody for a second factor."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_people"),
    ]

    operations = [
        migrations.AddField(
            model_name="account",
            name="second_factor_required",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
