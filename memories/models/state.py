"""What an entry is at one moment, as columns: the same on its head and on every version of its history."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from memories.rules.kinds import Change, EvidenceStatus, MemoryType, Status


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
    last_outcome = models.CharField(max_length=20, null=True)
    last_outcome_at = models.DateTimeField(null=True)
    discredited_at = models.DateTimeField(null=True)
    validators = ArrayField(models.TextField(), default=list)
    positive_reinforcement = models.IntegerField(default=0)
    negative_reinforcement = models.IntegerField(default=0)
    # The effective confidence a verdict kept this entry at; thresholds wait until it has fallen well below.
    held_at = models.FloatField(null=True)
    # The freshness kept at this moment, from which silence counts anew.
    freshness = models.FloatField(default=1.0)
    shared = models.BooleanField(default=True)
    pinned = models.BooleanField(default=False)
    ttl_at = models.DateTimeField(null=True)
    superseded_by = models.TextField(null=True)

    class Meta:
        abstract = True
