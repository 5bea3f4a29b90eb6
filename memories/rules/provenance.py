"""How far an entry's origin can be trusted (RULES.md 6)."""

from enum import IntEnum


class ProvenanceTier(IntEnum):
    """The four tiers of the published client, most trusted first."""

    PRODUCTION_VALIDATED = 1
    PRODUCTION_OBSERVED = 2
    DEVELOPMENT = 3
    MANUAL = 4


_PRODUCTION = ("agent/", "prod/", "prod-")
_DEVELOPMENT = ("dev/", "test/", "dev-", "test-")
_MANUAL = ("manual/", "seed/", "human/")


def provenance_tier(agent_id: str, outcome_count: int) -> ProvenanceTier:
    """Return the tier that follows from who wrote an entry and whether outcomes relied on it; first match counts."""
    if agent_id.startswith(_PRODUCTION):
        return ProvenanceTier.PRODUCTION_VALIDATED if outcome_count > 0 else ProvenanceTier.PRODUCTION_OBSERVED
    if agent_id.startswith(_DEVELOPMENT):
        return ProvenanceTier.DEVELOPMENT
    if agent_id.startswith(_MANUAL):
        return ProvenanceTier.MANUAL
    return ProvenanceTier.PRODUCTION_OBSERVED if outcome_count > 0 else ProvenanceTier.DEVELOPMENT
