"""Globs of keys: Python and PostgreSQL say the same of every path, and a key without globs pays nothing."""

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories.rules.policy import DEFAULT
from memories.viewers import Viewer
from senselab.accounts import globs
from senselab.accounts.globs import Glob, reach
from senselab.errors import Invalid

PATHS = (
    "shop", "shop/", "shop/checkout", "shop/checkout/retries", "shop/payments", "shopping", "shop0", "a", "", "shop.x",
    "shop/ü", "shop/a+b", "SHOP/checkout", "shop//checkout", "x/shop/checkout", "shop/check.out", "shop/checkout\\",
)  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "reached"),
    [
        ("*", set(PATHS)),
        ("**", set(PATHS)),
        ("shop", {"shop"}),
        ("shop/**", {path for path in PATHS if path.startswith("shop/")}),
        ("shop/*", {path for path in PATHS if path.startswith("shop/") and path.count("/") == 1}),
        ("shop?", {"shop0"}),
        ("*/checkout", {"shop/checkout", "SHOP/checkout"}),
        ("**/checkout", {"shop/checkout", "SHOP/checkout", "shop//checkout", "x/shop/checkout"}),
        ("shop/check.out", {"shop/check.out"}),
        ("shop/a+b", {"shop/a+b"}),
        ("?", {"a"}),
        ("shop/checkout\\", {"shop/checkout\\"}),
        ("shop/[a-z]*", set()),
        ("(shop|a)", set()),
    ],
)
def test_a_glob_reaches_these_paths_and_no_others(pattern, reached):
    found = reach([Glob(pattern)], "read")
    assert {path for path in PATHS if found is None or found.holds(path)} == reached


def test_permissions_are_kept_apart():
    asked = [Glob("a", "read"), Glob("b", "write"), Glob("c")]
    reading, writing = reach(asked, "read"), reach(asked, "write")
    assert [[path for path in "abc" if one.holds(path)] for one in (reading, writing)] == [["a", "c"], ["b", "c"]]


def test_a_key_that_may_only_write_reads_nothing():
    found = reach([Glob("a", "write")], "read")
    assert not found.holds("a")
    assert found.sql("e.entity_path", "r") == "FALSE"


@pytest.mark.parametrize(
    "given",
    [
        [Glob("", "read")],
        [Glob("a\n", "read")],
        [Glob("a", "admin")],
        [{"pattern": "a", "permission": "all"}],
        [{"permission": "read"}],
        [Glob("x" * 1025, "read")],
        [Glob("a")] * 51,
        [Glob("\ud800")],
    ],
)
def test_what_is_no_glob_is_refused(given):
    with pytest.raises(Invalid):
        globs.clean(given)


LETTERS = st.text(st.sampled_from("ab/*?.+[]()\\^$|{}-é\U0001f600%_&~#"), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patterns=st.lists(LETTERS, min_size=1, max_size=4), paths=st.lists(LETTERS, min_size=1, max_size=8))
def test_postgresql_and_python_agree_on_every_path(db, patterns, paths):
    found = reach([Glob(pattern) for pattern in patterns], "read")
    if found is None:
        return
    asked = [*paths, *(pattern.replace("*", "a").replace("?", "b") for pattern in patterns)]
    sql = f"SELECT t.p FROM unnest(%(paths)s::text[]) AS t(p) WHERE {found.sql('t.p', 'r')}"
    with connection.cursor() as cursor:
        cursor.execute(sql, {**found.values("r"), "paths": asked})
        told = {path for (path,) in cursor.fetchall()}
    assert told == {path for path in asked if found.holds(path)}


def test_a_viewer_without_globs_asks_what_it_always_asked():
    plain = Viewer(1, DEFAULT, "agent/ada")
    assert plain.visible() == "e.account_id = %(account)s AND e.owner = ANY(%(owners)s)"
    assert plain.parameters == {"account": 1, "owners": ["", "agent/ada"], "agent": "agent/ada"}


def test_what_sql_shows_and_what_python_lets_through_are_the_same_words():
    narrow = Viewer(1, DEFAULT, "", reaches=(reach([Glob("shop/**")], "read"),))
    assert narrow.sees("", "shop/checkout")
    assert not narrow.sees("", "shop")
    assert not narrow.sees("agent/ada", "shop/checkout")
    assert "starts_with(e.entity_path, %(reach_0_below_0)s)" in narrow.visible()
