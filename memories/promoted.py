"""What has proved itself: shared, active entries of high confidence, for a file that agents read."""

from datetime import datetime

from memories import search
from memories.rows import Row
from memories.rules import promotion
from memories.rules.kinds import EvidenceStatus, Status
from memories.rules.promotion import Rule
from memories.search import Search
from memories.viewers import Viewer
from senselab import unmasking

LEAST = 0.8
MOST = 2_000
TRUSTED = tuple(word.value for word in EvidenceStatus if word != EvidenceStatus.DISCREDITED)


def rows(
    viewer: Viewer, now: datetime, *, least: float = LEAST, entity_path: str = "", branch: str = "main"
) -> list[Row]:
    """Return what is promoted, at most 2,000, the surest first; effective confidence counts."""
    asked = Search(
        entity_path=entity_path or None,
        descendants=True,
        branch=branch,
        statuses=(Status.ACTIVE.value,),
        evidence=TRUSTED,
        min_confidence=least,
        artifacts=False,
        private=False,
        limit=MOST,
    )
    return search.find(asked, viewer, now)


def markdown(
    viewer: Viewer, now: datetime, *, least: float = LEAST, entity_path: str = "", branch: str = "main"
) -> str:
    """Return what is promoted as Markdown between two markers."""
    found = rows(viewer, now, least=least, entity_path=entity_path, branch=branch)
    rules = (Rule(unmasking.plain(row.entity_path), unmasking.plain(row.key), row.value) for row in found)
    return unmasking.plain(promotion.render(rules), is_name=False)
