"""What the primary key of the deltas says already needs no index beside it: three were written with each delta."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0018_deltas_of_writes")]

    operations = [RemoveIndexConcurrently("counterdelta", "deltas_to_fold")]
