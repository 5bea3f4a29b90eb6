"""An index over what writes added to the sums, beside the many more rows that reads add."""

from django.db import migrations, models

from senselab.upgrading import IndexBeside


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0017_folding")]

    operations = [
        IndexBeside(
            "counterdelta",
            models.Index("account", "id", condition=models.Q(("recalls", 0)), name="deltas_of_writes"),
        ),
    ]
