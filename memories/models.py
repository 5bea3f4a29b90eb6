"""What agents have learned: the head of each entry, what was claimed, and a history the database refuses to change.

Foreign keys between these tables carry the account (``(account_id, entry_id)``), and so do their primary keys; Django knows
neither, so migration 0002 makes both. A query that names the account uses them; a test refuses any that does not.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from memories.querysets import ChangeSets, Effects, Entries, Versions
from memories.review_models import BulkItem, BulkRun, Comment, Evidence, ReviewMark, ReviewTrace
from memories.rules.policy import Change, EvidenceStatus, MemoryType, Status
from senselab.accounts.models import Account

__all__ = [
    "BulkItem",
    "BulkRun",
    "ChangeSet",
    "Claim",
    "Comment",
    "Counter",
    "CounterDelta",
    "Effect",
    "Entry",
    "EntryText",
    "EntryVersion",
    "Evidence",
    "Reading",
    "Recall",
    "ReviewMark",
    "ReviewTrace",
]


def probability(name: str) -> Q:
    return Q(**{f"{name}__gte": 0.0, f"{name}__lte": 1.0})


def choices(words: type[MemoryType] | type[Status] | type[EvidenceStatus] | type[Change]) -> list[str]:
    return [word.value for word in words]


class State(models.Model):
    """What an entry is at one moment (RULES.md 1): the same columns on the head and on every version."""

    memory_type = models.CharField(max_length=10)
    status = models.CharField(max_length=12)
    evidence_status = models.CharField(max_length=11)
    confidence = models.FloatField()
    # Behind confidence: its prior (none before the first outcome or feedback) and two masses of evidence.
    triple_prior = models.FloatField(null=True)
    triple_success = models.FloatField(default=0.0)
    triple_failure = models.FloatField(default=0.0)
    # The record: what outcomes alone move.
    outcome_count = models.IntegerField(default=0)
    success_count = models.IntegerField(default=0)
    failure_count = models.IntegerField(default=0)
    evidence_success = models.FloatField(default=0.0)
    evidence_failure = models.FloatField(default=0.0)
    prior_confidence = models.FloatField(null=True)
    last_outcome = models.CharField(max_length=20, null=True)  # noqa: DJ001 - null on the wire as well
    last_outcome_at = models.DateTimeField(null=True)
    discredited_at = models.DateTimeField(null=True)
    validators = ArrayField(models.TextField(), default=list)
    positive_reinforcement = models.IntegerField(default=0)
    negative_reinforcement = models.IntegerField(default=0)
    # The effective confidence a verdict kept this entry at; thresholds wait until it has fallen well below (RULES.md 3).
    held_at = models.FloatField(null=True)
    # The freshness kept at this moment, from which silence counts anew.
    freshness = models.FloatField(default=1.0)
    shared = models.BooleanField(default=True)
    pinned = models.BooleanField(default=False)
    ttl_at = models.DateTimeField(null=True)
    superseded_by = models.TextField(null=True)  # noqa: DJ001 - an entry key, or nothing

    class Meta:
        abstract = True


class Entry(State):
    """One thing learned: the current version's state and what changes in place."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    branch = models.TextField(default="main", db_collation="C")
    entity_path = models.TextField(db_collation="C")
    key = models.TextField(db_collation="C")
    # The author of a private entry, '' of a shared one.
    owner = models.TextField(default="", blank=True, db_collation="C")
    version = models.IntegerField()
    claim = models.ForeignKey("Claim", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    # Of the claim, here to be filtered and sorted by.
    agent_id = models.TextField(db_collation="C")
    written_at = models.DateTimeField()
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    # The last write, outcome or feedback; recalls keep their own moment in Recall.
    accessed_at = models.DateTimeField()
    # Effective confidence when it was last refreshed: sorts and cursors stand on it, filters compute the exact value.
    settled_confidence = models.FloatField()
    # When effective confidence next crosses a threshold if nothing happens.
    due_at = models.DateTimeField(null=True)
    tier = models.SmallIntegerField(default=3)
    importance_score = models.FloatField(null=True)
    importance_dimensions = models.JSONField(null=True)
    salt = models.BinaryField(max_length=16)
    # Seal and chain of the current version, so that the next one can be linked without reading it.
    seal = models.BinaryField(max_length=32)
    integrity_chain = models.CharField(max_length=64)

    objects = Entries.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "branch", "entity_path", "key", "owner"],
                name="an_entry_key_is_taken_once_in_an_account_and_branch",
            ),
            models.CheckConstraint(condition=probability("confidence"), name="confidence_is_a_probability"),
            models.CheckConstraint(
                condition=Q(evidence_success__gte=0.0, evidence_failure__gte=0.0, triple_success__gte=0.0)
                & Q(triple_failure__gte=0.0),
                name="masses_of_evidence_are_never_negative",
            ),
            models.CheckConstraint(
                condition=Q(outcome_count=F("success_count") + F("failure_count"), success_count__gte=0)
                & Q(failure_count__gte=0),
                name="every_outcome_is_a_success_or_a_failure",
            ),
            models.CheckConstraint(condition=Q(freshness__gt=0.0, freshness__lte=1.0), name="freshness_never_reaches_0"),
            models.CheckConstraint(condition=Q(status__in=choices(Status)), name="a_status_is_one_we_know"),
            models.CheckConstraint(
                condition=Q(evidence_status__in=choices(EvidenceStatus)), name="an_evidence_status_is_one_we_know"
            ),
            models.CheckConstraint(condition=Q(memory_type__in=choices(MemoryType)), name="a_type_is_one_we_know"),
            models.CheckConstraint(condition=Q(tier__in=(1, 2, 3)), name="a_tier_is_hot_warm_or_archive"),
            models.CheckConstraint(condition=Q(version__gte=1), name="versions_count_from_1"),
            models.CheckConstraint(
                condition=Q(shared=True, owner="") | (Q(shared=False) & ~Q(owner="")),
                name="a_private_entry_belongs_to_its_author",
            ),
            models.CheckConstraint(
                condition=Q(importance_score__isnull=True) | probability("importance_score"),
                name="importance_is_between_0_and_1",
            ),
        ]
        indexes = [
            models.Index("account", "branch", F("settled_confidence").desc(), "id", name="entries_by_confidence"),
            models.Index("account", "branch", F("written_at").desc(), F("id").desc(), name="entries_by_age"),
            models.Index("account", "branch", "agent_id", F("written_at").desc(), name="entries_by_agent"),
            models.Index("account", "due_at", condition=Q(due_at__isnull=False), name="entries_due"),
            models.Index("account", "ttl_at", condition=Q(ttl_at__isnull=False), name="entries_expiring"),
            models.Index(
                "account",
                "branch",
                "settled_confidence",
                condition=~Q(status="active") | Q(evidence_status__in=["contested", "discredited"]),
                name="entries_in_doubt",
            ),
            # What the review queue may hold; which of it was seen already, the marks tell (memories.review).
            models.Index(
                "account",
                "branch",
                "settled_confidence",
                "id",
                condition=Q(status="under_review")
                | (
                    Q(status="active")
                    & (Q(evidence_status__in=["contested", "discredited"]) | Q(negative_reinforcement__gt=0))
                ),
                name="entries_in_question",
            ),
            models.Index(
                "account", "branch", "superseded_by", condition=Q(superseded_by__isnull=False), name="entries_replaced"
            ),
            models.Index("account", "branch", "tier", "id", condition=Q(tier__lt=3), name="entries_hot_and_warm"),
            models.Index(
                "account", "branch", "owner", "entity_path", "key", condition=~Q(owner=""), name="private_entries"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.entity_path}/{self.key}"


class Claim(models.Model):
    """What somebody said, when: the value as the JSON text it came as, and what belongs to its names."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.ForeignKey(Entry, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    value = models.TextField()
    is_artifact = models.BooleanField(default=False)
    agent_id = models.TextField()
    session_id = models.TextField()
    written_at = models.DateTimeField()
    pattern_refs = ArrayField(models.TextField(), default=list)
    artifact_refs = models.JSONField(default=list)
    embedding = ArrayField(models.FloatField(), null=True)
    # Equal for two values that say the same (RULES.md 7).
    digest = models.BinaryField(max_length=32)
    salt = models.BinaryField(max_length=16)
    content_hash = models.CharField(max_length=64)
    # SHA-256 of salt, value and references: what the seals of all versions of this claim stand on.
    content = models.BinaryField(max_length=32)

    def __str__(self) -> str:
        return f"claim {self.pk}"


class EntryText(models.Model):
    """The words of an entry's current claim; written only when the claim changes, so that outcomes leave its index alone."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.OneToOneField(
        Entry, on_delete=models.DO_NOTHING, db_constraint=False, related_name="text", primary_key=True
    )
    words = SearchVectorField()

    class Meta:
        indexes = [GinIndex("account", "words", name="entries_by_words")]

    def __str__(self) -> str:
        return f"words of {self.entry_id}"


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
    undoes = models.ForeignKey("self", null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")

    objects = ChangeSets.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(actor_kind__in=("agent", "person", "job")), name="an_actor_is_an_agent_a_person_or_a_job"
            ),
        ]
        indexes = [
            models.Index("account", F("at").desc(), F("id").desc(), name="change_sets_by_time"),
            models.Index("account", "undoes", condition=Q(undoes__isnull=False), name="change_sets_by_what_they_undo"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.actor}"


class EntryVersion(State):
    """One state of an entry. Append-only: a trigger refuses UPDATE and DELETE."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.ForeignKey(Entry, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="versions")
    number = models.IntegerField()
    claim = models.ForeignKey(Claim, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    change_set = models.ForeignKey(ChangeSet, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="versions")
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

    objects = Versions.as_manager()

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
    entry = models.ForeignKey(Entry, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="effects")
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

    objects = Effects.as_manager()

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


class Recall(models.Model):
    """How often an entry was recalled and the freshness that left: narrow, as it is written on every read."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.OneToOneField(
        Entry, on_delete=models.DO_NOTHING, db_constraint=False, related_name="recall", primary_key=True
    )
    recall_count = models.IntegerField(default=0)
    freshness = models.FloatField(default=1.0)
    accessed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.recall_count} recalls"


class Reading(models.Model):
    """Which agent read which version, month by month. Upserted on its primary key; no other index."""

    pk = models.CompositePrimaryKey("account_id", "month", "entry_id", "version", "agent_id", "session_id")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    month = models.DateField()
    entry = models.ForeignKey(
        Entry, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="readings"
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
    """Figures of the entries of one author under one path; those beside `superseded` and `archived` count what lists show."""

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
        indexes = [models.Index("account", "id", name="deltas_to_fold")]

    def __str__(self) -> str:
        return f"{self.entries:+d} under {self.entity_path}"
