"""Two versions of an entry beside each other."""

import re

import pytest

from tests.db import acts
from tests.ui import story


def test_the_value_is_compared_by_path(look, spoiled):
    page = look("compare/", **{"from": 4, "to": 7})
    rows = page.rows("fields-h")
    assert rows[0] == "Kind Path v4 v7"
    assert [re.sub(r"^\W+ ", "", row) for row in rows[2:]] == ["max 3 6", "on / 0 not there 409"]
    assert "What changed from v4 to v7" in page.text
    assert "3 differences in the value" in page.text


def test_inside_strings_it_is_word_by_word(look, spoiled):
    markup = look("compare/", **{"from": 4, "to": 7}).section("fields-h")
    old, new = re.findall(r'<td class="mono val-cell">(.*?)</td>', markup)[:2]
    assert old.startswith("&quot;Retry <del>idempotent calls</del>, ")
    assert "<del>at most 3</del> times with <del>full jitter</del>." in old
    assert new.startswith("&quot;Retry <ins>every call</ins>, ")
    assert "<ins>up to 6</ins> times with <ins>a fixed pause</ins>." in new


def test_lines_stand_beside_each_other(look, spoiled):
    markup = look("compare/", **{"from": 4, "to": 7}).section("lines-h")
    rows = re.findall(r"<tr.*?</tr>", markup, re.S)
    assert sum('class="d"' in row for row in rows) == 3
    assert "<del>502" not in markup
    assert '"on&quot;: [<ins>409, </ins>502' in markup.replace("&quot;on", '"on')


def test_what_is_the_same_is_folded(look, account):
    value = {f"field {n:02}": n for n in range(40)}
    acts.put(account, value)
    acts.put(account, value | {"field 20": "changed"})
    markup = look("compare/").section("lines-h")
    assert [int(count) for count in re.findall(r"(\d+) unchanged lines</summary>", markup)] == [18, 17]
    shown = re.sub(r"<details.*?</details>", "", markup, flags=re.S)
    assert len(re.findall("<tr", shown)) == 7


def test_what_else_differs_is_told(look, spoiled):
    rows = look("compare/", **{"from": 4, "to": 7}).rows("others-h")
    told = {row.split(" ", 1)[1] for row in rows[1:]}
    assert "Evidence status Validated Discredited" in told
    assert "Author agent/ada agent/bob" in told
    assert any(row.startswith("Confidence 0.") for row in told)


def test_references_and_type_count_as_differences(look, account):
    acts.put(account, 1, memory_type="fact", pattern_refs=("a/b",))
    acts.put(account, 1, memory_type="belief", pattern_refs=("a/b", "c/d"))
    page = look("compare/")
    assert "the same value" in page.text
    assert any("References a/b a/b, c/d" in row for row in page.rows("others-h"))
    assert any("Memory type Fact Belief" in row for row in page.rows("others-h"))


def test_the_order_of_keys_and_the_spelling_of_numbers_do_not_count(look, account):
    acts.put(account, {"a": 1, "b": [2.50]})
    acts.put(account, {"b": [2.5], "a": 1.0})
    page = look("compare/")
    assert "v1 and v2 are the same" in page.text
    assert "fields-h" not in page.html
    assert "lines-h" not in page.html


def test_without_numbers_it_compares_the_last_two(look, spoiled):
    assert "What changed from v6 to v7" in look("compare/").text


def test_any_two_versions_in_either_direction(look, spoiled):
    page = look("compare/", **{"from": 7, "to": 1})
    assert any("max 6 3" in row for row in page.rows("fields-h"))


@pytest.mark.parametrize("query", [{"from": 8}, {"to": 99}, {"from": 0}, {"from": "x"}, {"to": "9" * 30}])
def test_a_version_that_is_not_there_is_not_found(look, spoiled, query):
    assert look("compare/", **query).status == 404


def test_one_version_is_the_same_as_itself(look, account):
    acts.put(account, 1)
    page = look("compare/")
    assert page.status == 200
    assert "v1 and v1 are the same" in page.text


def test_versions_are_chosen_from_a_list_or_by_number_when_they_are_many(look, account):
    acts.put(account, 0)
    assert '<select name="from"' in look("compare/").html
    for number in range(1, 62):
        acts.put(account, number)
    markup = look("compare/", **{"from": 3, "to": 61}).html
    assert "<select" not in markup
    assert 'name="from" min="1" max="62" value="3"' in markup


def test_text_is_woven_and_its_unchanged_parts_folded(look, account):
    acts.put(account, "Begin. " + "same words " * 200 + "then stop.\nBye")
    acts.put(account, "Begin. " + "same words " * 200 + "then go on.\nBye")
    page = look("compare/")
    assert "<del>stop</del><ins>go on</ins>." in page.section("words-h")
    assert "characters unchanged" in page.said("words-h")
    assert "fields-h" not in page.html


def test_a_text_that_becomes_an_object_is_told_as_the_whole(look, account):
    acts.put(account, "three times")
    acts.put(account, {"times": 3})
    assert any("the whole value" in row for row in look("compare/").rows("fields-h"))


def test_of_a_megabyte_only_what_differs_is_shown(look, account):
    line = "word " * 200_000
    acts.put(account, line)
    acts.put(account, line[:500_000] + "CHANGED " + line[500_000:])
    items = [{"id": number, "on": True} for number in range(30_000)]
    acts.put(account, items)
    acts.put(account, [*items[:15_000], {"id": -1}, *items[15_000:]])
    text, array = look("compare/", **{"from": 1, "to": 2}), look("compare/", **{"from": 3, "to": 4})
    assert "<ins>CHANGED </ins>" in text.html
    assert len(text.html) < 50_000
    assert any("15000" in row and "-1" in row for row in array.rows("fields-h"))
    assert "too long to stand beside each other" in array.text


def test_hostile_values_are_shown_as_what_they_are(look, account):
    evil = "<script>alert(1)</script>\u202e"
    acts.put(account, {evil: [evil, 1]}, key=evil)
    acts.put(account, {evil: [evil + "x", 2]}, key=evil)
    page = look("compare/", key=evil)
    assert page.status == 200
    assert "<script>alert" not in page.html
    assert "\u202e" not in page.text


def test_viewers_see_no_way_to_roll_back(look, spoiled, vera, rex):
    asked = {"from": 4, "to": 7}
    assert "rollback" not in look("compare/", by=vera, **asked).html
    assert "/entry/rollback/?path=shop&key=retry&to=4" in look("compare/", by=rex, **asked).links()


def test_private_entries_are_compared_by_their_owner(look, account):
    acts.put(account, "shared")
    for value in ("one", "two"):
        acts.put(account, value, shared=False, by=acts.BOB)
    page = look("compare/", owner=acts.BOB)
    assert "<del>one</del><ins>two</ins>" in page.html
    assert f'name="owner" value="{acts.BOB}"' in page.html
    assert story.NAME["key"] in page.text
