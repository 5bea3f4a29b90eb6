"""What people decided about entries, and what there is to decide by: evidence, marks of the queue, comments, bulk runs.

Foreign keys and primary keys carry the account; migration 0003 makes what Django cannot.
"""

from django.db import models
from django.db.models import F, Q

from senselab.accounts.models import Account

STATES = ("waiting", "running", "finished", "cancelled")
ITEM_STATES = ("waiting", "done", "failed")


class Evidence(models.Model):
    """Something observed about an entry that is no outcome. Append-only; an observation counts once for an entry."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="evidence"
    )
    # Empty when the observer names none; then it is counted each time.
    observation_id = models.TextField(default="", db_collation="C")
    # When it was observed, as told; added_at is when we heard of it.
    at = models.DateTimeField()
    added_at = models.DateTimeField()
    description = models.TextField()
    delta = models.FloatField()
    actor_kind = models.CharField(max_length=10)
    actor = models.TextField()
    version_made = models.IntegerField()
    change_set_id = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "entry", "observation_id"],
                condition=~Q(observation_id=""),
                name="an_observation_counts_once_for_an_entry",
            ),
            models.CheckConstraint(condition=Q(delta__gte=-1.0, delta__lte=1.0), name="evidence_moves_by_at_most_1"),
        ]
        indexes = [models.Index("account", "entry", F("id").desc(), name="evidence_by_entry")]

    def __str__(self) -> str:
        return self.description[:40]


class Mark(models.Model):
    """What of an entry's doubts was decided about already, and since when it waits."""

    # The version a decision made: what contradicted the entry up to there was seen (none: nothing was).
    seen_version = models.IntegerField(null=True)
    # The time to live that was seen running out.
    seen_expiry = models.DateTimeField(null=True)
    # The version a snooze made; it lasts until the moment, or until contradicted (then there is no moment).
    snoozed_version = models.IntegerField(null=True)
    snoozed_until = models.DateTimeField(null=True)
    # Who sent it to review: then no outcome ends the review. Empty: nobody did.
    sent_by = models.TextField(default="")

    class Meta:
        abstract = True


class ReviewMark(Mark):
    """The mark of an entry, who has it open just now, and the place an undo put it back to."""

    pk = models.CompositePrimaryKey("account_id", "entry_id")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    # As long as the entry stands at this version, it has been waiting since place_at.
    place_version = models.IntegerField(null=True)
    place_at = models.DateTimeField(null=True)
    claimed_by = models.TextField(default="")
    claimed_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"mark of {self.entry_id}"


class ReviewTrace(Mark):
    """The mark an entry had before a change set, with its silence and its place: undo puts all of it back."""

    pk = models.CompositePrimaryKey("account_id", "change_set_id", "entry_id")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    change_set = models.ForeignKey(
        "memories.ChangeSet", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    entry = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    freshness = models.FloatField()
    accessed_at = models.DateTimeField()
    waiting_since = models.DateTimeField()

    def __str__(self) -> str:
        return f"trace of {self.entry_id}"


class Comment(models.Model):
    """What a person said about an entry. Append-only; its change set, undone, takes it out of sight."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="comments"
    )
    change_set = models.ForeignKey(
        "memories.ChangeSet", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    actor = models.TextField()
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index("account", "entry", F("id").desc(), name="comments_by_entry"),
            models.Index("account", "change_set", name="comments_by_change_set"),
        ]

    def __str__(self) -> str:
        return self.text[:40]


class BulkRun(models.Model):
    """A decision about many entries on its way: who decided what, and how far it is."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    decision = models.CharField(max_length=12)
    # The decision's parameters as JSON, and what was selected, in words.
    terms = models.JSONField(default=dict)
    selected = models.TextField(default="")
    kind = models.CharField(max_length=20)
    cause = models.TextField(default="")
    reason = models.TextField(default="")
    actor_kind = models.CharField(max_length=10)
    actor = models.TextField()
    author = models.TextField()
    request_id = models.CharField(max_length=64, default="")
    undoes = models.BigIntegerField(null=True)
    # Whether the one who decided sees every entry, as people do.
    sees_all = models.BooleanField()
    change_set_id = models.BigIntegerField(null=True)
    state = models.CharField(max_length=10, default="waiting")
    cancelled = models.BooleanField(default=False)
    total = models.IntegerField()
    done = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    # The last batch: a run that is running and has not moved for long has lost its worker.
    moved_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=STATES), name="a_run_is_waiting_running_finished_or_cancelled"
            ),
        ]
        indexes = [models.Index("account", F("id").desc(), name="runs_by_age")]

    def __str__(self) -> str:
        return f"{self.decision} of {self.total}"


class BulkItem(models.Model):
    """One entry of a bulk run: the version that was seen, and why it failed if it did."""

    pk = models.CompositePrimaryKey("account_id", "run_id", "entry_id")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    run = models.ForeignKey(BulkRun, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    entry = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    version = models.IntegerField()
    # Where to go back to, for a decision that does; none: the entry did not exist before.
    to_version = models.IntegerField(null=True)
    state = models.CharField(max_length=7, default="waiting")
    why = models.TextField(default="")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=ITEM_STATES), name="an_item_is_waiting_done_or_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.entry_id}"
