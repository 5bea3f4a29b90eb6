"""Invitations, sign-ins, and what ends every session of a person."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_audit"),
    ]

    operations = [
        migrations.AddField(
            model_name="person",
            name="session_salt",
            field=models.CharField(blank=True, db_default="", default="", max_length=32),
        ),
        migrations.CreateModel(
            name="SignIn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session_key", models.CharField(max_length=40, unique=True)),
                ("at", models.DateTimeField()),
                ("address", models.GenericIPAddressField(null=True)),
                ("browser", models.CharField(default="", max_length=200)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sign_ins",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_sha256", models.BinaryField(max_length=32)),
                (
                    "role",
                    models.CharField(
                        choices=[("viewer", "Viewer"), ("reviewer", "Reviewer"), ("admin", "Admin")], max_length=10
                    ),
                ),
                ("note", models.CharField(blank=True, default="", max_length=200)),
                ("made_by", models.CharField(max_length=150)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("accepted_by", models.CharField(blank=True, default="", max_length=150)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="accounts.account"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("token_sha256",), name="an_invitation_is_found_by_its_token"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["viewer", "reviewer", "admin"])),
                        name="an_invitation_gives_a_role",
                    ),
                ],
            },
        ),
    ]
