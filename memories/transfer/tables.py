"""What of an account travels, table by table, by which names; and what stays, with the reason.

A row is named by what people and agents call it: an entry by branch, path, key and owner, a claim by the number of the
first version that says it, an outcome by its digest, a change set by its place in the order they were made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import AutoField, Field, Model

SCHEMA = 1
FORMAT = "senselab account"

# Tables of an account that do not travel. A test refuses a table that is neither here nor in TABLES.
STAYS = {
    "accounts_auditrecord": "The audit trail tells of one installation and is sealed there.",
    "accounts_invitation": "Invitations are secrets of one installation.",
    "accounts_apikey": "Keys are secrets of one installation; new ones are made where the account arrives.",
    "accounts_keptanswer": "Answers kept for repeats belong to a key, for a day.",
    "accounts_membership": "Who may look and decide is given anew by those who run the other installation.",
    "memories_bulkrun": "Work on its way; what it decided stands in its change set.",
    "memories_bulkitem": "Work on its way; what it decided stands in its change set.",
    "memories_counter": "Counted anew from the entries; recalls and tokens travel as figures.",
    "memories_counterdelta": "Counted anew from the entries; recalls and tokens travel as figures.",
    "memories_folding": "Counted anew from the entries.",
    "memories_entrytext": "Made anew from names and value.",
    "memories_uploadpart": "A file on its way in.",
    "memories_jobrun": "What the jobs of one installation did, and when.",
    "memories_alikepair": "Found anew from what entries say; whoever dismissed a pair dismisses it once more there.",
    "socialaccount_socialtoken": "Of somebody's account at a provider of sign-in, which is none of ours.",
    "memories_entryvector": "Made anew from the values, by the model that is installed where they arrive.",
}


@dataclass(frozen=True, slots=True)
class Ref:
    """A column that names a row of another table: how a line says it, and the joins that lead there and back."""

    column: str
    type: str
    said: str
    leaving: str
    arriving: str
    found: str

    @property
    def name(self) -> str:
        return self.column.removesuffix("_id")


def by_entry(row: str) -> str:
    """Return the join that finds an entry that arrived by the names in a line."""
    return (
        f"LEFT JOIN arriving_entry e ON e.branch = {row}->>0 AND e.entity_path = {row}->>1 AND e.key = {row}->>2"
        f" AND e.owner = {row}->>3"
    )


ENTRY = Ref(
    "entry_id",
    "json",
    "json_build_array(e.branch, e.entity_path, e.key, e.owner)",
    "LEFT JOIN memories_entry e ON e.account_id = t.account_id AND e.id = t.entry_id",
    by_entry("r.entry"),
    "e.id",
)
CLAIM = Ref(
    "claim_id",
    "int",
    "f.number",
    "LEFT JOIN firsts f ON f.claim_id = t.claim_id",
    "LEFT JOIN arriving_claim k ON k.entry_id = e.id AND k.number = r.claim",
    "k.id",
)
CHANGE_SET = Ref(
    "change_set_id",
    "int",
    "s.number",
    "LEFT JOIN sets s ON s.id = t.change_set_id",
    "LEFT JOIN arriving_changeset s ON s.number = r.change_set",
    "s.id",
)
UNDOES = Ref(
    "undoes_id",
    "int",
    "u.number",
    "LEFT JOIN sets u ON u.id = t.undoes_id",
    "LEFT JOIN arriving_changeset u ON u.number = r.undoes",
    "u.id",
)
OUTCOME = Ref(
    "outcome_id",
    "text",
    "encode(o.digest, 'hex')",
    "LEFT JOIN outcomes_outcome o ON o.account_id = t.account_id AND o.id = t.outcome_id",
    "LEFT JOIN arriving_outcome o ON o.digest = decode(r.outcome, 'hex')",
    "o.id",
)

# What names a row itself where others refer to it: a number on its line, and how the new id is noted and found again.
SETS = (
    "sets AS (SELECT id, row_number() OVER (ORDER BY id) AS number FROM memories_changeset"
    " WHERE account_id = %(account)s)"
)
FIRSTS = (
    "firsts AS (SELECT claim_id, min(number) AS number FROM memories_entryversion"
    " WHERE account_id = %(account)s GROUP BY claim_id)"
)


@dataclass(frozen=True, slots=True)
class Own:
    """How rows that others refer to get their new ids: the table that notes them, before they are inserted."""

    note: str
    arriving: str
    found: str
    # Where the table's own columns do not name the row: its number, and the join that gives it on leaving.
    said: str = ""
    leaving: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that travels: the word on its lines, its model, what it refers to, in which order its rows go."""

    kind: str
    label: str
    order: str
    refs: tuple[Ref, ...] = ()
    own: Own | None = None

    @property
    def model(self) -> type[Model]:
        return apps.get_model(self.label)

    @property
    def db_table(self) -> str:
        return self.model._meta.db_table

    @property
    def columns(self) -> dict[str, Field[Any, Any]]:
        """Return the columns a line holds as they are, by name; a column that is added later travels by itself."""
        referring = {"account_id", *(ref.column for ref in self.refs)}
        if self.label == "memories.Entry":
            referring |= {"claim_id"}
        fields = self.model._meta.local_concrete_fields
        named = {str(field.column): field for field in fields if field.column and not isinstance(field, AutoField)}
        return {column: field for column, field in named.items() if column not in referring}

    @property
    def types(self) -> dict[str, str]:
        """Return what a line holds, by name, with its type in the database, in the order of the line."""
        numbered = {"number": "int"} if self.own is not None and self.own.said else {}
        named = {ref.name: ref.type for ref in self.refs}
        plain = {name: str(field.db_type(connection)) for name, field in self.columns.items()}
        return {**named, **numbered, **plain}


