"""The statements by which lines become rows again: new ids are noted beside the names that lines go by."""

from collections.abc import Sequence

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


def prepare() -> list[str]:
    """Return the statements that make room for notes, until the transaction ends."""
    made = [
        f"CREATE TEMPORARY TABLE {name} ({columns}) ON COMMIT DROP" for name, columns in zip(NAMES, NOTES, strict=True)
    ]
    dropped = [f"DROP TABLE IF EXISTS {name}" for name in NAMES]
    # Entries and claims name each other.
    deferred = ["SET CONSTRAINTS entry_names_a_claim_of_its_account_claim_id DEFERRED"]
    return [*dropped, *made, *(f"SET LOCAL {name} = off" for name in SETTINGS), *deferred]


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
    """Return the statement that inserts a batch; columns that the file does not know get their default."""
    plain = {name: f'r."{name}"' for name in table.columns}
    known = {name: value if name in present else f"%({name})s" for name, value in plain.items()}
    values = {"account_id": "%(account)s"} | {ref.column: ref.found for ref in table.refs} | known
    joins = [ref.arriving for ref in table.refs]
    if table.own is not None:
        values["id"] = table.own.found
        # A claim is found by its entry, an entry's claim by the entry.
        joins = [table.own.arriving, *joins] if table.kind == "entry" else [*joins, table.own.arriving]
    columns = ", ".join(f'"{name}"' for name in values)
    return (
        f"INSERT INTO {table.db_table} ({columns}) SELECT {', '.join(values.values())}"
        f" FROM {given(table.types)} {' '.join(joins)} ORDER BY r.nth"
    )


def update_account(present: Sequence[str]) -> str:
    types = {name: kind for name, kind in account_types().items() if name in present}
    sets = ", ".join(f'"{name}" = r."{name}"' for name in types)
    return f"UPDATE accounts_account a SET {sets} FROM {given(types)} WHERE a.id = %(account)s"


SUMS = (
    "entries, under_review, superseded, archived, untested, validated, contested, discredited, hot, warm, cold, facts,"
    " beliefs, experiences, procedures, outcome_linked, confidence_nanos"
)
FIGURES_SQL = f"""
    INSERT INTO memories_counterdelta (account_id, {", ".join(FIGURE_TYPES)}, {SUMS})
    SELECT %(account)s, {", ".join(f"r.{name}" for name in FIGURE_TYPES)}, {", ".join("0" for _ in SUMS.split(","))}
      FROM {given(FIGURE_TYPES)}
"""
# Two look-ups by key instead of a join: of tables that nobody analysed yet the planner knows nothing.
HEADS = """
    SELECT e.claim_id, e.id, e.entity_path, e.key FROM memories_entry e
     WHERE e.account_id = %(account)s AND e.id > %(after)s ORDER BY e.id LIMIT %(batch)s
"""
VALUES = f"""
    SELECT c.id, left(c.value, {wordings.CHARACTERS}) FROM memories_claim c
     WHERE c.account_id = %(account)s AND c.id = ANY(%(claims)s::bigint[])
"""
WORDS = """
    INSERT INTO memories_entrytext (account_id, entry_id, words, name)
    SELECT %(account)s, n.id, n.words::tsvector || setweight(to_tsvector('pg_catalog.english', n.stems), 'D'), n.name
      FROM unnest(%(ids)s::bigint[], %(words)s::text[], %(stems)s::text[], %(names)s::text[])
           AS n(id, words, stems, name)
"""
