"""What is made of the outcomes there are, and an index over them, while others write; begun again when interrupted."""

from django.db import migrations, models, transaction

from outcomes.rules import tasks
from senselab.upgrading import IndexBeside

TOLD = """
    SELECT o.id, o.branch, o.committed_at, o.task_input, o.situation, o.entity_paths, o.causal_entry_keys || ARRAY(
               SELECT jsonb_array_elements_text(a->'causal_entry_keys') FROM jsonb_array_elements(o.attempts) AS a)
      FROM outcomes_outcome o WHERE o.account_id = %s AND o.id > %s AND NOT o.replayed ORDER BY o.id LIMIT 1000
"""
KEEP = """
    INSERT INTO outcomes_tasktext (account_id, outcome_id, entity_path, branch, at, terms)
    VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""


def describe(_apps, schema_editor):
    """Describe every task that was told before there was a table for that."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM accounts_account ORDER BY id")
        accounts = cursor.fetchall()
    for (account,) in accounts:
        last = 0
        while last is not None:
            with transaction.atomic(connection.alias), connection.cursor() as cursor:
                last = _describe(cursor, account, last)


def _describe(cursor, account, last):
    """Describe some tasks of an account and return the last one, None when there are no more."""
    cursor.execute(TOLD, [account, last])
    found = cursor.fetchall()
    for outcome, branch, at, task, situation, paths, keys in found:
        terms = tasks.terms_of(task, situation)
        rows = [(account, outcome, path, branch, at, terms) for path in tasks.paths_of(paths, keys)]
        cursor.executemany(KEEP, rows)
    return found[-1][0] if found else None


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("accounts", "0001_initial"), ("outcomes", "0005_erasing")]

    operations = [
        migrations.RunPython(describe, migrations.RunPython.noop),
        IndexBeside(
            model_name="outcome",
            index=models.Index(
                models.F("account"),
                models.F("agent_id"),
                models.OrderBy(models.F("committed_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="outcomes_by_agent",
            ),
        ),
    ]
