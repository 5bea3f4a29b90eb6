"""What the last nightly check of an account found, in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memories.models import JobRun
from memories.models.time import JobState

# So many findings are kept with a run; `manage.py verify` names all.
KEPT = 50
# So many of them stand on the overview.
SHOWN = 3
JOB = "verify"


@dataclass(frozen=True, slots=True)
class Altered:
    """Something that does not fit: which entry, which version (None: the whole entry, or a sum), and what."""

    where: str
    version: int | None
    words: str

    @property
    def place(self) -> str:
        return self.where if self.version is None else f"{self.where} v{self.version}"


@dataclass(frozen=True, slots=True)
class Checked:
    """The last check that came to its end: when, of how many versions, how much does not fit, and the first of it."""

    account_id: int
    at: datetime | None
    versions: int
    count: int
    first: list[Altered]


def last_checks(account_ids: Sequence[int]) -> list[Checked]:
    """Return the last check of each account that had one."""
    ended = JobRun.objects.filter(account_id__in=list(account_ids), job=JOB, state=JobState.DONE, dry=False)
    newest = ended.order_by("account_id", "-id").distinct("account_id")
    return [checked(run) for run in newest]


def checked(run: JobRun) -> Checked:
    found: list[Any] = run.terms.get("found", [])
    return Checked(run.account_id, run.finished_at, run.looked, run.changed, [Altered(*one) for one in found])


def words(account_id: int) -> list[str]:
    """Return what the last check of an account found altered, a sentence each; nothing when all fits."""
    told = []
    for check in last_checks([account_id]):
        told += [f"{one.place} was altered behind our back: {one.words}." for one in check.first[:SHOWN]]
        if check.count > SHOWN:
            told.append(f"{check.count - SHOWN:,} more things do not fit; manage.py verify names all.")
    return told
