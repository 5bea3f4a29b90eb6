"""What agents tell beside their outcomes: traces, events on a timeline, and edges between what they know.

What another table knows already is not kept here again: writes and outcomes on a timeline are computed from change sets
and outcomes, and a trace that an outcome's own row can tell has no body.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from senselab.accounts.models import Account


class Trace(models.Model):
    """What an agent read, did and reported on the way to one outcome; one for each outcome_ref, session and agent.

    Partitioned by the month of created_at: each partition has a unique index over these, which no constraint of the
    whole table can be.
    """

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    id = models.UUIDField(primary_key=True, db_default=RandomUUID(), editable=False)
    agent_id = models.TextField(db_collation="C")
    session_id = models.TextField(default="", db_collation="C")
    outcome_ref = models.TextField(default="", db_collation="C")
    outcome_type = models.CharField(max_length=20, default="")
    branch = models.TextField(default="main", db_collation="C")
    # The outcome it led to, when that was told here.
    outcome_id = models.BigIntegerField(null=True)
    # The JSON text it came as, unknown members included; null when the outcome's own row says all there is.
    body = models.TextField(null=True)
    entity_paths = ArrayField(models.TextField(), default=list)
    # The entries it relied on and who wrote them, side by side.
    causal_keys = ArrayField(models.TextField(), default=list)
    causal_authors = ArrayField(models.TextField(), default=list)
    tool_calls = models.IntegerField(default=0)
    errors = models.IntegerField(default=0)
    duration_ms = models.FloatField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index("account", F("created_at").desc(), F("id").desc(), name="traces_by_time"),
            models.Index("account", "agent_id", F("created_at").desc(), F("id").desc(), name="traces_by_agent"),
            models.Index("account", "outcome_id", condition=Q(outcome_id__isnull=False), name="traces_by_outcome"),
            GinIndex("account", "entity_paths", name="traces_by_path"),
        ]

    def __str__(self) -> str:
        return f"trace of {self.outcome_ref}"


class Event(models.Model):
    """Something a client says happened, on the timeline of one agent; the entry it names stands in columns as well.

    Partitioned by the month of created_at.
    """

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    agent_id = models.TextField(db_collation="C")
    branch = models.TextField(default="main", db_collation="C")
    event_type = models.CharField(max_length=40)
    summary = models.TextField(default="")
    details = models.JSONField(default=dict)
    actor_agent_id = models.TextField(default="", db_collation="C")
    entity_path = models.TextField(default="", db_collation="C")
    key = models.TextField(default="", db_collation="C")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index("account", "agent_id", F("created_at").desc(), F("id").desc(), name="events_by_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} of {self.agent_id}"


class Edge(models.Model):
    """That one thing has to do with another, as one agent tells it; told again it counts again, and no index holds what
    that changes."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    # SHA-256 of branch, source, relation, target and teller: together they are longer than an index row may be.
    digest = models.BinaryField(max_length=32)
    branch = models.TextField(default="main", db_collation="C")
    source_entity = models.TextField(db_collation="C")
    source_type = models.TextField(default="entry", db_collation="C")
    relation = models.TextField(db_collation="C")
    target_entity = models.TextField(db_collation="C")
    target_type = models.TextField(default="entry", db_collation="C")
    confidence = models.FloatField(default=1.0)
    evidence_count = models.IntegerField(default=1)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    provenance = models.JSONField(default=dict)
    # Who told it; null of what was told before that was kept.
    agent_id = models.TextField(null=True, db_collation="C")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "digest"], name="an_edge_is_kept_once"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0.0, confidence__lte=1.0), name="an_edges_confidence_is_a_probability"
            ),
        ]
        indexes = [
            models.Index("account", "branch", "source_entity", name="edges_by_source"),
            models.Index("account", "branch", "target_entity", name="edges_by_target"),
        ]

    def __str__(self) -> str:
        return f"{self.source_entity} {self.relation} {self.target_entity}"
