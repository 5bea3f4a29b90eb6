"""When claims changed, for jobs that follow."""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("memories", "0008_words")]

    operations = [
        migrations.AddField("entrytext", "reworded_at", models.DateTimeField(db_default=Now())),
    ]
