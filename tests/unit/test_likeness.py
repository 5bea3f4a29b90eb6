"""Pairs of claims about one entity: nearly the same, the opposite, or neither."""

import pytest

from memories.rules.likeness import OPPOSITE, SAME, Said, compare

ALIKE = [
    ("Retry with jitter, at most three times.", "Retry with jitter at most three times"),
    ("The cache is purged after a price change.", "The cache is purged after price changes"),
    ("Run the migrations inside one transaction.", "Run migrations inside one transaction"),
    ("Use exponential backoff for failed calls", "Use exponential backoff for the failed calls"),
    ("ERR_CONN_4711 means the pool is full", "err-conn-4711 means that the pool is full"),
    ("Deploy on Tuesday mornings, never on Fridays", "deploy on tuesday mornings; never on fridays!"),
    ("Die Rechnungen werden nachts gebucht", "Rechnungen werden nachts gebucht"),
    ("数据库连接池已满时重试", "数据库连接池已满时，重试"),
    ("page the on-call person of payments at night", "Page the on-call person of payments at night."),
    ("Invoices are numbered by the ledger service", "invoices are numbered by the ledger service"),
]
AGAINST = [
    ("Retry the payment call with jitter", "Do not retry the payment call with jitter"),
    ("Never retry the payment call", "Always retry the payment call"),
    ("The feature flag is enabled in production", "The feature flag is disabled in production"),
    ("The gateway timeout is 30 seconds", "The gateway timeout is 60 seconds"),
    ("Run migrations before the deploy", "Run migrations after the deploy"),
    ("It is safe to restart the worker", "It is unsafe to restart the worker"),
    ("The token header is required for exports", "The token header is optional for exports"),
    ("Batch writes work on the replica", "Batch writes fail on the replica"),
    ("Clients can delete invoices", "Clients cannot delete invoices"),
    ("Die Rechnung darf storniert werden", "Die Rechnung darf nicht storniert werden"),
    ("Turn compression on for uploads", "Turn compression off for uploads"),
    ("The queue holds 500 messages", "The queue holds 1000 messages"),
    ("Raise the pool size when latency grows", "Lower the pool size when latency grows"),
    ("The endpoint accepts invalid JSON bodies", "The endpoint accepts valid JSON bodies"),
]
APART = [
    ("The gateway timeout is 30 seconds", "Run migrations before the deploy"),
    ("Retry the payment call", "Do not deploy on Fridays"),
    ("ERR_CONN_4711 means the pool is full", "ERR_CONN_4712 means the disk is slow"),
    ("The cache lives for 5 minutes", "The session of a user lives in a cookie for 30 days"),
    ("Use the replica for reports", "Use the primary for writes"),
    ("Prefer the v2 endpoint for exports", "Exports are kept for a week"),
    ("", ""),
    ("Logs are rotated daily", "Alerts are sent daily"),
    ("no", "yes"),
    ("Never log tokens", "Always wear a helmet"),
    ("缓存五分钟", "数据库连接失败"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_nearly_the_same_is_found(one, other):
    found = compare(Said(one), Said(other))
    assert found is not None
    assert found.kind == SAME


@pytest.mark.parametrize(("one", "other"), AGAINST)
def test_the_opposite_is_found_and_explained(one, other):
    found = compare(Said(one), Said(other))
    assert found is not None
    assert found.kind == OPPOSITE
    assert "say" in found.why


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_is_about_something_else_is_left_alone(one, other):
    assert compare(Said(one), Said(other)) is None


@pytest.mark.parametrize(("one", "other"), [*ALIKE, *AGAINST, *APART])
def test_which_of_the_two_comes_first_makes_no_difference(one, other):
    there, back = compare(Said(one), Said(other)), compare(Said(other), Said(one))
    assert (there and (there.kind, there.score)) == (back and (back.kind, back.score))


def test_other_words_with_near_vectors_are_the_same_and_the_opposite_is_not():
    one, other = Said("shut the store at night"), Said("close shops in the evening")
    assert compare(one, other) is None
    assert compare(one, other, cosine=0.93).kind == SAME
    never = Said("never shut the store at night")
    assert compare(one, never, cosine=0.99).kind == OPPOSITE
