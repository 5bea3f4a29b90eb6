"""Readings by month, and the functions of the owner's by which months come and go: who writes rows owns no table."""

from django.db import migrations

from senselab.months import divide

ADD = """
CREATE OR REPLACE FUNCTION memories_add_partition(parent text, name text, bound text) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    said text;
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS)', name, parent);
    -- What the first partition holds once in itself, each holds once.
    FOR said IN SELECT regexp_replace(pg_get_indexdef(x.indexrelid), 'INDEX \\S+ ON \\S+', 'INDEX ON ' || quote_ident(name))
                  FROM pg_index x
                 WHERE x.indrelid = to_regclass(parent || '_before') AND x.indisunique AND NOT x.indisprimary LOOP
        EXECUTE said;
    END LOOP;
    -- Attached, not made in place: nobody is held up but who is at the partition of the rest.
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I %s', parent, name, bound);
END $$;
"""
# How long an account keeps what it says nothing about stands in memories.rules.policy as well; a test compares.
DIVIDED = """
CREATE OR REPLACE FUNCTION memories_divided() RETURNS TABLE (parent text, kept_since timestamptz)
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT d.name, (SELECT min(CASE k.days WHEN 0 THEN '-infinity' ELSE now() - k.days * interval '1 day' END)
                      FROM (SELECT coalesce((a.policy_values->>d.field)::int, 400) AS days FROM accounts_account a) k)
      FROM (VALUES ('memories_reading', 'keep_readings'), ('outcomes_event', 'keep_events'),
                   ('outcomes_trace', 'keep_traces')) AS d(name, field)
      JOIN pg_class c ON c.oid = to_regclass(d.name) AND c.relkind = 'p'
$$;
"""
MAKE = """
CREATE OR REPLACE FUNCTION memories_make_months() RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET timezone = 'UTC' SET lock_timeout = '500ms' AS $$
DECLARE
    parent text; first timestamp; name text;
BEGIN
    PERFORM pg_advisory_xact_lock(7123);
    FOR parent, first IN SELECT d.parent, date_trunc('month', now()) + n * interval '1 month'
                           FROM memories_divided() d, generate_series(0, 3) n LOOP
        name := parent || to_char(first, '_YYYY_MM');
        CONTINUE WHEN to_regclass(name) IS NOT NULL;
        BEGIN
            PERFORM memories_add_partition(
                parent, name, format('FOR VALUES FROM (%L) TO (%L)', first, first + interval '1 month'));
            RETURN NEXT name;
        EXCEPTION WHEN invalid_object_definition OR check_violation THEN
            -- It lies in the partition before the months, or began in the one of the rest: there it stays.
        END;
    END LOOP;
END $$;
"""
DROP = """
CREATE OR REPLACE FUNCTION memories_drop_months() RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET timezone = 'UTC' SET lock_timeout = '500ms' AS $$
DECLARE
    parent text; name text; emptied boolean; filled boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(7123);
    FOR parent, name, emptied IN
        SELECT p.parent, p.name, p.ends > p.kept_since
          FROM (SELECT d.parent, d.kept_since, c.relname::text AS name,
                       to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' AS ends
                  FROM memories_divided() d JOIN pg_inherits i ON i.inhparent = d.parent::regclass
                  JOIN pg_class c ON c.oid = i.inhrelid WHERE c.relname ~ '_[0-9]{4}_[0-9]{2}$') p
         WHERE p.ends <= now() ORDER BY 1, 2
    LOOP
        -- One that some account keeps goes only when there is nothing in it.
        IF emptied THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM %I)', name) INTO filled;
            CONTINUE WHEN filled;
        END IF;
        EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', parent);
        IF emptied THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM %I)', name) INTO filled;
            CONTINUE WHEN filled;
        END IF;
        EXECUTE format('DROP TABLE %I', name);
        RETURN NEXT name;
    END LOOP;
END $$;
"""


def readings(_apps, schema_editor):
    key = ("account_id", "month", "entry_id", "version", "agent_id", "session_id")
    divide(schema_editor, "memories_reading", "month", key, keyed=True)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0015_beside")]

    operations = [
        migrations.RunSQL(
            [
                one.replace("CREATE OR REPLACE FUNCTION", "CREATE OR REPLACE FUNCTION")
                for one in (ADD, DIVIDED, MAKE, DROP)
            ],
            migrations.RunSQL.noop,
        ),
        migrations.RunPython(readings, migrations.RunPython.noop),
        migrations.RunSQL("SELECT memories_make_months()", migrations.RunSQL.noop),
    ]
