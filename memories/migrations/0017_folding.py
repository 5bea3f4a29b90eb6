"""A mark that says whether the folded sums of an account are still those somebody kept."""

import django.db.models.deletion
from django.db import migrations, models

MOVED = """
CREATE FUNCTION memories_sums_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memories_folding (account_id, mark)
    SELECT m.account_id, gen_random_uuid() FROM (SELECT DISTINCT account_id FROM moved ORDER BY account_id) m
    ON CONFLICT (account_id) DO UPDATE SET mark = excluded.mark;
    RETURN NULL;
END $$;
CREATE TRIGGER sums_that_come_are_marked AFTER INSERT ON memories_counter
    REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION memories_sums_moved();
CREATE TRIGGER sums_that_change_are_marked AFTER UPDATE ON memories_counter
    REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION memories_sums_moved();
CREATE TRIGGER sums_that_go_are_marked AFTER DELETE ON memories_counter
    REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION memories_sums_moved();
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_identities"), ("memories", "0016_months")]

    operations = [
        migrations.CreateModel(
            name="Folding",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="accounts.account",
                    ),
                ),
                ("mark", models.UUIDField()),
            ],
        ),
        migrations.RunSQL(MOVED, migrations.RunSQL.noop),
    ]
