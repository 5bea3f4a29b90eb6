"""What was done and what it left: change sets, versions and effects. The database refuses to change the latter two."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from memories.models.state import State, choices, probability
from memories.rules.kinds import Change
from senselab.accounts.models import Account


class ChangeSet(models.Model):
    """All versions made by one act: what undo undoes."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    actor_kind = models.CharField(max_length=10)
    actor = models.TextField()
    session_id = models.TextField(default="")
    reason = models.TextField(default="")
    # The outcome_ref, or whatever else brought it about.
    cause = models.TextField(default="")
    request_id = models.CharField(max_length=64, default="")
    at = models.DateTimeField()
    size = models.IntegerField()
    # When its reason was erased, as the change set of that says.
    erased_at = models.DateTimeField(null=True)
    undoes = models.ForeignKey(
        "self", null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(actor_kind__in=("agent", "person", "job")), name="an_actor_is_an_agent_a_person_or_a_job"
            ),
        ]
        indexes = [
            models.Index("account", F("at").desc(), F("id").desc(), name="change_sets_by_time"),
            models.Index("account", "undoes", condition=Q(undoes__isnull=False), name="change_sets_by_what_they_undo"),
            models.Index(
                "account",
                "actor",
                F("at").desc(),
                F("id").desc(),
                condition=Q(actor_kind="agent"),
                name="change_sets_by_agent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.actor}"


class Commit(models.Model):
    """A change set of many writes that stood or fell together, by a name clients pass on (contract.md 1.12)."""

    pk = models.CompositePrimaryKey("account_id", "id")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    id = models.CharField(max_length=12)
    change_set = models.ForeignKey(
        ChangeSet, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    branch = models.TextField(default="main", db_collation="C")
    # Over the content hashes of all it wrote, sorted (contract.md 3.15).
    tree_hash = models.CharField(max_length=64)
    # The commits of its branch that it stands on: none for the first.
    parent_ids = ArrayField(models.CharField(max_length=12), default=list)

    class Meta:
        indexes = [models.Index("account", "branch", F("change_set").desc(), name="commits_by_branch")]

    def __str__(self) -> str:
        return self.id


class EntryVersion(State):
    """One state of an entry. Append-only: a trigger refuses UPDATE and DELETE."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="versions"
    )
    number = models.IntegerField()
    claim = models.ForeignKey(
        "memories.Claim", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    change_set = models.ForeignKey(
        ChangeSet, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="versions"
    )
    change = models.CharField(max_length=12)
    at = models.DateTimeField()
    # The arithmetic: confidence before, the weight that moved it, and the policy it was moved by.
    before = models.FloatField(null=True)
    weight = models.FloatField(null=True)
    policy = models.CharField(max_length=60)
    integrity_chain = models.CharField(max_length=64)
    names_digest = models.BinaryField(max_length=32)
    content_digest = models.BinaryField(max_length=32)
    seal = models.BinaryField(max_length=32)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "entry", "number"], name="a_version_number_is_taken_once"),
            models.CheckConstraint(condition=Q(change__in=choices(Change)), name="a_change_is_one_we_know"),
            models.CheckConstraint(condition=probability("confidence"), name="a_versions_confidence_is_a_probability"),
        ]
        indexes = [models.Index("account", "change_set", name="versions_by_change_set")]

    def __str__(self) -> str:
        return f"v{self.number}"


class Effect(models.Model):
    """What one step of an outcome did to one entry, or why it did nothing. Append-only."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="effects"
    )
    # The outcome lives above; its ref, type and agent are copied so that `why` needs nobody above.
    outcome_id = models.BigIntegerField()
    outcome_ref = models.TextField()
    outcome_type = models.CharField(max_length=20)
    agent_id = models.TextField()
    step = models.IntegerField()
    at = models.DateTimeField()
    version_read = models.IntegerField(null=True)
    version_made = models.IntegerField(null=True)
    causal_confidence = models.FloatField()
    keys = models.IntegerField()
    verified = models.BooleanField()
    verified_by = models.TextField(default="")
    credit = models.FloatField(default=1.0)
    before = models.FloatField(null=True)
    weight = models.FloatField(null=True)
    after = models.FloatField(null=True)
    policy = models.CharField(max_length=60)
    # Empty when applied; else one of a few words: rewritten, replayed, expired.
    skipped = models.CharField(max_length=20, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "outcome_id", "step", "entry"], name="a_step_of_an_outcome_counts_once_for_an_entry"
            ),
            models.CheckConstraint(
                condition=(Q(skipped="") & Q(version_made__isnull=False, weight__isnull=False))
                | (~Q(skipped="") & Q(version_made__isnull=True)),
                name="an_effect_made_a_version_or_says_why_not",
            ),
        ]
        indexes = [models.Index("account", "entry", F("at").desc(), name="effects_by_entry")]

    def __str__(self) -> str:
        return f"{self.outcome_type} of {self.outcome_ref}"
