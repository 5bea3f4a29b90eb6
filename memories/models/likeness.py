"""Pairs of entries of one entity that say nearly the same, or the opposite."""

from django.db import models
from django.db.models import F, Q

from senselab.accounts.models import Account


class AlikePair(models.Model):
    """Two entries that are alike by the claims they had then; the smaller id comes first."""

    pk = models.CompositePrimaryKey("account_id", "one_id", "other_id")
    account = models.ForeignKey(Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False)
    one = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    other = models.ForeignKey(
        "memories.Entry", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    one_claim = models.BigIntegerField()
    other_claim = models.BigIntegerField()
    kind = models.CharField(max_length=8)
    score = models.FloatField()
    why = models.TextField()
    found_at = models.DateTimeField()
    # Who said that both shall stay as they are.
    dismissed_by = models.TextField(default="")
    dismissed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["same", "opposite"]), name="a_pair_is_alike_or_opposite"),
            models.CheckConstraint(condition=Q(one__lt=F("other")), name="a_pair_is_kept_once"),
        ]
        indexes = [
            models.Index(
                "account",
                F("found_at").desc(),
                condition=Q(dismissed_at__isnull=True),
                name="pairs_to_look_at",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.one_id} and {self.other_id}: {self.kind}"
