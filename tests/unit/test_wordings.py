"""What is kept of an entry and what a query asks for, as PostgreSQL reads both."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules import wordings
from memories.rules.folding import Chunk, chunks, fold, spoken
from memories.rules.wordings import CHARACTERS, TERMS, asked, kept

WORD = r"[^'\\~\s]+"
LEAF = rf"'(?:~[a-z]+~|{WORD})'(?::\*|:AB)?"
QUERY = re.compile(rf"(?:{LEAF}|[()!&|]| |<->)*")
TEXTS = st.text(max_size=200)


def words_of(text: str) -> list[str]:
    return [word for chunk in chunks(text) for word in (*chunk.parts, *([chunk.whole] if chunk.whole else []))]


@pytest.mark.parametrize(
    ("text", "parts", "whole"),
    [
        ("ERR_CONN_4711", ("err", "conn", "4711"), "errconn4711"),
        ("checkout-service", ("checkout", "service"), "checkoutservice"),
        ("checkoutService", ("checkout", "service"), "checkoutservice"),
        ("HTTPServer", ("http", "server"), "httpserver"),
        ("std::vector", ("std", "vector"), "stdvector"),
        ("a.b.C", ("a", "b", "c"), "abc"),
        ("Retry", ("retry",), ""),
        ("k77", ("k77",), ""),
        ("HÄUSER", ("hauser",), ""),
        ("Straße", ("strasse",), ""),
        ("don't", ("dont",), ""),
        ("service's", ("service",), ""),
        ("数据库", ("数据", "据库"), ""),
        ("水", ("水",), ""),
    ],
)
def test_a_name_is_taken_apart_and_kept_whole(text, parts, whole):
    (chunk,) = chunks(text)
    assert (chunk.parts, chunk.whole) == (parts, whole)


def test_scripts_are_told_apart_inside_a_word():
    assert list(chunks("连接timeout")) == [Chunk(("连接",), unspaced=True), Chunk(("timeout",))]


def test_what_is_escaped_is_what_it_means():
    assert spoken(r'"a\nb \u00e4 \ud83d\ude00 \"c\" d\\e"') == '"a b ä 😀 "c" d\\e"'
    assert spoken('"cut \\ud83d') == '"cut \ud83d'
    assert words_of(spoken('"cut \\ud83d')) == ["cut"]


def test_every_word_stands_at_its_places():
    words = kept("shop", "retry", '"wait, then retry"').words
    assert words == "'shop':1A 'retry':2A,5B 'wait':3B 'then':4B"


def test_stems_are_asked_of_plain_words_only():
    assert kept("shop", "v2", '"Häuser in 4 Reihen, 数据"').stems == "shop hauser in reihen"
    assert asked("timeouts v2").all == "('timeouts' | '~timeouts~') & 'v2'"


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("", ""),
        ("?!", ""),
        ("the", "('the' | '~the~')"),
        ("how to fix the leak", "('fix' | '~fix~') & ('leak' | '~leak~')"),
        ("leak leak Leak", "('leak' | '~leak~')"),
        ('"how to"', "('how':AB <-> 'to':AB)"),
        ("leak -pool", "('leak' | '~leak~') & !('pool' | '~pool~')"),
        ('leak -"the pool"', "('leak' | '~leak~') & !('the':AB <-> 'pool':AB)"),
        ("kub*", "'kub':*"),
        ("k*", "'k'"),
        ("db-7", "('db7' | ('db':AB <-> '7':AB))"),
        ("数据库", "('数据' <-> '据库')"),
        ("水", "'水':*"),
    ],
)
def test_a_query_reads(query, wanted):
    assert asked(query).all == wanted


def test_any_word_is_enough_where_that_is_asked_but_none_that_is_excluded():
    assert asked("db2 v2 -x9").any == "('db2' | 'v2') & !'x9'"


def test_a_long_query_counts_its_first_terms():
    long = asked(" ".join(f"w{n}" for n in range(5_000)))
    assert len(long.terms) == TERMS
    assert long.terms[-1].words == (f"w{TERMS - 1}",)


def test_a_long_value_is_cut():
    assert kept("a", "b", f'"{"x " * (CHARACTERS // 2)}tail"').words.count("tail") == 0


@given(TEXTS)
def test_nothing_in_a_query_gets_out_of_its_quotes(text):
    query = asked(text)
    for written in (query.all, query.any, query.prefixes):
        assert QUERY.fullmatch(written), written


@given(TEXTS)
def test_what_is_written_is_found_by_what_is_asked(text):
    held = set(re.findall(r"'([^']*)'", kept("", "", text.replace("\\", " ")).words))
    for term in asked(text.replace("\\", " ").replace("*", " ")).terms:
        assert set(term.words) <= held


@given(TEXTS)
def test_folding_twice_changes_nothing(text):
    once = fold(text)
    assert fold(once) == once
    folded = [word.casefold() for word in words_of(text)]
    assert folded == words_of(text)


@given(TEXTS, TEXTS, TEXTS)
def test_what_is_kept_is_a_tsvector(path, key, value):
    assert re.fullmatch(rf"('{WORD}':\d+[AB](,\d+[AB])*( |$))*", kept(path, key, value).words)
    assert wordings.kept(path, key, value) == kept(path, key, value)
