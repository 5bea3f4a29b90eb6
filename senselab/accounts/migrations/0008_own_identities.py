from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_identities")]

    operations = [
        migrations.AlterField(
            model_name="identity",
            name="linked_by",
            field=models.CharField(
                choices=[("email", "Email"), ("joined", "Joined"), ("person", "Person")], max_length=10
            ),
        ),
        migrations.RemoveConstraint(model_name="identity", name="an_identity_has_a_reason"),
        migrations.AddConstraint(
            model_name="identity",
            constraint=models.CheckConstraint(
                condition=models.Q(("linked_by__in", ["email", "joined", "person"])), name="an_identity_has_a_reason"
            ),
        ),
    ]
