"""Pages as they are sent: nothing in them misleads, and nothing else changes."""

import json

import pytest

from senselab.unmasking import in_json, plain, unmasked

RLO, HIDDEN, ALIKE = "\u202e", "\u200b", "\u043e"


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        (f'<a title="sh{ALIKE}p{RLO}">x</a>', '<a title="sh\\u043ep\\u202e">x</a>'),
        (f"<i aria-label='a{HIDDEN}>b' data-copy='a{HIDDEN}b'>", f"<i aria-label='a\\u200b>b' data-copy='a{HIDDEN}b'>"),
        (f"<title>sh{ALIKE}p · SenseLab</title>", "<title>sh\\u043ep · SenseLab</title>"),
        (f'<input value="{RLO}" placeholder="{RLO}">', f'<input value="{RLO}" placeholder="\\u202e">'),
        (f"<textarea>{RLO}</textarea><script>{RLO}</script>", f"<textarea>{RLO}</textarea><script>{RLO}</script>"),
        (f"<p>sh{ALIKE}p</p>", f"<p>sh{ALIKE}p</p>"),
        (f'<option value="{ALIKE}x">{ALIKE}x{RLO}</option>', f'<option value="{ALIKE}x">\\u043ex\\u202e</option>'),
        (f"<!-- {RLO} --><b>1 < 2</b>", f"<!-- {RLO} --><b>1 < 2</b>"),
    ],
)
def test_what_misleads_is_an_escape_where_people_read_and_stays_where_it_is_sent_back(html, shown):
    assert unmasked(html) == shown


def test_in_text_the_escape_is_marked_and_says_what_it_stands_for():
    shown = unmasked(f"<p>a{RLO}b</p><bdi>sh{ALIKE}p</bdi>")
    assert '<p>a<span class="inv" title="U+202E RIGHT-TO-LEFT OVERRIDE">\\u202e</span>b</p>' in shown
    assert 'CYRILLIC SMALL LETTER O">\\u043e</span>p</bdi>' in shown


@pytest.mark.parametrize("text", ["<p>москва — “naïve” 服務</p>", "<p>नमस्\u200dते 👩\u200d💻</p>", "<p>a\u00a0b</p>"])
def test_ordinary_text_of_any_language_stays_letter_for_letter(text):
    assert unmasked(text) == text


def test_a_text_without_markup_has_escapes_alone():
    assert plain(f"sh{ALIKE}p{RLO}") == "sh\\u043ep\\u202e"
    assert plain(f"sh{ALIKE}p{RLO}", is_name=False) == f"sh{ALIKE}p\\u202e"


def test_json_says_the_same():
    said = {"a": f"{RLO}\\{RLO} ключ \U000e0041"}
    written = in_json(json.dumps(said, ensure_ascii=False))
    assert RLO not in written
    assert "ключ" in written
    assert "\U000e0041" not in written
    assert json.loads(written) == said
