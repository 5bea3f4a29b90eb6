"""The primary key carries the account, and an outcome once told stays as it was told."""

from django.db import migrations

WALLS = """
ALTER TABLE outcomes_outcome DROP CONSTRAINT outcomes_outcome_pkey, ADD PRIMARY KEY (account_id, id);
CREATE TRIGGER history_is_append_only BEFORE UPDATE OR DELETE ON outcomes_outcome
    FOR EACH ROW EXECUTE FUNCTION memories_refuse_change();
CREATE TRIGGER history_is_not_truncated BEFORE TRUNCATE ON outcomes_outcome
    FOR EACH STATEMENT EXECUTE FUNCTION memories_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("outcomes", "0001_initial"), ("memories", "0002_walls")]

    operations = [migrations.RunSQL(WALLS, migrations.RunSQL.noop)]
