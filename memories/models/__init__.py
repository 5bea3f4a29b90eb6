"""What agents have learned: the head of each entry, what was claimed, and a history the database refuses to change.

Foreign keys between these tables carry the account (``(account_id, entry_id)``), and so do their primary keys; Django
knows neither, so migration 0002 makes both. A query that names the account uses them; a test refuses any that does not.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from memories.models.counting import Counter, CounterDelta, Folding, Reading, Recall
from memories.models.history import ChangeSet, Commit, Effect, EntryVersion
from memories.models.likeness import AlikePair
from memories.models.review import BulkItem, BulkRun, Comment, Evidence, ReviewMark, ReviewTrace
from memories.models.state import State, choices, probability
from memories.models.time import JobRun, PolicyVersion, TierDay, TierMove, UploadPart
from memories.rules.kinds import EvidenceStatus, MemoryType, Status
from senselab.accounts.models import Account

__all__ = [
    "AlikePair",
    "BulkItem",
    "BulkRun",
    "ChangeSet",
    "Claim",
    "Comment",
    "Commit",
    "Counter",
    "CounterDelta",
    "Effect",
    "Entry",
    "EntryText",
    "EntryVersion",
    "Evidence",
    "Folding",
    "JobRun",
    "PolicyVersion",
    "Reading",
    "Recall",
    "ReviewMark",
    "ReviewTrace",
    "TierDay",
    "TierMove",
    "UploadPart",
]


class Entry(State):
    """One thing learned: the current version's state and what changes in place."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    branch = models.TextField(default="main", db_collation="C")
    entity_path = models.TextField(db_collation="C")
    key = models.TextField(db_collation="C")
    # The author of a private entry, '' of a shared one.
    owner = models.TextField(default="", blank=True, db_collation="C")
    # Whose private entry it was before it was published, so that undoing that gives it back.
    was_owner = models.TextField(default="", db_default="", blank=True, db_collation="C")
    version = models.IntegerField()
    claim = models.ForeignKey(
        "Claim", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
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
    # When names of its were erased: those sealed up to then fit no more, and its salt is another one since.
    renamed_at = models.DateTimeField(null=True)
    # Under review because of who wrote it, until an outcome verified from outside or a person takes it out.
    on_probation = models.BooleanField(default=False, db_default=False)

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
            models.CheckConstraint(
                condition=Q(freshness__gt=0.0, freshness__lte=1.0), name="freshness_never_reaches_0"
            ),
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
    # When its value was erased, as the version of its entry says that stands for it since.
    erased_at = models.DateTimeField(null=True)

    class Meta:
        # Who refers to what; claims without a reference cost nothing.
        indexes = [
            GinIndex("account", "pattern_refs", condition=~Q(pattern_refs=[]), name="claims_by_reference"),
        ]

    def __str__(self) -> str:
        return f"claim {self.pk}"


class EntryText(models.Model):
    """What an entry's current claim is found by (memories.rules.wordings).

    Written when the claim changes, so that outcomes leave its indexes alone.
    """

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    entry = models.OneToOneField(
        Entry, on_delete=models.DO_NOTHING, db_constraint=False, related_name="text", primary_key=True
    )
    words = SearchVectorField()
    # Path and key, folded, to be found by parts of words.
    name = models.TextField(default="", db_default="", blank=True)
    # When the claim changed last: what jobs have not looked at since.
    reworded_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index("account", "reworded_at", name="entries_by_rewording"),
            GinIndex("account", "words", name="entries_by_words"),
            GinIndex("account", OpClass(F("name"), name="gin_trgm_ops"), name="entries_by_parts_of_names"),
        ]

    def __str__(self) -> str:
        return f"words of {self.entry_id}"
