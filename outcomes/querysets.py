"""Every read of outcomes."""

from typing import Self

from django.db import models


class Outcomes(models.QuerySet):
    def of(self, account_id: int) -> Self:
        return self.filter(account_id=account_id)
