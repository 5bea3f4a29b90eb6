"""Which letters of a name pass for others."""

import pytest

from senselab import lookalikes, marks, wording


@pytest.mark.parametrize(
    ("name", "strange"),
    [
        ("shop/checkout", ""),
        ("sh\u043ep/checkout", "\u043e"),  # a Cyrillic o in a Latin word
        ("\u0440\u0430\u0443", "\u0440\u0430\u0443"),  # pay, all of it Cyrillic
        ("shop/\u0440\u0430\u0443", "\u0440\u0430\u0443"),
        ("\u0421\u0410\u0421\u041d\u0415", "\u0421\u0410\u0421\u041d\u0415"),
        ("\u03c1\u03b1\u03c5", "\u03c1\u03b1\u03c5"),  # Greek
        ("\uff53hop", "\uff53"),  # full width
        ("\U0001d429ay", "\U0001d429"),  # mathematical bold
        ("москва/путь", ""),
        ("москва/shop", ""),
        ("dата", "аа"),
        ("Straße/naïve", ""),
        ("服務/決策", ""),
        ("مهلة-الدفع", ""),
        ("ελληνικά", ""),
        ("ключ-для-api", ""),
    ],
)
def test_only_letters_that_make_a_name_look_latin_are_strange(name, strange):
    assert "".join(name[at] for at in sorted(lookalikes.places(name))) == strange


def test_pages_show_them_as_escapes_in_names_and_leave_texts_alone():
    assert wording.marked("sh\u043ep", is_name=True) == [(False, "sh"), (True, "\u043e"), (False, "p")]
    assert wording.marked("sh\u043ep") == [(False, "sh\u043ep")]
    shown = marks.shown("sh\u043ep")
    assert "sh<span" in shown
    assert "\\u043e" in shown
    assert "CYRILLIC SMALL LETTER O" in shown
