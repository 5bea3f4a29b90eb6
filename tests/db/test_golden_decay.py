"""The golden tables again, this time in PostgreSQL: Python and SQL may not drift apart (RULES.md 4 and 5)."""

import math
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.db import connection

from memories.rules import decay_sql, tiers, tiers_sql
from memories.rules.decay_sql import Columns
from memories.rules.evidence import below
from memories.rules.policy import DEFAULT, Policy
from tests.unit.golden import POLICIES, START, TOLERANCE, Point, points

TABLE = points()
GIVEN = ("kept", "last_access", "now", "memory_type", "recall_count", "outcome_count", "positive", "negative", "pinned")
TYPES = ("float8", "timestamptz", "timestamptz", "text", "int", "int", "int", "int", "bool")


def columns() -> Columns:
    return Columns(**{name: f"g.{name}" for name in GIVEN})


def asked(point: Point) -> tuple[Any, ...]:
    return tuple({"last_access": START}.get(name) or getattr(point, name) for name in GIVEN)


def computed(
    expressions: list[str], rows: list[tuple[Any, ...]], types: tuple[str, ...], names: tuple[str, ...]
) -> list:
    """Return what PostgreSQL makes of the expressions for each row, in order."""
    given = ", ".join(f"%s::{kind}[]" for kind in types)
    source = f"unnest({given}) WITH ORDINALITY AS g({', '.join(names)}, place)"
    sql = f"SELECT {', '.join(expressions)} FROM {source} ORDER BY place"
    with connection.cursor() as cursor:
        cursor.execute(sql, [list(column) for column in zip(*rows, strict=True)])
        return cursor.fetchall()


@pytest.mark.parametrize("name", POLICIES)
def test_freshness_in_sql_is_the_golden_table(db, name):
    mine = [point for point in TABLE if point.policy == name]
    policy = POLICIES[name]
    fresh = decay_sql.freshness_sql(columns(), policy)
    expressions = [decay_sql.earned_sql(columns(), policy), fresh, decay_sql.effective_sql("g.confidence", fresh)]
    rows = [(*asked(point), point.confidence) for point in mine]

    found = computed(expressions, rows, (*TYPES, "float8"), (*GIVEN, "confidence"))

    for point, (earned, freshness, effective) in zip(mine, found, strict=True):
        for got, wanted in ((earned, point.earned), (freshness, point.freshness), (effective, point.effective)):
            assert math.isclose(got, wanted, rel_tol=TOLERANCE, abs_tol=0), point
    assert len(mine) > 400


def test_half_life_in_sql_knows_every_type(db):
    seen = {(point.memory_type, point.policy) for point in TABLE}
    assert seen == set(product(("fact", "belief", "experience", "procedure"), POLICIES))


EDGES = [0.1, 0.1 - 4e-10, 0.1 - 6e-10, 0.1 + 4e-10, 0.3, 0.7 - 0.2 - 0.2, 0.5 - 1e-9, 0.29999999949, 0.0, 1.0]


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5])
def test_below_in_sql_rounds_as_python_does(db, threshold):
    rows = [(value,) for value in EDGES]
    found = computed([decay_sql.below_sql("g.value", threshold)], rows, ("float8",), ("value",))
    assert [told for (told,) in found] == [below(value, threshold) for value in EDGES]


AGES = [timedelta(0), timedelta(seconds=1), timedelta(hours=5), timedelta(days=30), timedelta(days=400)]
AGES += [timedelta(days=2_999), timedelta(days=36_525), timedelta(days=365_250), timedelta(hours=-3)]
RANKED = list(product((None, 0.0, 1e-120, 0.4, 1.0), (0.0, 0.37, 1.0), AGES, (0, 1, 7, 1_000_000)))


@pytest.mark.parametrize(
    "policy", [DEFAULT, Policy(importance_weight=0.25, recency_weight=3.0, age_rate=0.5)], ids=["default", "another"]
)
def test_priority_in_sql_is_that_of_python(db, policy):
    rows = [(score, effective, START, START + age, recalls) for score, effective, age, recalls in RANKED]
    names = ("importance", "effective", "written_at", "now", "recall_count")
    sql = tiers_sql.priority_sql(**{name: f"g.{name}" for name in names}, policy=policy)

    found = computed([sql], rows, ("float8", "float8", "timestamptz", "timestamptz", "int"), names)

    for row, (got,) in zip(rows, found, strict=True):
        wanted = tiers.priority(**dict(zip(names, row, strict=True)), policy=policy).value
        assert math.isclose(got, wanted, rel_tol=TOLERANCE, abs_tol=0), row


@pytest.mark.parametrize(
    "policy", [DEFAULT, Policy(hot_capacity=0, warm_capacity=3), Policy(hot_capacity=2, warm_capacity=0)]
)
def test_the_tier_of_a_rank_in_sql_is_that_of_python(db, policy):
    ranks = [1, 2, 3, 4, 49, 50, 51, 249, 250, 251, 10_000]
    found = computed([tiers_sql.tier_sql("g.rank", policy)], [(rank,) for rank in ranks], ("bigint",), ("rank",))
    assert [tier for (tier,) in found] == [tiers.tier_for_rank(rank, policy) for rank in ranks]
