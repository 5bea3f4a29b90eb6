"""What time does: runs of jobs, tiers day by day and what moved between them, versions of the policy."""

from django.db import models
from django.db.models import F, Q

from senselab.accounts.models import Account


class JobState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobRun(models.Model):
    """One run of a job in an account. A run that changed nothing is followed by the next one in the same row."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    job = models.CharField(max_length=20)
    state = models.CharField(max_length=10, choices=JobState.choices)
    # Who asked for it; empty: the schedule did.
    asked_by = models.TextField(default="")
    # A dry run changes nothing and says what it would.
    dry = models.BooleanField(default=False)
    # What it was asked to do, and how far it has come when it takes more than one turn.
    terms = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    moved_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    looked = models.BigIntegerField(default=0)
    changed = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    cancelled = models.BooleanField(default=False)
    # How often the job failed in a row, this run included.
    failures = models.IntegerField(default=0)
    error = models.TextField(default="")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="a_run_is_in_a_state_we_know"),
        ]
        indexes = [
            models.Index("account", "job", F("id").desc(), name="runs_by_job"),
            models.Index("account", "id", condition=Q(state__in=("waiting", "running")), name="runs_under_way"),
        ]

    def __str__(self) -> str:
        return f"{self.job}, {self.state}"


class UploadPart(models.Model):
    """A piece of a file that waits for the run that takes it in; the worker may stand on another machine."""

    pk = models.CompositePrimaryKey("account_id", "run_id", "number")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    run_id = models.BigIntegerField()
    number = models.IntegerField()
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"part {self.number}"


class TierDay(models.Model):
    """How many entries stood in each tier of a branch at the end of a day (UTC), or so far today."""

    pk = models.CompositePrimaryKey("account_id", "branch", "day")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    branch = models.TextField(db_collation="C")
    day = models.DateField()
    hot = models.BigIntegerField()
    warm = models.BigIntegerField()
    cold = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.hot}, {self.warm}, {self.cold} on {self.day}"


class TierMove(models.Model):
    """An entry that rose or fell, with the parts of the priority that decided it; kept for two days."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    branch = models.TextField(db_collation="C")
    at = models.DateTimeField()
    before = models.SmallIntegerField()
    after = models.SmallIntegerField()
    # Its rank among the active entries of the branch; none when it was not ranked any more.
    place = models.IntegerField(null=True)
    importance = models.FloatField()
    recency = models.FloatField()
    frequency = models.FloatField()
    durability = models.FloatField()
    priority = models.FloatField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(before__in=(1, 2, 3), after__in=(1, 2, 3)) & ~Q(before=F("after")),
                name="a_move_leads_from_one_tier_to_another",
            ),
        ]
        indexes = [models.Index("account", "branch", F("at").desc(), F("id").desc(), name="tier_moves_by_time")]

    def __str__(self) -> str:
        return f"from {self.before} to {self.after}"


class PolicyVersion(models.Model):
    """The values of an account's policy from some moment on, who set them and why. Append-only."""

    pk = models.CompositePrimaryKey("account_id", "number")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    number = models.IntegerField()
    # What differs from the default, as on the account.
    values = models.JSONField(default=dict)
    actor = models.TextField(default="")
    reason = models.TextField(default="")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"policy {self.number}"
