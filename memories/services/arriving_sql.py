"""The statements by which lines become rows again: new ids are noted beside the names that lines go by."""

from collections.abc import Iterable, Sequence

from memories.rules import wordings
from memories.transfer.tables import FIGURE_TYPES, Table, account_types

# Plans made before there are rows must not read whole tables once there are many.
SETTINGS = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin")
NOTES = (
    'branch text COLLATE "C", entity_path text COLLATE "C", key text COLLATE "C", owner text COLLATE "C", id bigint,'
    " PRIMARY KEY (branch, entity_path, key, owner)",
    "entry_id bigint, number int, id bigint, PRIMARY KEY (entry_id, number)",
    "number int PRIMARY KEY, id bigint",
    "digest bytea PRIMARY KEY, id bigint",
)
NAMES = tuple(f"arriving_{name}" for name in ("entry", "claim", "changeset", "outcome"))


def notes_kept() -> list[str]:
    """Return the statements that make room for the names of what has come, beside the tables it waits in."""
    return [*(f"CREATE TABLE {name} ({columns})" for name, columns in zip(NAMES, NOTES, strict=True)), *BESIDE]


def room_for(table: Table, columns: Iterable[str]) -> list[str]:
    """Return the statements that make a table like another, of all whose columns only those stay that lines fill."""
    name = f"staged_{table.db_table}"
    dropped = [f'DROP COLUMN "{column}"' for column in columns if column not in columns_of(table)]
    added = "ADD COLUMN came bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    made = [f"CREATE TABLE {name} (LIKE {table.db_table})", f"ALTER TABLE {name} {', '.join([*dropped, added])}"]
    return [*made, *([f"CREATE UNIQUE INDEX ON {name} (id)"] if table.own is not None else [])]


def columns_of(table: Table) -> list[str]:
    """Return the columns of a table that are filled from lines, the account's apart."""
    own = ["id"] if table.own is not None and "id" not in table.columns else []
    return [*own, *(ref.column for ref in table.refs), *table.columns]


BESIDE = (
    "CREATE TABLE staged_figures (LIKE memories_counterdelta)",
    "ALTER TABLE staged_figures DROP COLUMN account_id, DROP COLUMN id",
    "CREATE TABLE staged_words (entry_id bigint PRIMARY KEY, words tsvector NOT NULL, name text NOT NULL)",
    "CREATE TABLE kept (source text, batches int, sha256 text, came text, account_line text, at timestamptz)",
)


def given(types: dict[str, str]) -> str:
    """Return the rows of a batch as a table `r`, numbered by `nth`."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
    names = ", ".join(f'"{name}"' for name in types)
    return f"ROWS FROM (json_to_recordset(%(lines)s::json) AS ({columns})) WITH ORDINALITY AS r({names}, nth)"


def notes(table: Table) -> list[str]:
    """Return the statements that give the rows of a batch their ids; none where nobody refers to them."""
    if table.own is None:
        return []
    rows = given(table.types)
    made = [f"{table.own.note.format(rows=rows)} ORDER BY r.nth"]
    if table.kind == "entry":
        # An entry is stored before its claims and names one of them: that one gets its id here.
        made.append(f"{CLAIM_OF_ENTRY} FROM {rows} {table.own.arriving} ORDER BY r.nth")
    return [f"{sql} ON CONFLICT DO NOTHING" if table.kind == "claim" else sql for sql in made]


CLAIM_OF_ENTRY = (
    "INSERT INTO arriving_claim (entry_id, number, id) SELECT e.id, r.claim, nextval('memories_claim_id_seq')"
)


def insert(table: Table, present: Sequence[str]) -> str:
    """Return the statement that stages a batch; columns that the file does not know get their default."""
    plain = {name: f'r."{name}"' for name in table.columns}
    known = {name: value if name in present else f"%({name})s" for name, value in plain.items()}
    values = {ref.column: ref.found for ref in table.refs} | known
    joins = [ref.arriving for ref in table.refs]
    if table.own is not None:
        values["id"] = table.own.found
        # A claim is found by its entry, an entry's claim by the entry.
        joins = [table.own.arriving, *joins] if table.kind == "entry" else [*joins, table.own.arriving]
    columns = ", ".join(f'"{name}"' for name in values)
    return (
        f"INSERT INTO staged_{table.db_table} ({columns}) SELECT {', '.join(values.values())}"
        f" FROM {given(table.types)} {' '.join(joins)} ORDER BY r.nth"
    )


def update_account(present: Sequence[str]) -> str:
    types = {name: kind for name, kind in account_types().items() if name in present}
    sets = ", ".join(f'"{name}" = r."{name}"' for name in types)
    return f"UPDATE accounts_account a SET {sets} FROM {given(types)} WHERE a.id = %(account)s"


def unload(table: Table) -> str:
    """Return the statement that moves all rows of a table to where they belong, in the order they came."""
    columns = ", ".join(f'"{column}"' for column in columns_of(table))
    return (
        f"INSERT INTO {table.db_table} (account_id, {columns}) SELECT %(account)s, {columns}"
        f" FROM staged_{table.db_table} ORDER BY came"
    )


SUMS = (
    "entries, under_review, superseded, archived, untested, validated, contested, discredited, hot, warm, cold, facts,"
    " beliefs, experiences, procedures, outcome_linked, confidence_nanos"
)
SUMMED = f"{', '.join(FIGURE_TYPES)}, {SUMS}"
FIGURES_SQL = f"""
    INSERT INTO staged_figures ({SUMMED})
    SELECT {", ".join(f"r.{name}" for name in FIGURE_TYPES)}, {", ".join("0" for _ in SUMS.split(","))}
      FROM {given(FIGURE_TYPES)}
"""
UNLOAD_FIGURES = f"""
    INSERT INTO memories_counterdelta (account_id, {SUMMED}) SELECT %(account)s, {SUMMED} FROM staged_figures
"""
# Two look-ups by key instead of a join: of tables that nobody analysed yet the planner knows nothing.
WORDED = "SELECT coalesce(max(entry_id), 0) FROM staged_words"
HEADS = """
    SELECT e.claim_id, e.id, e.entity_path, e.key FROM staged_memories_entry e
     WHERE e.id > %(after)s ORDER BY e.id LIMIT %(batch)s
"""
VALUES = f"""
    SELECT c.id, left(c.value, {wordings.CHARACTERS}) FROM staged_memories_claim c
     WHERE c.id = ANY(%(claims)s::bigint[])
"""
WORDS = """
    INSERT INTO staged_words (entry_id, words, name)
    SELECT n.id, n.words::tsvector || setweight(to_tsvector('pg_catalog.english', n.stems), 'D'), n.name
      FROM unnest(%(ids)s::bigint[], %(words)s::text[], %(stems)s::text[], %(names)s::text[])
           AS n(id, words, stems, name)
"""
UNLOAD_WORDS = """
    INSERT INTO memories_entrytext (account_id, entry_id, words, name)
    SELECT %(account)s, w.entry_id, w.words, w.name FROM staged_words w ORDER BY w.entry_id
"""
