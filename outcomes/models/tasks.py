"""What past tasks were about, kept beside their outcomes so that tasks like them are found."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F

from senselab.accounts.models import Account


class TaskText(models.Model):
    """What a task was about, by its terms, once for each entity it touched ('' for none): tasks like it are found here.

    Made from the outcome and nothing else; it can be made again.
    """

    pk = models.CompositePrimaryKey("account_id", "outcome_id", "entity_path")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    outcome_id = models.BigIntegerField()
    entity_path = models.TextField(default="", db_collation="C")
    branch = models.TextField(default="main", db_collation="C")
    at = models.DateTimeField()
    terms = ArrayField(models.TextField(), default=list)

    class Meta:
        indexes = [
            models.Index("account", "branch", "entity_path", F("at").desc(), name="tasks_by_entity"),
            models.Index("account", "branch", F("at").desc(), name="tasks_by_time"),
            GinIndex("account", "terms", name="tasks_by_terms"),
        ]

    def __str__(self) -> str:
        return f"task of outcome {self.outcome_id}"
