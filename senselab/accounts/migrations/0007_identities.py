"""People as a provider of OpenID Connect knows them, and the e-mail address that leads to them the first time."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_second_factor"),
    ]

    operations = [
        migrations.AddField(
            model_name="person",
            name="known_email",
            field=models.CharField(blank=True, db_default="", default="", max_length=254),
        ),
        migrations.AddConstraint(
            model_name="person",
            constraint=models.UniqueConstraint(
                condition=models.Q(("known_email", ""), _negated=True),
                fields=("known_email",),
                name="an_email_is_known_of_one_person",
            ),
        ),
        migrations.CreateModel(
            name="Identity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("issuer", models.TextField()),
                ("subject", models.CharField(max_length=255)),
                ("linked_by", models.CharField(choices=[("email", "Email"), ("joined", "Joined")], max_length=10)),
                ("at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identities",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("issuer", "subject"), name="an_identity_is_one_persons"),
                    models.CheckConstraint(
                        condition=models.Q(("linked_by__in", ["email", "joined"])), name="an_identity_has_a_reason"
                    ),
                ],
            },
        ),
    ]
