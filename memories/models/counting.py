"""What is counted about entries: recalls and readings, and the sums that figures come from."""

from django.db import models
from django.db.models.functions import Now

from senselab.accounts.models import Account


class Recall(models.Model):
    """How often an entry was recalled and the freshness that left: narrow, as it is written on every read."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.OneToOneField(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, related_name="recall", primary_key=True
    )
    recall_count = models.IntegerField(default=0)
    freshness = models.FloatField(default=1.0)
    accessed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.recall_count} recalls"


class Reading(models.Model):
    """Which agent read which version, by month, as the table is partitioned. Upserted on its key; no other index."""

    pk = models.CompositePrimaryKey("account_id", "month", "entry_id", "version", "agent_id", "session_id")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    month = models.DateField()
    entry = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="readings"
    )
    version = models.IntegerField()
    agent_id = models.TextField(db_collation="C")
    session_id = models.TextField(db_collation="C")
    count = models.IntegerField()
    first_at = models.DateTimeField(db_default=Now())
    last_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.agent_id} read v{self.version}"


class Sums(models.Model):
    """Figures of one author's entries under one path; but for superseded and archived they count what lists show."""

    branch = models.TextField(db_collation="C")
    entity_path = models.TextField(db_collation="C")
    agent_id = models.TextField(db_collation="C")
    owner = models.TextField(db_collation="C")
    entries = models.BigIntegerField(default=0)
    under_review = models.BigIntegerField(default=0)
    superseded = models.BigIntegerField(default=0)
    archived = models.BigIntegerField(default=0)
    untested = models.BigIntegerField(default=0)
    validated = models.BigIntegerField(default=0)
    contested = models.BigIntegerField(default=0)
    discredited = models.BigIntegerField(default=0)
    hot = models.BigIntegerField(default=0)
    warm = models.BigIntegerField(default=0)
    cold = models.BigIntegerField(default=0)
    facts = models.BigIntegerField(default=0)
    beliefs = models.BigIntegerField(default=0)
    experiences = models.BigIntegerField(default=0)
    procedures = models.BigIntegerField(default=0)
    outcome_linked = models.BigIntegerField(default=0)
    # Whole numbers, so that adding and taking away a million times leaves nothing behind.
    confidence_nanos = models.BigIntegerField(default=0)
    recalls = models.BigIntegerField(default=0)
    tokens_saved = models.BigIntegerField(default=0)

    class Meta:
        abstract = True


class Counter(Sums):
    """Sums, folded: one row for each author under each path."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "branch", "entity_path", "agent_id", "owner"],
                name="an_author_is_summed_once_under_a_path",
            )
        ]

    def __str__(self) -> str:
        return f"{self.entries} under {self.entity_path}"


class CounterDelta(Sums):
    """What writes added to the sums and nobody folded yet; inserted by a trigger in the write's own statement."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)

    class Meta:
        indexes = [
            models.Index("account", "id", name="deltas_of_writes", condition=models.Q(recalls=0)),
        ]

    def __str__(self) -> str:
        return f"{self.entries:+d} under {self.entity_path}"


class Folding(models.Model):
    """Another mark whenever the folded sums of an account changed, set by a trigger: who kept sums asks whether it is
    still the same."""

    # Without a constraint of its own: a trigger writes it beside the sums, which have one.
    account = models.OneToOneField(
        Account, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", primary_key=True
    )
    mark = models.UUIDField()

    def __str__(self) -> str:
        return f"folded as {self.mark}"
