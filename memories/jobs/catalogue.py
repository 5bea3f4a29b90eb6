"""Which jobs there are: what each does in words, how often, and its functions."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memories import figures
from memories.jobs import (
    dry,
    embedding,
    evaluating,
    flagging,
    importing,
    likeness,
    places,
    policies,
    refreshing,
    retaining,
    runs,
    tiering,
    verifying,
)
from memories.jobs.accounts import Work
from memories.jobs.runs import Run
from memories.services import staging, uploads
from senselab.accounts.models import Account

Foresee = Callable[[Account, datetime], dry.Looked]


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its word, what it does, the schedule that runs it ('': only when asked), and its rhythm."""

    name: str
    word: str
    does: str
    schedule: str
    minutes: int
    rhythm: str
    work: Work
    foresee: Foresee | None

    @property
    def can_foresee(self) -> bool:
        return self.foresee is not None


def fold(account: Account, now: datetime, run: Run) -> None:
    """Fold what writes added to the sums, and drop moves, days and runs that nobody looks at any more."""
    folded = figures.fold(account.pk)
    tiering.forget(account.pk, now)
    runs.forget(account.pk, now)
    uploads.drop_left(account.pk)
    staging.drop_left(now)
    run.step(looked=folded, changed=folded)


JOBS = {
    job.name: job
    for job in (
        Job(
            "expire", "Expiry", "Archives what outlived its time to live; reads stop finding it at once.",
            "expire", 1, "each minute", places.expire, dry.expire,
        ),
        Job(
            "retier", "Tiers", "Ranks active entries by priority and moves them between hot, warm and archive.",
            "tiers", 1, "twice a minute", tiering.retier, dry.retier,
        ),
        Job(
            "fold", "Sums", "Folds what writes added to the figures; these are exact before and after.",
            "fold", 1, "each minute", fold, dry.fold,
        ),
        Job(
            "decay", "Decay", "Moves what silence wore down below a threshold.",
            "decay", 60, "each hour", places.decay, dry.decay,
        ),
        Job(
            "refresh", "Sorting", "Stores effective confidence anew, by which lists are sorted.",
            "decay", 60, "each hour", refreshing.refresh, dry.refresh,
        ),
        Job(
            "importance", "Importance", "Lets the evaluator score what nobody scored, while one is turned on.",
            "importance", 60, "each hour", evaluating.evaluate, dry.importance,
        ),
        Job(
            "embed", "Vectors", "Gives entries vectors of what they say, where a model is installed.",
            "embed", 1, "each minute", embedding.embed, dry.embed,
        ),
        Job(
            "compare", "Pairs", "Finds entries of one entity that say nearly the same, or the opposite.",
            "compare", 5, "every five minutes", likeness.compare_new, None,
        ),
        Job(
            "secrets", "Keys and tokens", "Sends entries to review that seem to hold a key or a token.",
            "secrets", 1, "each minute", flagging.flag, None,
        ),
        Job(
            "policy", "Policy", "Applies a policy that was saved: next crossings, status and tiers of every entry.",
            "", 0, "when a policy is saved", policies.apply, None,
        ),
        Job(
            "import", "Import", "Takes in a history that was uploaded, all of it or nothing.",
            "", 0, "when a file is uploaded", importing.take_in, None,
        ),
        Job(
            "retain", "Retention", "Deletes readings, events and traces older than the policy keeps them.",
            "retain", 1440, "each night", retaining.retain, None,
        ),
        Job(
            "verify", "Check", "Recomputes every entry from its ledger and every seal; says what was altered.",
            "verify", 1440, "each night", verifying.verify, None,
        ),
    )
}  # fmt: skip

# By name: the function and its rhythm in minutes. Ranking runs twice a minute, as the scheduler looks every half.
SCHEDULES = {
    "expire": ("memories.jobs.expire", 1),
    "tiers": ("memories.jobs.tiers", 1),
    "tiers between": ("memories.jobs.tiers", 1),
    "fold": ("memories.jobs.fold", 1),
    "asked": ("memories.jobs.asked", 1),
    "embed": ("memories.jobs.embed", 1),
    "compare": ("memories.jobs.compare", 5),
    "secrets": ("memories.jobs.secrets", 1),
    "decay": ("memories.jobs.decay", 60),
    "importance": ("memories.jobs.importance", 60),
    "verify": ("memories.jobs.verify", 1440),
    "retain": ("memories.jobs.retain", 1440),
    "clear": ("memories.jobs.clear", 1440),
}
# At which hour of the day (UTC) a schedule runs first; the others run at once.
HOURS = {"clear": 0, "retain": 1, "verify": 2}
# Seconds after which a job counts as stuck where the usual five minutes are too few.
LONGEST = {"verify": 6 * 3600, "retain": 3600, "asked": 3600}
# Seconds by which the first run of a schedule comes later than the others'.
OFFSETS = {"tiers between": 30}
