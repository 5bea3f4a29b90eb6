"""Finds entries of one entity that say nearly the same, or the opposite: each new claim against its neighbours.

What a run looks at is bounded, and it begins where the one before came to: by when claims changed, and by entry among
those of one moment, as a commit gives many.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection

from memories.jobs.runs import Run
from memories.rules.folding import spoken
from memories.rules.likeness import CHARACTERS, Likeness, Said, compare
from memories.vectors import table
from senselab.accounts.models import Account

# Of a run: so many new claims, or about so many comparisons; then the place is kept that it came to.
CLAIMS, COMPARISONS = 1_000, 100_000
# So many claims at a time, each compared with those of its entity among them, and with so many of its newest.
TOGETHER, NEIGHBOURS = 50, 300
# A claim that a transaction wrote for so long is not missed.
OVERLAP = timedelta(minutes=2)
EARLIEST = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

NEW = """
    SELECT e.id, t.reworded_at, e.branch, e.entity_path, e.owner
      FROM memories_entrytext t JOIN memories_entry e ON e.account_id = t.account_id AND e.id = t.entry_id
     WHERE t.account_id = %(account)s AND (t.reworded_at, t.entry_id) > (%(after)s, %(after_id)s)
     ORDER BY t.reworded_at, t.entry_id LIMIT %(most)s
"""
# Files are no claims about anything.
PLACE = """
    SELECT e.id, e.claim_id, left(c.value, %(letters)s)
      FROM memories_entry e JOIN memories_claim c ON c.account_id = e.account_id AND c.id = e.claim_id
     WHERE e.account_id = %(account)s AND e.branch = %(branch)s AND e.entity_path = %(path)s AND e.owner = %(owner)s
       AND e.status = 'active' AND NOT c.is_artifact AND (e.ttl_at IS NULL OR e.ttl_at > %(now)s)
       AND (e.id = ANY(%(ids)s) OR e.id IN (
            SELECT n.id FROM memories_entry n WHERE n.account_id = %(account)s AND n.branch = %(branch)s
               AND n.entity_path = %(path)s AND n.owner = %(owner)s AND n.status = 'active'
             ORDER BY n.written_at DESC, n.id DESC LIMIT %(neighbours)s))
"""
# Cosines of new claims with their neighbours, of the model that has most to say.
NEAR = f"""
    SELECT x.entry_id, y.entry_id, 1 - (x.vector <=> y.vector)
      FROM {table.TABLE} x JOIN {table.TABLE} y ON y.account_id = x.account_id AND y.model = x.model
     WHERE x.account_id = %(account)s AND x.entry_id = ANY(%(new)s) AND y.entry_id = ANY(%(all)s)
       AND x.entry_id <> y.entry_id AND x.model NOT LIKE 'client-%%' AND x.vector <=> y.vector < 0.1
"""
STORE = """
    INSERT INTO memories_alikepair AS p
           (account_id, one_id, other_id, one_claim, other_claim, kind, score, why, found_at, dismissed_by)
    SELECT %(account)s, n.* , %(now)s, ''
      FROM unnest(%(ones)s::bigint[], %(others)s::bigint[], %(claims)s::bigint[], %(their_claims)s::bigint[],
                  %(kinds)s::text[], %(scores)s::float8[], %(whys)s::text[]) AS n
    ON CONFLICT (account_id, one_id, other_id) DO UPDATE
       SET one_claim = excluded.one_claim, other_claim = excluded.other_claim, kind = excluded.kind,
           score = excluded.score, why = excluded.why, found_at = excluded.found_at, dismissed_by = '',
           dismissed_at = NULL
     WHERE (p.one_claim, p.other_claim) IS DISTINCT FROM (excluded.one_claim, excluded.other_claim)
"""
# Of pairs whose claims stand no more nobody wants to know.
FORGET = """
    DELETE FROM memories_alikepair p
     WHERE p.account_id = %s AND (p.one_id = ANY(%s) OR p.other_id = ANY(%s)) AND NOT EXISTS (
           SELECT 1 FROM memories_entry a JOIN memories_entry b ON b.account_id = a.account_id
            WHERE a.account_id = %s AND a.id = p.one_id AND a.claim_id = p.one_claim
              AND b.id = p.other_id AND b.claim_id = p.other_claim)
"""


class Reached(NamedTuple):
    """Up to where claims were compared."""

    after: datetime
    after_id: int

    @property
    def terms(self) -> dict[str, Any]:
        return {"after": self.after.isoformat(), "after_id": self.after_id}


class Place(NamedTuple):
    """Where entries are that can be alike: one entity, as one agent or all see it."""

    branch: str
    path: str
    owner: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What an entry says now."""

    entry_id: int
    claim_id: int
    said: Said


