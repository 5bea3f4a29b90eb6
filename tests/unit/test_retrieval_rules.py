"""Ranking for a task: phrases of time, terms, relevance, likeness, local evidence, scores and where a list ends."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcomes.rules import cutting, episodes, nearby, relevance, scoring, temporal, terms, twins
from outcomes.rules.cutting import Ranked
from outcomes.rules.episodes import Episode, Use
from outcomes.rules.scoring import Signals, Weights
from outcomes.rules.twins import Tried

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
shares = st.floats(0, 1)


@pytest.mark.parametrize(
    ("query", "text", "days", "boost"),
    [
        ("what failed yesterday", "what failed", 2, 2.0),
        ("deploys last week", "deploys", 14, 2.0),
        ("deploys this week", "deploys", 7, 2.0),
        ("errors in the last month", "errors", 60, 1.5),
        ("errors this month", "errors", 30, 1.5),
        ("outage 3 days ago", "outage", 4, 2.0),
        ("outage 2 weeks ago", "outage", 15, 1.5),
        ("latest outage", "outage", 7, 2.0),
        ("what broke just now", "what broke", 1, 2.0),
        ("yesterday", "yesterday", 2, 2.0),
        ("payments time out", "payments time out", None, 1.0),
        ("the todayish parser", "the todayish parser", None, 1.0),
    ],
)
def test_phrases_of_time_become_a_boost(query, text, days, boost):
    read = temporal.read(query)
    assert (read.text, read.days, read.boost) == (text, days, boost)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Retries are retried", {"retry"}),
        ("ERR_CONN_4711", {"err", "conn", "4711", "errconn4711"}),
        ("checkout-service", {"checkoutservice", "checkout", "servic"}),
        ("getUserName", {"getusername", "get", "user", "name"}),
        ("Zürich", {"zurich"}),
        ("接続の再試行", {"接続", "続の", "の再", "再試", "試行"}),
    ],
)
def test_terms_take_names_apart_and_keep_them_whole(text, found):
    assert found <= set(terms.all_terms(text))


@given(st.text(max_size=200))
def test_any_text_has_terms_or_none(text):
    assert all(terms.all_terms(text))
    assert len(set(terms.asked(text))) == len(terms.asked(text))


def test_stop_words_count_only_when_there_is_nothing_else():
    assert terms.asked("what is the retry limit") == ("retry", "limit")
    assert terms.asked("what is it") == ("what", "is", "it")


@given(
    st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "retry", "limit"]), min_size=1, max_size=6),
    st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "retry", "limit", "pool"]), max_size=40),
)
def test_relevance_lies_between_0_and_1_and_grows_with_what_is_said(query, value):
    asked = terms.asked(" ".join(query))
    text, whole = (relevance.text_of("p", "k", words) for words in (" ".join(value), " ".join([*value, *query])))
    over = relevance.scale(asked, [text, whole])
    assert 0 <= relevance.lexical(over, text) <= 1
    assert 0 <= relevance.keyword(over, text) <= relevance.keyword(over, whole) == pytest.approx(1.0)


def test_a_rare_word_weighs_more_than_one_that_all_candidates_have():
    texts = [relevance.text_of("p", f"k{n}", "queue stuck") for n in range(20)] + [relevance.text_of("p", "z", "quota")]
    over = relevance.scale(("queue", "quota"), texts)
    assert relevance.lexical(over, texts[-1]) > relevance.lexical(over, texts[0])
    assert relevance.keyword(over, texts[-1]) > relevance.keyword(over, texts[0])


signals = st.builds(
    Signals, shares, shares, shares, st.floats(-1, 1), st.floats(0, 4_000), st.booleans(), st.booleans()
)


@given(signals)
def test_a_score_is_never_negative_and_nothing_relevant_scores_nothing(one):
    made = scoring.score(one)
    assert made.value >= 0
    assert -1 <= made.trust <= 1
    if not one.semantic and not one.keyword:
        assert made.value == 0


@given(signals, shares)
def test_more_trust_never_lowers_a_score(one, more):
    better = Signals(one.semantic, one.keyword, max(one.confidence, more), max(one.evidence, more), one.age_days)
    worse = Signals(one.semantic, one.keyword, one.confidence, one.evidence, one.age_days)
    assert scoring.score(better).value >= scoring.score(worse).value - 1e-12


def test_the_weights_of_a_score_are_those_of_the_contract():
    made = scoring.score(Signals(semantic=0.8, keyword=0.5, confidence=0.9, evidence=0.4, age_days=30))
    assert made.relevance == pytest.approx(0.5 * 0.8 + 0.15 * 0.5)
    assert made.trust == pytest.approx((0.2 * 0.9 + 0.15 * 0.4) / 0.35)
    assert made.value == pytest.approx(made.relevance * (1 + 0.5 * made.trust + 0.3 * 0.5))
    procedure = scoring.score(Signals(0.8, 0.5, 0.9, 0.4, 30, is_artifact=True, is_procedure=True))
    assert procedure.value == pytest.approx(made.value * 0.5 * 1.1)
    assert scoring.trust(Signals(1, 1, 1, 1, 0), Weights(confidence=0, evidence=0)) == 0


def episode(number: int, task: str, *, won: bool = True, uses: tuple[Use, ...] = (), **more) -> Episode:
    return Episode(number, f"o{number}", NOW + timedelta(hours=number), won, task=task, uses=uses, **more)


def test_tasks_that_differ_in_the_telling_word_are_less_alike_than_paraphrases():
    past = [
        episode(1, "refund fails with ERR_PAY_402 for the card gateway"),
        episode(2, "refund fails with ERR_PAY_407 for the card gateway"),
        episode(3, "nightly export of the ledger is late"),
        *(episode(n, f"disk full on build host number {n}") for n in range(4, 12)),
    ]
    found = episodes.near("customer cannot get a refund: ERR_PAY_402 from the card gateway", "", past)
    assert found[0].episode.id == 1
    assert {one.episode.id for one in found} <= {1, 2}


def test_the_same_declared_situation_is_the_same_task():
    (one,) = episodes.near("words of its own", "Queue  stuck", [episode(1, "others", situation="queue stuck")])
    assert (one.similarity, one.weight) == (1.0, 1.0)


WIN, LOSS = (Use(1, 0, True),), (Use(1, 1, False), Use(2, 0, True))
SINCE = {1: NOW - timedelta(days=9), 2: NOW - timedelta(days=9)}


def ordered(past: list[Episode], scores: dict[int, float]) -> list[int]:
    by = episodes.scale("queue stuck", past)
    told = nearby.events(episodes.near("queue stuck", "", past, by=by), SINCE, "queue stuck", by)
    now, _ = nearby.ordered(scores, told)
    return sorted(now, key=lambda entry_id: -now[entry_id])


def test_one_failure_that_something_else_resolved_puts_a_rule_below_it():
    past = [*(episode(n, "queue stuck", uses=WIN) for n in range(5)), episode(6, "queue stuck", uses=LOSS)]
    assert ordered(past, {1: 1.0, 2: 0.3, 3: 0.6}) == [2, 1, 3]


def test_a_success_since_then_takes_it_back():
    past = [episode(1, "queue stuck", uses=LOSS), episode(2, "queue stuck", uses=WIN)]
    assert ordered(past, {1: 1.0, 2: 0.3}) == [1, 2]


def test_what_failed_itself_since_then_is_not_put_above():
    past = [episode(1, "queue stuck", uses=LOSS), episode(2, "queue stuck", won=False, uses=(Use(2, 0, False),))]
    assert ordered(past, {1: 1.0, 2: 0.3}) == [1, 2]


def test_a_failure_on_another_kind_of_task_changes_nothing():
    assert ordered([episode(1, "printer jammed", uses=LOSS)], {1: 1.0, 2: 0.3}) == [1, 2]


def test_a_rule_that_turned_on_such_a_task_in_other_words_stands_below_as_well():
    """It worked on both wordings, failed on one: what resolved that stands above it for the other, too."""
    one, other = "refund declined with code E1402", "Ticket 17: refunds rejected, code E1402, from Ana"
    past = [
        *(episode(n, text, uses=WIN) for n, text in enumerate([one, other, one, other], start=1)),
        *(episode(n, "printer jammed in room 5", uses=(Use(9, 0, True),)) for n in range(5, 8)),
        episode(9, one, uses=LOSS),
    ]
    by = episodes.scale(other, past)
    told = nearby.events(episodes.near(other, "", past, by=by), SINCE, other, by)
    assert nearby.ordered({1: 1.0, 2: 0.3}, told)[1] == {1: 2}


def test_words_that_stand_in_tasks_of_every_kind_tell_nothing():
    past = [
        episode(n, f"urgent from Ana: {word}", uses=(Use(n, 0, True),)) for n, word in enumerate("abcdefgh", start=1)
    ]
    past += [episode(20 + n, "urgent from Ana: refund", uses=WIN) for n in range(4)]
    tells = episodes.telling(past)
    assert tells["refund"] > 1.5 * tells["urgent"]


def test_a_world_that_changed_leaves_the_words_that_tell_tasks_apart():
    """Newer tasks are resolved otherwise, but one as the other: what they have in common goes on telling."""
    past = [episode(n, f"refund E140{n % 2 + 1}", uses=(Use(n % 2 + 1, 0, True),)) for n in range(20)]
    past += [episode(n, f"refund E140{n % 2 + 1}", uses=(Use(n % 2 + 11, 0, True),)) for n in range(20, 26)]
    tells = episodes.telling(past)
    assert tells["e1401"] > 3 * tells["refund"]


def test_what_an_entry_did_well_on_says_what_it_is_about_until_it_fails_there():
    def worked(*told: tuple[bool, float]) -> float:
        return nearby.local([nearby.Event(NOW, won, 1.0, similarity=alike) for won, alike in told]).worked

    assert worked((True, 0.9), (True, 0.6)) == 0.9
    assert worked((False, 0.9), (True, 0.9)) == 0
    assert worked((False, 0.5), (True, 0.9)) == 0.9
    assert worked((True, 0.5), (False, 0.9)) == 0.5


def test_what_never_did_such_a_task_is_left_out_once_something_else_did():
    failed = nearby.Event(NOW, False, 1.0, resolved_by=(2,), similarity=0.9)
    assert nearby.local([failed]).fails
    assert not nearby.local([failed, nearby.Event(NOW, True, 1.0, similarity=0.9)]).fails
    assert not nearby.local([nearby.Event(NOW, False, 1.0, resolved_by=(2,), similarity=0.6)]).fails
    assert not nearby.local([nearby.Event(NOW, False, 1.0, similarity=0.9)]).fails


SYNC, IMPORT = frozenset({"stock", "wrong", "sync"}), frozenset({"stock", "wrong", "import"})
EVENLY = dict.fromkeys(["stock", "wrong", "sync", "import", "negativ"], 1.0)


def test_of_twins_the_one_that_fits_the_task_stands_above():
    task = frozenset({"stock", "negativ", "sync"})
    tried = {1: Tried(IMPORT, won=(IMPORT,)), 2: Tried(SYNC)}
    assert twins.ordered({1: 0.9, 2: 0.5}, tried, task, EVENLY) == ({1: 0.5, 2: 0.9}, {1: 2})


def test_what_befell_twins_counts_more_than_their_words():
    task = frozenset({"stock", "negativ", "sync"})
    assert not twins.is_meant(Tried(SYNC), Tried(IMPORT, won=(SYNC,)), task, EVENLY)
    assert not twins.is_meant(Tried(SYNC, lost=(task,)), Tried(IMPORT), task, EVENLY)


def test_entries_that_share_nothing_of_a_task_are_no_twins():
    assert twins.lead(frozenset({"stock"}), frozenset({"sync"}), frozenset({"stock", "sync"}), EVENLY) == 0


def test_what_failed_on_its_twins_task_is_not_held_to_it():
    task, twin = frozenset({"stock", "negativ", "sync"}), Tried(IMPORT)
    assert twins.was_not_meant(Tried(SYNC, lost=(IMPORT,)), [twin], task, EVENLY)
    assert not twins.was_not_meant(Tried(SYNC, lost=(IMPORT, SYNC)), [twin], task, EVENLY)
    assert not twins.was_not_meant(Tried(SYNC, lost=(IMPORT,)), [Tried(IMPORT, won=(IMPORT,))], task, EVENLY)
    assert not twins.was_not_meant(Tried(SYNC), [twin], task, EVENLY)


def test_what_befell_an_earlier_claim_does_not_count():
    past = [episode(1, "queue stuck", uses=LOSS)]
    by = episodes.scale("queue stuck", past)
    assert nearby.events(episodes.near("queue stuck", "", past), {1: NOW + timedelta(days=1)}, "queue stuck", by) == {}


def test_two_newest_failures_fail_and_two_successes_rescue():
    def told(*wins: bool) -> nearby.Local:
        return nearby.local([nearby.Event(NOW, won, 1.0) for won in wins])

    assert told(False, False, True).fails
    assert not told(False, True, False).fails
    assert told(True, True).rescues
    assert not told(True).rescues
    assert not told(True, False, False).rescues
    assert told(True).signal > 0 > told(False).signal


@given(st.lists(st.tuples(st.booleans(), st.floats(0.1, 1.0)), max_size=30))
def test_local_evidence_stays_in_its_bounds(events):
    told = nearby.local([nearby.Event(NOW, won, weight) for won, weight in events])
    assert -1 < told.signal < 1
    assert 0 <= told.weight < 1


@given(
    st.dictionaries(st.integers(1, 6), shares, max_size=6),
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=8),
)
def test_turning_the_order_around_loses_no_entry_and_raises_no_score_above_the_best(scores, lost):
    told = {
        loser: [nearby.Event(NOW + timedelta(hours=at), False, 1.0, (winner,))]
        for at, (loser, winner) in enumerate(lost)
    }
    now, _ = nearby.ordered(scores, told)
    assert now.keys() == scores.keys()
    assert max(now.values(), default=0) <= max(scores.values(), default=0)


def hit(score: float, status: str = "untested", **more) -> Ranked:
    known = {"semantic": 0.5, "relevance": 0.3, "keyword": 0.5} | more
    return Ranked(score=score, status=status, **known)


def test_what_is_far_goes_and_the_first_stays():
    far = {"semantic": 0.1, "keyword": 0.0}
    assert cutting.far([hit(1, **far), hit(0.5, **far), hit(0.4), hit(0.1, proven=True, **far)]) == {1}


def test_adaptive_k_keeps_what_adds_to_a_validated_answer():
    top = hit(1.0, "validated")
    peers = [hit(0.9, "validated"), hit(0.8, "validated"), hit(0.95), hit(0.2, relevance=0.4), hit(0.2, keyword=0.8)]
    assert cutting.needless([top, *peers]) == {2, 3}
    assert cutting.needless([hit(1.0), *peers]) == set()
    assert cutting.needless([top, hit(0.9, "contested", relevance=0.9)], shifted=True) == {1}
