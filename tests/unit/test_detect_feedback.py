"""Feedback read from words: two hundred and more sentences, and what they must mean."""

import pytest

from memories.rules.detection import Signal, SignalType, detect_feedback
from tests.unit.feedback_sentences import APPROVALS, CORRECTIONS, NOTHING


@pytest.mark.parametrize(("sentence", "suggested"), CORRECTIONS)
def test_a_correction_names_what_to_use(sentence, suggested):
    signal = detect_feedback(sentence)
    assert signal is not None
    assert (signal.type, signal.suggested) == (SignalType.CORRECTION, suggested)
    assert signal.context
    assert signal.context in sentence.replace("\u2019", "'") or signal.context.split()[-1] in sentence


@pytest.mark.parametrize("sentence", APPROVALS)
def test_an_approval_is_only_that(sentence):
    assert detect_feedback(sentence) == Signal(SignalType.APPROVAL)


@pytest.mark.parametrize("sentence", NOTHING)
def test_what_is_neither_is_nothing(sentence):
    assert detect_feedback(sentence) is None


def test_there_are_two_hundred_different_sentences_and_more():
    sentences = [sentence for sentence, _ in CORRECTIONS] + APPROVALS + NOTHING
    assert len(sentences) == len(set(sentences))
    assert len(sentences) > 250


def test_a_correction_wins_over_an_approval_wherever_it_stands():
    assert detect_feedback("Perfect! Exactly. But use tabs instead.") == Signal(
        SignalType.CORRECTION, "tabs", "But use tabs instead."
    )


@pytest.mark.parametrize(
    "noise",
    ["no, " * 5000, "use " * 5000, "`" * 20_000, '"' * 20_001, "use x " * 4000, "a" * 20_000, "prefer " * 3000,
     "great, " * 3000, "\ue000" * 1000, "\ue0005\ue001 use \ue0005\ue001 instead", "instead of " * 2000, "-" * 20_000],
)  # fmt: skip
def test_long_and_odd_prompts_do_no_harm(noise):
    detect_feedback(noise)