@dataclass(frozen=True, slots=True)
class Pair:
    """Two claims that are alike, the entry of the smaller id first."""

    one: Claim
    other: Claim
    likeness: Likeness


def compare_new(account: Account, now: datetime, run: Run | None = None) -> int:
    """Compare what was written since the run before with what else its entity holds, and keep what is alike."""
    run = run or Run()
    start = reached(run.before)
    run.terms |= start.terms
    run.keep()
    found = _rows(NEW, {"account": account.pk, **start._asdict(), "most": CLAIMS})
    compared = done = 0
    while done < len(found) and compared < COMPARISONS:
        some = found[done : done + TOGETHER]
        compared += compare_some(account.pk, some, now, run)
        done += len(some)
    if done == len(found) < CLAIMS:
        run.terms |= max(start, Reached(now - OVERLAP, 0)).terms
    return run.changed


def reached(terms: dict[str, Any]) -> Reached:
    """Return up to where claims were compared, by the terms of a run."""
    return Reached(datetime.fromisoformat(terms["after"]) if terms.get("after") else EARLIEST, terms.get("after_id", 0))


def compare_some(account_id: int, found: Sequence[Sequence[Any]], now: datetime, run: Run) -> int:
    """Compare some new claims, keep what is alike and the place, and return how many comparisons that took."""
    places: dict[Place, list[int]] = {}
    for entry_id, _, *place in found:
        places.setdefault(Place(*place), []).append(entry_id)
    compared = changed = 0
    for where, ids in places.items():
        claims = claims_of(account_id, where, ids, now)
        changed += store(account_id, list(alike(account_id, claims, ids)), now)
        compared += len(ids) * len(claims)
    new = [row[0] for row in found]
    with connection.cursor() as cursor:
        cursor.execute(FORGET, [account_id, new, new, account_id])
    run.terms |= Reached(found[-1][1], found[-1][0]).terms
    run.keep()
    run.step(looked=len(found), changed=changed)
    return compared


def claims_of(account_id: int, place: Place, ids: Sequence[int], now: datetime) -> dict[int, Claim]:
    """Return what `ids` and the newest entries of a place say, by entry id."""
    values = {"account": account_id, **place._asdict(), "ids": list(ids), "now": now, "neighbours": NEIGHBOURS}
    rows = _rows(PLACE, {**values, "letters": 2 * CHARACTERS})
    return {row[0]: Claim(row[0], row[1], Said(spoken(row[2]))) for row in rows}


def alike(account_id: int, claims: dict[int, Claim], ids: Sequence[int]) -> Iterable[Pair]:
    """Yield the pairs of claims of which one at least is among `ids`."""
    new = [claims[entry_id] for entry_id in ids if entry_id in claims]
    near = cosines(account_id, [claim.entry_id for claim in new], list(claims))
    seen: set[tuple[int, int]] = set()
    for claim in new:
        for other in claims.values():
            one, two = sorted((claim, other), key=lambda side: side.entry_id)
            if one is two or (one.entry_id, two.entry_id) in seen:
                continue
            seen.add((one.entry_id, two.entry_id))
            likeness = compare(one.said, two.said, cosine=near.get((claim.entry_id, other.entry_id)))
            if likeness is not None:
                yield Pair(one, two, likeness)


def cosines(account_id: int, new: Sequence[int], everything: Sequence[int]) -> dict[tuple[int, int], float]:
    """Return how near vectors are, of those that are near at all; nothing without vectors."""
    if not new or not table.exists():
        return {}
    rows = _rows(NEAR, {"account": account_id, "new": list(new), "all": list(everything)})
    return {(one, other): cosine for one, other, cosine in rows}


def store(account_id: int, pairs: Sequence[Pair], now: datetime) -> int:
    """Keep pairs and return how many were new, or are alike by other claims than before."""
    if not pairs:
        return 0
    values: dict[str, Any] = {
        "account": account_id,
        "now": now,
        "ones": [pair.one.entry_id for pair in pairs],
        "others": [pair.other.entry_id for pair in pairs],
        "claims": [pair.one.claim_id for pair in pairs],
        "their_claims": [pair.other.claim_id for pair in pairs],
        "kinds": [pair.likeness.kind for pair in pairs],
        "scores": [pair.likeness.score for pair in pairs],
        "whys": [pair.likeness.why for pair in pairs],
    }
    with connection.cursor() as cursor:
        cursor.execute(STORE, values)
        return cursor.rowcount


def _rows(sql: str, values: dict[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
