"""What the tags and filters of every page make of plain values."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.messages.storage.base import Message
from django.template import Context, Template
from django.test import RequestFactory

from senselab import bars, jsontext, marks, wording

NOW = datetime(2026, 11, 30, 11, 7, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _static_files_without_a_manifest(settings):
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


def render(source: str, path: str = "/", **context: object) -> str:
    return Template(source).render(Context({"request": RequestFactory().get(path), **context}))


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(seconds=59), "now"),
        (timedelta(minutes=5), "5 min"),
        (timedelta(hours=31), "31 h"),
        (timedelta(hours=48), "2 d"),
        (timedelta(days=77), "77 d"),
        (timedelta(days=1100), "3 y"),
        (timedelta(days=-4), "in 4 d"),
        (timedelta(seconds=-5), "now"),
    ],
)
def test_ago_says_one_short_unit(span, words):
    assert wording.ago(NOW - span, NOW) == words


def test_ago_of_nothing_is_a_dash():
    assert render("{{ nothing|ago }}", nothing=None) == "—"


def test_a_day_names_its_year_only_when_it_is_another():
    assert wording.day(datetime(2026, 1, 5, tzinfo=UTC), NOW) == "5 Jan"
    assert wording.day(datetime(2025, 11, 26, tzinfo=UTC), NOW) == "26 Nov 2025"


def test_a_day_is_the_one_in_utc():
    late = datetime.fromisoformat("2026-11-26T23:30:00-05:00")
    assert wording.clock(late, NOW) == "27 Nov 04:30"


def test_a_time_carries_its_exact_moment():
    html = marks.when(datetime(2026, 11, 26, 9, 53, 7, tzinfo=UTC), NOW)
    assert html == ('<time class="nb" datetime="2026-11-26T09:53:07+00:00" title="26 Nov 2026 09:53:07 UTC">4 d</time>')


def test_the_exact_moment_in_a_title_is_in_utc():
    html = marks.when(datetime.fromisoformat("2026-11-26T23:30:00-05:00"), NOW, "day")
    assert 'title="27 Nov 2026 04:30:00 UTC">27 Nov<' in html


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{{ 0.384|conf }} {{ 0.384|exact }}", "0.38 0.384"),
        ("{{ nothing|conf }} {{ nan|conf }}", "— —"),
        ("{{ small|conf }}", "0.00"),
        ("{{ 1284|grouped }}", "1,284"),
        ("{{ 0.876|percent }} {{ 0.876|percent:1 }}", "88 % 87.6 %"),
        ("{{ 1|signed }} {{ minus|signed }} {{ 0|signed }} {{ minus|signed:2 }}", "+1 −2 0 −2.00"),
        ("{{ 'under_review'|label }} {{ 'p2_incident'|label }}", "Under review P2 incident"),
        ("{{ 1|standing }}", "Production, validated"),
    ],
)
def test_numbers_and_words_read_like_this(source, words):
    assert render(source, nothing=None, nan=float("nan"), minus=-2, small=-0.001) == words


def test_a_number_never_shows_a_negative_nothing():
    assert wording.fixed(-0.001, 2) == "0.00"


@pytest.mark.parametrize(
    ("key", "word"),
    [("pattern-retry", "pattern"), ("task-summary-9", "task summary"), ("patterns", ""), ("my-risk-1", "")],
)
def test_a_known_prefix_labels_a_key(key, word):
    assert wording.key_label(key) == word


def test_what_could_mislead_in_a_name_is_shown_as_a_marked_escape():
    html = marks.shown("pay\u202egpj\u200b.exe")
    assert 'title="U+202E RIGHT-TO-LEFT OVERRIDE">\\u202e</span>' in html
    assert "\\u200b" in html
    assert "\u202e" not in html
    assert "\u200b" not in html


@pytest.mark.parametrize("name", ["naïve café", "ключ", "再試行", "مفتاح", "👩‍🚀", "❤️", "می‌خواهم"])
def test_names_in_any_script_are_left_alone(name):
    assert marks.shown(name) == name


@pytest.mark.parametrize("char", ["\u00a0", "\u2066", "\ufeff", "\u00ad", "\u3164", "\x7f", "\u2028", "\U000e0041"])
def test_invisible_characters_are_marked_in_names(char):
    assert 'class="inv"' in marks.shown(f"a{char}b")


def test_a_name_is_escaped():
    said = marks.entry_name("<b>", "k&")
    assert said == '<bdi class="path">&lt;b&gt;</bdi><span class="path">/</span><bdi>k&amp;</bdi>'


def test_every_mark_escapes_what_it_is_given():
    evil = '"><script>'
    for html in (
        marks.chip(evil, evil, evil),
        marks.evidence_chip(evil),
        marks.status_chip(evil),
        marks.type_chip(evil),
        marks.outcome_word(evil),
        marks.who(evil),
        marks.who(evil, "person"),
        marks.icon(evil, evil, evil, evil),
        bars.confidence(0.5, evidence=evil),
        bars.ruler(0.5, was=0.1, was_label=evil),
    ):
        assert "<script" not in html


def test_marks_need_no_style_attribute_and_no_script():
    html = bars.ruler(0.384, stored=0.4, was=0.849, was_label="v14") + bars.confidence(0.384, stored=0.4, was=0.84)
    assert "style=" not in html
    assert "on" + "load" not in html


def test_a_confidence_bar_has_its_value_as_a_width():
    html = bars.confidence(0.384, stored=0.4, was=0.85, evidence="discredited")
    assert 'class="conf discredited"' in html
    assert '<rect class="fill" y="3" width="38.4" height="4" rx="2"/>' in html
    assert '<rect class="lost" x="38.4" y="3" width="1.6" height="4"/>' in html
    assert '<rect class="ghost" x="84"' in html


def test_a_confidence_outside_its_range_stays_inside_the_bar():
    assert 'width="100"' in bars.confidence(1.7)
    assert '<rect class="fill" y="3" width="0"' in bars.confidence(-1)


def test_a_missing_confidence_draws_no_bar_rather_than_an_empty_one():
    assert bars.confidence(None) == ""


def test_a_ruler_says_in_words_what_it_shows():
    html = bars.ruler(0.384, stored=0.4, was=0.849, was_label="v14")
    assert "Confidence 0.40, effective 0.38; review line 0.30, archive line 0.10; v14 0.85" in html


@pytest.mark.parametrize("now", [0.0, 0.01, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("was", [0.0, 0.02, 0.5, 0.98, 1.0])
def test_the_labels_of_a_ruler_stay_inside_it(now, was):
    html = str(bars.ruler_labels(now, was, "v14"))
    for text in html.split("<text")[1:]:
        at = float(text.split('x="')[1].split("%")[0])
        anchor = text.split('text-anchor="')[1].split('"')[0]
        assert not (at < 3 and anchor == "end")
        assert not (at > 97 and anchor == "start")


def test_outcomes_are_told_by_arrow_and_sign_not_by_colour_alone():
    assert "arrow-down" in marks.outcome_word("p2_incident")
    assert "arrow-up" in marks.outcome_word("clean_deploy")
    assert ">+18<" in marks.tally(18, 2)
    assert ">−2<" in marks.tally(18, 2)
    assert "none yet" in marks.tally(0, 0)


def test_json_comes_out_as_it_went_in():
    html = jsontext.code('{"b": 1.2300e+5, "a": 123456789012345678901234567890, "b": true}')
    assert "1.2300e+5" in html
    assert "123456789012345678901234567890" in html
    assert html.index("1.2300e+5") < html.index("123456789012345678901234567890")
    assert html.count('<span class="k">"b"</span>') == 2


def test_json_is_escaped_everywhere():
    text = json.dumps({"<i>": "<script>alert(1)</script>", "list": ["<b>", {"<u>": "&"}]})
    for html in (jsontext.code(text), jsontext.tree(text), jsontext.said(jsontext.parse(text))):
        assert "<script" not in html
        assert "<b>" not in html
        assert "<i>" not in html
        assert "&lt;script&gt;" in html


def test_json_shows_direction_overrides_inside_strings():
    html = jsontext.code(json.dumps("a\u202eb"))
    assert "\u202e" not in html
    assert "\\u202e" in html


def test_a_short_list_stays_in_one_line_and_a_long_one_gets_many():
    assert "\n" not in jsontext.code("[409, 502, 503, 504]")
    assert jsontext.code(json.dumps(list(range(60)))).count("\n") == 61


def test_a_huge_value_is_cut_and_says_so():
    html = jsontext.code(json.dumps(["x" * 50] * 20_000))
    assert len(html) < 70_000
    assert "cut here" in html
    assert "more characters" in jsontext.code(json.dumps("x" * 9_000))


def test_a_huge_tree_counts_what_it_does_not_show():
    html = jsontext.tree(json.dumps(list(range(5_000))))
    assert html.count("<li>") == jsontext.MOST_NODES
    assert "3,500 more values" in html


def test_the_deepest_value_the_api_takes_can_be_shown():
    deep = "[" * 100 + "1" + "]" * 100
    assert "1" in jsontext.code(deep)
    assert jsontext.tree(deep).count("<details") == 99


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('"two\\nlines \\u00e9"', "two lines é"),
        ('{"p99":2400,"on":true}', '{ "p99": 2400, "on": true }'),
        ("12", "12"),
        ('"' + "x" * 400 + '"', "x" * 159 + "…"),
        ('"cut in an escape \\u00', "cut in an escape"),
        ('"half an emoji \\ud83d', "half an emoji"),
        ('{"cut": "in the mid', '{"cut": "in the mid'),
    ],
)
def test_a_preview_is_one_line_even_of_text_cut_anywhere(text, line):
    assert jsontext.preview(text) == line


def test_a_procedure_is_shown_as_its_steps():
    text = json.dumps({"goal": "warm up", "steps": ["one", {"action": "two", "above": 0.9}], "on_failure": "stop"})
    html = render('{% value_view text "procedure" %}', text=text)
    assert "<ol" in html
    assert "warm up" in html
    assert html.count(">Steps</label>") == 1


def test_a_procedure_without_steps_is_shown_like_any_value():
    html = render('{% value_view text "procedure" %}', text='{"goal": "warm up"}')
    assert ">Steps</label>" not in html


def test_the_views_of_a_value_need_no_script():
    html = render("{% value_view text %}", text='{"a": [1, {"b": 2}]}')
    assert html.count('type="radio"') == 4
    assert "<script" not in html
    assert html.count("checked") == 1


def test_changing_one_filter_keeps_the_others_and_starts_paging_again():
    path = "/entries/?q=retry&status=active&status=archived&cursor=abc"
    assert render("{% url_with sort='key' %}", path) == "?q=retry&amp;status=active&amp;status=archived&amp;sort=key"
    assert render("{% url_with q=None %}", path) == "?status=active&amp;status=archived"
    assert render("{% url_with cursor='next' %}", path).endswith("cursor=next")


def test_one_of_several_values_can_be_added_and_taken_away():
    path = "/entries/?status=active&status=archived"
    assert render("{% url_toggle 'status' 'active' %}", path) == "?status=archived"
    assert render("{% url_toggle 'status' 'superseded' %}", path).endswith("status=superseded")
    assert render("{% is_asked 'status' 'active' as on %}{{ on }}", path) == "True"


def test_a_filter_with_markup_in_it_stays_text():
    assert "<" not in render("{% url_with q=evil %}", evil='"><script>')


def test_a_message_can_offer_undo():
    undo = Message(25, "Rolled back", extra_tags="undo:/change-sets/7/undo/")
    assert render("{{ message|undo_url }}", message=undo) == "/change-sets/7/undo/"
    assert render("{{ message|undo_url }}", message=Message(25, "Saved")) == ""


def test_undo_never_leads_elsewhere():
    away = Message(25, "x", extra_tags="undo:https://elsewhere.example/")
    assert render("{{ message|undo_url }}", message=away) == ""
    twisted = Message(25, "x", extra_tags="undo://elsewhere.example/")
    assert render("{{ message|undo_url }}", message=twisted) == ""


def test_a_key_stands_on_its_button_for_script_and_for_screen_readers():
    assert render('{% key "e" %}') == 'data-key="e" aria-keyshortcuts="e"'