OWN_SET = Own(
    "INSERT INTO arriving_changeset (number, id) SELECT r.number, nextval('memories_changeset_id_seq') FROM {rows}",
    "LEFT JOIN arriving_changeset i ON i.number = r.number",
    "i.id",
    said="i.number",
    leaving="JOIN sets i ON i.id = t.id",
)
OWN_OUTCOME = Own(
    "INSERT INTO arriving_outcome (digest, id) SELECT r.digest, nextval('outcomes_outcome_id_seq') FROM {rows}",
    "LEFT JOIN arriving_outcome i ON i.digest = r.digest",
    "i.id",
)
OWN_ENTRY = Own(
    "INSERT INTO arriving_entry (branch, entity_path, key, owner, id)"
    " SELECT r.branch, r.entity_path, r.key, r.owner, nextval('memories_entry_id_seq') FROM {rows}",
    "LEFT JOIN arriving_entry e ON e.branch = r.branch AND e.entity_path = r.entity_path AND e.key = r.key"
    " AND e.owner = r.owner",
    "e.id",
)
OWN_CLAIM = Own(
    "INSERT INTO arriving_claim (entry_id, number, id)"
    " SELECT e.id, r.number, nextval('memories_claim_id_seq') FROM {rows} " + by_entry("r.entry") + " WHERE e.id > 0",
    "LEFT JOIN arriving_claim i ON i.entry_id = e.id AND i.number = r.number",
    "i.id",
    said="i.number",
    leaving="LEFT JOIN firsts i ON i.claim_id = t.id",
)
BY_ENTRY = "e.branch, e.entity_path, e.key, e.owner"

# In the order in which they arrive: what is referred to comes before what refers to it.
TABLES = (
    Table("agent", "accounts.Agent", 't.agent_id COLLATE "C"'),
    Table("policy", "memories.PolicyVersion", "t.number"),
    Table("change set", "memories.ChangeSet", "t.id", (UNDOES,), OWN_SET),
    Table("commit", "memories.Commit", "t.change_set_id, t.id", (CHANGE_SET,)),
    Table("outcome", "outcomes.Outcome", "t.id", (), OWN_OUTCOME),
    Table("entry", "memories.Entry", "t.branch, t.entity_path, t.key, t.owner", (CLAIM,), OWN_ENTRY),
    Table("claim", "memories.Claim", f"{BY_ENTRY}, i.number", (ENTRY,), OWN_CLAIM),
    Table("version", "memories.EntryVersion", f"{BY_ENTRY}, t.number", (ENTRY, CLAIM, CHANGE_SET)),
    Table("effect", "memories.Effect", f"{BY_ENTRY}, t.id", (ENTRY, OUTCOME)),
    Table("recall", "memories.Recall", BY_ENTRY, (ENTRY,)),
    Table(
        "reading",
        "memories.Reading",
        f"{BY_ENTRY}, t.month, t.version, t.agent_id, t.session_id",
        (ENTRY,),
    ),
    Table("evidence", "memories.Evidence", f"{BY_ENTRY}, t.id", (ENTRY, CHANGE_SET)),
    Table("mark", "memories.ReviewMark", BY_ENTRY, (ENTRY,)),
    Table("mark before", "memories.ReviewTrace", f"{BY_ENTRY}, t.change_set_id", (ENTRY, CHANGE_SET)),
    Table("comment", "memories.Comment", f"{BY_ENTRY}, t.id", (ENTRY, CHANGE_SET)),
    Table("move", "memories.TierMove", f"{BY_ENTRY}, t.id", (ENTRY,)),
    Table("tier day", "memories.TierDay", "t.branch, t.day"),
    Table("task", "outcomes.TaskText", "t.outcome_id, t.entity_path", (OUTCOME,)),
    Table("trace", "outcomes.Trace", "t.created_at, t.id", (OUTCOME,)),
    Table("event", "outcomes.Event", "t.id"),
    Table("edge", "outcomes.Edge", "t.id"),
)
BY_KIND: Mapping[str, Table] = {table.kind: table for table in TABLES}
FIGURES = "figures"
FIGURE_TYPES = {
    "branch": "text",
    "entity_path": "text",
    "agent_id": "text",
    "owner": "text",
    "recalls": "bigint",
    "tokens_saved": "bigint",
}
ACCOUNT = "account"
# Of the account itself its name stays: it is another one's account where it arrives.
ACCOUNT_STAYS = frozenset({"id", "slug", "name", "created_at"})


def account_types() -> dict[str, str]:
    fields = apps.get_model("accounts.Account")._meta.local_concrete_fields
    return {str(field.column): str(field.db_type(connection)) for field in fields if field.column not in ACCOUNT_STAYS}


def all_types() -> dict[str, dict[str, str]]:
    """Return what the lines of each kind hold, in the order of the file."""
    told = {table.kind: table.types for table in TABLES}
    return {ACCOUNT: account_types(), **told, FIGURES: FIGURE_TYPES}


def owned() -> list[str]:
    """Return every table whose rows belong to an account, those that Django does not know included; no partitions."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'account_id'"
            " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')"
            " AND NOT c.relispartition ORDER BY 1"
        )
        return [name for (name,) in cursor.fetchall()]
