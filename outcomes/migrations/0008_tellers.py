"""Who told an edge: what an agent says of its own private entries is for itself, and nobody else's word tells of them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("outcomes", "0007_months")]

    operations = [
        migrations.AddField("edge", "agent_id", models.TextField(null=True, db_collation="C")),
    ]
