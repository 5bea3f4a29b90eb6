"""What each decision would do to an entry, before it is made; nothing is written."""

from dataclasses import dataclass
from datetime import datetime

from memories.rows import Row
from memories.rules.decisions import Word
from memories.rules.state import State
from memories.services import rollback, verdicts
from memories.services.acts import Act, Actor
from memories.services.rollback import head_for
from memories.viewers import Viewer


@dataclass(frozen=True, slots=True)
class Would:
    """Where a decision would leave an entry: confidence, effective confidence, status; `to_version` of a rollback."""

    word: Word
    confidence: float
    effective: float
    status: str
    to_version: int | None = None


def of(viewer: Viewer, entry_id: int, now: datetime, *, back: Row | None) -> dict[Word, Would]:
    """Return what accepting, rejecting, archiving and rolling back to the version `back` would do; one statement.

    :raises NotFound: there is no such entry for the viewer.
    """
    head = head_for(viewer, entry_id)
    act = Act("decision", Actor("person", ""), now, viewer.policy)
    would = {
        Word.ACCEPT: _would(Word.ACCEPT, verdicts.accepted(head, act, keeps=True).state),
        Word.REJECT: _would(Word.REJECT, verdicts.rejected(head, act).state),
        Word.ARCHIVE: _would(Word.ARCHIVE, verdicts.archived(head, act).state),
    }
    if back is not None:
        would[Word.ROLLBACK] = _would(Word.ROLLBACK, rollback.put_back(head, back.state), back.version)
    return would


def _would(word: Word, state: State, to_version: int | None = None) -> Would:
    return Would(word, state.confidence, state.confidence * state.freshness, state.status, to_version)
