"""Whether the counters, folded or not, are what counting the entries themselves gives."""

from collections.abc import Iterator

from django.db import connection

from memories.checking.verify import Finding

PLACE = "branch, entity_path, agent_id, owner"
LISTED = "e.status IN ('active', 'under_review')"
FIGURES = {
    "entries": LISTED,
    "under_review": "e.status = 'under_review'",
    "superseded": "e.status = 'superseded'",
    "archived": "e.status = 'archived'",
    "untested": f"{LISTED} AND e.evidence_status = 'untested'",
    "validated": f"{LISTED} AND e.evidence_status = 'validated'",
    "contested": f"{LISTED} AND e.evidence_status = 'contested'",
    "discredited": f"{LISTED} AND e.evidence_status = 'discredited'",
    "hot": f"{LISTED} AND e.tier = 1",
    "warm": f"{LISTED} AND e.tier = 2",
    "cold": f"{LISTED} AND e.tier = 3",
    "facts": f"{LISTED} AND e.memory_type = 'fact'",
    "beliefs": f"{LISTED} AND e.memory_type = 'belief'",
    "experiences": f"{LISTED} AND e.memory_type = 'experience'",
    "procedures": f"{LISTED} AND e.memory_type = 'procedure'",
    "outcome_linked": f"{LISTED} AND e.outcome_count > 0",
}
NAMES = (*FIGURES, "confidence_nanos")
COUNTED = ", ".join(f"count(*) FILTER (WHERE {condition}) AS {name}" for name, condition in FIGURES.items())
NANOS = f"sum(round(e.confidence * 1e9)::bigint) FILTER (WHERE {LISTED})::bigint AS confidence_nanos"
SOURCE = " UNION ALL ".join(
    f"SELECT {PLACE}, {', '.join(NAMES)} FROM memories_{table} WHERE account_id = %(account)s"
    for table in ("counter", "counterdelta")
)
DIFFERENT = f"""
    WITH kept AS (
        SELECT {PLACE}, {", ".join(f"sum({name})::bigint AS {name}" for name in NAMES)}
          FROM ({SOURCE}) s GROUP BY {PLACE}
    ),
    counted AS (
        SELECT {PLACE}, {COUNTED}, {NANOS} FROM memories_entry e WHERE e.account_id = %(account)s GROUP BY {PLACE}
    ),
    pairs AS (
        SELECT {PLACE}, f.* FROM kept k FULL JOIN counted c USING ({PLACE}), LATERAL (VALUES
            {", ".join(f"('{name}', coalesce(k.{name}, 0), coalesce(c.{name}, 0))" for name in NAMES)}
        ) f(name, kept, counted)
    )
    SELECT {PLACE}, name, kept, counted FROM pairs WHERE kept <> counted ORDER BY {PLACE}, name
"""


def findings(account_id: int) -> Iterator[tuple[str, Finding]]:
    """Yield (whose sums, what differs) of an account; one statement sees both sides as of one moment."""
    with connection.cursor() as cursor:
        cursor.execute(DIFFERENT, {"account": account_id})
        rows = cursor.fetchall()
    for branch, path, agent_id, owner, name, kept, counted in rows:
        place = f"{path}{'' if branch == 'main' else f' on {branch}'}{f', private to {owner}' if owner else ''}"
        words = f"the counter says {name.replace('_', ' ')} {kept}, the entries themselves {counted}"
        yield f"counters of {agent_id} under {place}", Finding(None, words)
