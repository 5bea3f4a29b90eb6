"""POST /api/v1/evidence: something observed about an entry, which may move its confidence."""

import pytest

from memories.models import Evidence


def add(caller, description="three of forty calls were charged twice", **more):
    seen = {"description": description, **more.pop("evidence", {})}
    return caller.post("evidence", {"entity_path": "shop", "key": "retry", "evidence": seen, **more})


def test_evidence_is_kept_and_moves_the_confidence_by_its_delta(bot, account):
    bot.write("shop", "retry", 1, confidence=0.7)
    response = add(bot, evidence={"timestamp": "2026-01-02T03:04:05Z", "observation_id": "g-1"}, confidence_delta=-0.15)
    told = response.json()
    assert told["entry"]["confidence"] == pytest.approx(0.55)
    assert (told["repeated"], told["entry"]["version"]) == (False, 2)
    assert response["X-Change-Set"] == str(told["change_set"])
    kept = Evidence.objects.get(account_id=account.pk)
    assert (kept.observation_id, kept.delta, kept.version_made, kept.actor) == ("g-1", -0.15, 2, "agent/deploy-bot")
    assert kept.at.isoformat() == "2026-01-02T03:04:05+00:00"


def test_evidence_moves_nothing_unless_it_says_by_how_much(bot):
    bot.write("shop", "retry", 1, confidence=0.7)
    told = add(bot).json()
    assert (told["entry"]["confidence"], told["entry"]["version"]) == (0.7, 2)


def test_an_observation_counts_once_for_an_entry(bot, account):
    bot.write("shop", "retry", 1, confidence=0.7)
    bot.write("shop", "other", 1, confidence=0.7)
    for _ in range(2):
        response = add(bot, evidence={"observation_id": "g-1"}, confidence_delta=0.1)
    told = response.json()
    assert (told["repeated"], told["change_set"], told["entry"]["version"]) == (True, None, 2)
    assert "X-Change-Set" not in response
    assert told["entry"]["confidence"] == pytest.approx(0.8)
    again = add(bot, evidence={"observation_id": "g-1"}, confidence_delta=0.1, key="other").json()
    assert again["repeated"] is False
    assert Evidence.objects.filter(account_id=account.pk).count() == 2


def test_evidence_without_a_name_counts_each_time(bot, account):
    bot.write("shop", "retry", 1, confidence=0.5)
    for _ in range(2):
        told = add(bot, confidence_delta=0.1).json()
    assert told["entry"]["confidence"] == pytest.approx(0.7)
    assert Evidence.objects.filter(account_id=account.pk).count() == 2


def test_the_thresholds_follow_evidence(bot):
    bot.write("shop", "retry", 1, confidence=0.5)
    assert add(bot, confidence_delta=-0.25).json()["entry"]["status"] == "under_review"
    # Evidence brings nothing out of review by itself.
    assert add(bot, confidence_delta=0.7).json()["entry"]["status"] == "under_review"
    assert add(bot, confidence_delta=-1).json()["entry"]["status"] == "archived"


def test_evidence_survives_the_next_outcome(bot):
    bot.write("shop", "retry", 1, confidence=0.7)
    add(bot, confidence_delta=-0.2)
    bot.report("t1", "success", "shop/retry")
    # The prior is now 0.5, the weight 1 + |1 - 0.5|.
    assert bot.read("shop", "retry")["confidence"] == pytest.approx((2 * 0.5 + 1.5) / 3.5)


def test_a_rewrite_of_the_same_claim_keeps_what_has_evidence(bot):
    bot.write("shop", "retry", 1, confidence=0.7)
    add(bot)
    assert bot.write("shop", "retry", 1, confidence=0.2).json()["confidence"] == 0.7
    assert bot.write("shop", "retry", 2, confidence=0.2).json()["confidence"] == 0.2


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"confidence_delta": 1.01}, "/confidence_delta"),
        ({"confidence_delta": -1.5}, "/confidence_delta"),
        ({"evidence": {"description": "  "}}, "/evidence/description"),
        ({"evidence": {"description": "a\u0000b"}}, "/evidence/description"),
        ({"evidence": {"timestamp": "2026-01-02T03:04:05"}}, "/evidence/timestamp"),
        ({"evidence": {"timestamp": "yesterday"}}, "/evidence/timestamp"),
        ({"evidence": {"observation_id": "x" * 257}}, "/evidence/observation_id"),
        ({"branch": "a\u0007b"}, "/branch"),
    ],
)
def test_what_cannot_be_is_refused_with_a_pointer_to_the_place(bot, account, more, pointer):
    bot.write("shop", "retry", 1)
    response = add(bot, **more)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == pointer
    assert not Evidence.objects.filter(account_id=account.pk).exists()


def test_nobody_adds_evidence_to_what_they_cannot_see(bot, helper, stranger):
    bot.write("shop", "retry", 1, shared=False)
    assert add(helper).status_code == 404
    assert add(stranger).status_code == 404
    assert add(bot, key="nowhere").status_code == 404


def test_a_stale_version_is_refused(bot):
    bot.write("shop", "retry", 1)
    bot.write("shop", "retry", 2)
    assert add(bot, expected_version=1).status_code == 412


def test_evidence_cannot_be_changed(bot, account):
    from django.db import DatabaseError, transaction

    bot.write("shop", "retry", 1)
    add(bot)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Evidence.objects.filter(account_id=account.pk).update(description="nothing happened")
