"""How tasks ended that relied on entries. Each is stored once; its effects live with the entries (memories.Effect)."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from memories.rules.policy import OutcomeType
from outcomes.models.tasks import TaskText
from outcomes.models.telling import Edge, Event, Trace
from outcomes.querysets import Outcomes
from senselab.accounts.models import Account

__all__ = ["Edge", "Event", "Outcome", "TaskText", "Trace"]


class Outcome(models.Model):
    """How a task ended. The same outcome sent again finds its digest taken and changes nothing."""

    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    # SHA-256 of what makes two outcomes the same (RULES.md 2).
    digest = models.BinaryField(max_length=32)
    outcome_ref = models.TextField(db_collation="C")
    outcome_type = models.CharField(max_length=20)
    agent_id = models.TextField(db_collation="C")
    session_id = models.TextField(default="")
    branch = models.TextField(default="main", db_collation="C")
    causal_confidence = models.FloatField()
    verified_by = models.TextField(default="")
    replayed = models.BooleanField(default=False)
    committed_at = models.DateTimeField()
    causal_entry_keys = ArrayField(models.TextField(), default=list)
    causal_entry_versions = models.JSONField(default=dict)
    attempts = models.JSONField(default=list)
    final_action_index = models.IntegerField(null=True)
    actions_taken = models.JSONField(default=list)
    entity_paths = ArrayField(models.TextField(), default=list)
    situation = models.TextField(null=True)
    covariates = models.JSONField(default=dict)
    task_input = models.TextField(null=True)
    response_text = models.TextField(null=True)
    tool_calls = models.JSONField(default=list)
    session_metadata = models.JSONField(null=True)
    trace_follows = models.BooleanField(default=False)

    objects = Outcomes.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "digest"], name="an_outcome_is_stored_once"),
            models.CheckConstraint(
                condition=Q(outcome_type__in=[word.value for word in OutcomeType]),
                name="an_outcome_type_is_one_we_know",
            ),
            models.CheckConstraint(
                condition=Q(causal_confidence__gte=0.0, causal_confidence__lte=1.0),
                name="causal_confidence_is_a_probability",
            ),
        ]
        indexes = [
            models.Index("account", F("committed_at").desc(), F("id").desc(), name="outcomes_by_time"),
            models.Index("account", "outcome_ref", name="outcomes_by_ref"),
            models.Index("account", "agent_id", F("committed_at").desc(), F("id").desc(), name="outcomes_by_agent"),
            GinIndex("account", "entity_paths", name="outcomes_by_path"),
        ]

    def __str__(self) -> str:
        return f"{self.outcome_type} of {self.outcome_ref}"
