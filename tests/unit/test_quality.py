"""How well an entry is put: advice with a score (contract.md 3.13)."""

import json

import pytest

from memories.rules.quality import Asked, quality

LONG = "Retry a 503 twice, 200 ms apart, then give up and page whoever is on call for it."


def judged(value, memory_type="fact", confidence=0.7, refs=(), siblings=False):
    return quality(Asked(json.dumps(value), memory_type, confidence, tuple(refs), siblings))


@pytest.mark.parametrize(
    ("asked", "score", "types"),
    [
        ({"value": {"what": LONG}}, 1.0, []),
        ({"value": "short"}, 0.7, ["too_short"]),
        ({"value": LONG}, 0.9, ["unstructured"]),
        ({"value": {"what": LONG}, "siblings": True}, 0.85, ["no_references"]),
        ({"value": {"what": LONG}, "siblings": True, "refs": ["shop/dns"]}, 1.0, []),
        ({"value": {"what": LONG}, "memory_type": "belief"}, 0.9, ["no_reasoning"]),
        ({"value": {"what": LONG + " because it recovers"}, "memory_type": "belief"}, 1.0, []),
        (
            {"value": {"what": LONG}, "memory_type": "belief", "confidence": 0.95},
            0.8,
            ["no_reasoning", "overconfident"],
        ),
        ({"value": LONG, "memory_type": "procedure"}, 0.75, ["procedure_incomplete"]),
        ({"value": {"goal": LONG, "steps": ["retry"]}, "memory_type": "procedure"}, 1.0, []),
        ({"value": "x", "memory_type": "procedure", "siblings": True}, 0.3, None),
    ],
)
def test_each_weakness_costs_what_the_contract_says(asked, score, types):
    found = judged(**asked)
    assert found.score == score
    assert types is None or [issue.type for issue in found.issues] == types
    assert found.action == ("stored_ok" if score >= 0.8 else "stored_with_suggestions")
