"""Letters that pass for Latin ones: what makes one name look like another to people. Pure.

Only letters that fonts draw like Latin ones count, and only where the name looks Latin by them: a word of another
script that has letters of its own (москва) misleads nobody.
"""

import re
import unicodedata

# Cyrillic, Greek and Armenian letters drawn as Latin ones are; full-width and mathematical ones decompose to Latin.
LOOK_LATIN = frozenset("аеорсухіјѕԁһӏԛԝАВЕКМНОРСТУХІЈЅԌԚԜҮαινορυχϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹօսհոցզՕՍ")
_WORDS = re.compile(r"[^\W\d_]+")


def is_disguised(char: str) -> bool:
    """Tell whether a letter is a Latin one in another form: full-width, mathematical, circled."""
    plain = unicodedata.normalize("NFKC", char)
    return char != plain and plain.isascii() and plain.isalnum()


def is_latin(char: str) -> bool:
    return unicodedata.name(char, "").startswith("LATIN")


def places(text: str) -> frozenset[int]:
    """Return where in a name stand letters that pass for Latin ones."""
    if text.isascii():
        return frozenset()
    found = {at for at, char in enumerate(text) if not char.isascii() and is_disguised(char)}
    letters = [(at, char) for word in _WORDS.finditer(text) for at, char in enumerate(word[0], word.start())]
    # A name with letters that only another script has is a name of that script, but for words that mix the two.
    own = any(not is_latin(char) and char not in LOOK_LATIN and not is_disguised(char) for _, char in letters)
    for word in _WORDS.finditer(text):
        mixes = any(is_latin(char) for char in word[0])
        if mixes or not own:
            found |= {at for at, char in enumerate(word[0], word.start()) if char in LOOK_LATIN}
    return frozenset(found)
