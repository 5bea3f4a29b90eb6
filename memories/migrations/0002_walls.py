"""What Django cannot say: keys that carry the account, a history that cannot be changed, sums that cannot be wrong."""

from django.db import migrations

# Tables of rows of their own, and tables of one row for each entry.
NUMBERED = ["entry", "claim", "changeset", "entryversion", "effect", "counter", "counterdelta"]
BESIDE_ENTRY = ["entrytext", "recall"]

LINKS = [
    ("claim", "entry_id", "entry"),
    ("entry", "claim_id", "claim"),
    ("entrytext", "entry_id", "entry"),
    ("entryversion", "entry_id", "entry"),
    ("entryversion", "claim_id", "claim"),
    ("entryversion", "change_set_id", "changeset"),
    ("effect", "entry_id", "entry"),
    ("changeset", "undoes_id", "changeset"),
]


def keys() -> str:
    statements = []
    for table, column in [*((t, "id") for t in NUMBERED), *((t, "entry_id") for t in BESIDE_ENTRY)]:
        name = f"memories_{table}"
        statements.append(f"ALTER TABLE {name} DROP CONSTRAINT {name}_pkey, ADD PRIMARY KEY (account_id, {column});")
    for table, column, target in LINKS:
        # Deferrable, so that an account can be dropped whole although entries and claims point at each other.
        statements.append(
            f"ALTER TABLE memories_{table} ADD CONSTRAINT {table}_names_a_{target}_of_its_account_{column}"
            f" FOREIGN KEY (account_id, {column}) REFERENCES memories_{target} (account_id, id)"
            " DEFERRABLE INITIALLY IMMEDIATE;"
        )
    return "\n".join(statements)


APPEND_ONLY = """
CREATE FUNCTION memories_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Dropping a whole account is the one thing that takes history along; it says so for its own transaction.
    IF TG_OP = 'DELETE' THEN
        IF current_setting('senselab.dropping_account', true) = OLD.account_id::text THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'history is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'check_violation';
END $$;
""" + "\n".join(
    f"""
CREATE TRIGGER history_is_append_only BEFORE UPDATE OR DELETE ON memories_{table}
    FOR EACH ROW EXECUTE FUNCTION memories_refuse_change();
CREATE TRIGGER history_is_not_truncated BEFORE TRUNCATE ON memories_{table}
    FOR EACH STATEMENT EXECUTE FUNCTION memories_refuse_change();"""
    for table in ("entryversion", "effect")
)

LISTED = "r.status IN ('active', 'under_review')"
FIGURES = {
    "entries": LISTED,
    "under_review": "r.status = 'under_review'",
    "superseded": "r.status = 'superseded'",
    "archived": "r.status = 'archived'",
    **{
        word: f"{LISTED} AND r.evidence_status = '{word}'"
        for word in ("untested", "validated", "contested", "discredited")
    },
    "hot": f"{LISTED} AND r.tier = 1",
    "warm": f"{LISTED} AND r.tier = 2",
    "cold": f"{LISTED} AND r.tier = 3",
    "facts": f"{LISTED} AND r.memory_type = 'fact'",
    "beliefs": f"{LISTED} AND r.memory_type = 'belief'",
    "experiences": f"{LISTED} AND r.memory_type = 'experience'",
    "procedures": f"{LISTED} AND r.memory_type = 'procedure'",
    "outcome_linked": f"{LISTED} AND r.outcome_count > 0",
}
OLD, NEW = "SELECT -1 AS sign, o.* FROM old_rows o", "SELECT 1 AS sign, n.* FROM new_rows n"


def counting(event: str, rows: str, tables: str) -> str:
    sums = [f"coalesce(sum(r.sign) FILTER (WHERE {condition}), 0)" for condition in FIGURES.values()]
    sums.append(f"coalesce(sum(r.sign * round(r.confidence * 1e9)::bigint) FILTER (WHERE {LISTED}), 0)")
    names = [*FIGURES, "confidence_nanos"]
    totals = [f"{total} AS {name}" for name, total in zip(names, sums, strict=True)]
    changed = " OR ".join(f"{name} <> 0" for name in names)
    where = "account_id, branch, entity_path, agent_id, owner"
    return f"""
CREATE FUNCTION memories_count_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memories_counterdelta ({where}, {", ".join(names)}, recalls, tokens_saved)
    SELECT s.*, 0, 0 FROM (
        SELECT {where}, {", ".join(totals)} FROM ({rows}) r GROUP BY {where}
    ) s WHERE {changed};
    RETURN NULL;
END $$;
CREATE TRIGGER entries_are_counted_on_{event} AFTER {event} ON memories_entry
    REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION memories_count_{event}();
"""


COUNTERS = "\n".join(
    [
        counting("insert", NEW, "NEW TABLE AS new_rows"),
        counting("update", f"{OLD} UNION ALL {NEW}", "OLD TABLE AS old_rows NEW TABLE AS new_rows"),
        counting("delete", OLD, "OLD TABLE AS old_rows"),
    ]
)

STORAGE = """
ALTER TABLE memories_entry SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE memories_recall SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE memories_counterdelta SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial")]

    operations = [
        migrations.RunSQL(keys(), migrations.RunSQL.noop),
        migrations.RunSQL(APPEND_ONLY, migrations.RunSQL.noop),
        migrations.RunSQL(COUNTERS, migrations.RunSQL.noop),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
    ]
