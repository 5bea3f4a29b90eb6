"""Events and traces by month; that a trace is told once is held within a month by the database, beyond it by who writes."""

from django.db import migrations

from senselab.months import divide

KEY = ("account_id", "id", "created_at")


def reports(_apps, schema_editor):
    divide(schema_editor, "outcomes_event", "created_at", KEY, counted=True)
    divide(schema_editor, "outcomes_trace", "created_at", KEY)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0016_months"), ("outcomes", "0006_beside")]

    operations = [
        migrations.RunPython(reports, migrations.RunPython.noop),
        migrations.RunSQL("SELECT memories_make_months()", migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            [], [migrations.RemoveConstraint("trace", "an_outcome_is_traced_once_in_a_session")]
        ),
    ]
