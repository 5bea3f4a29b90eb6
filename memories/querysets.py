"""Every read of entries and their history."""

from typing import Self

from django.db import models


class OfAccount(models.QuerySet):
    def of(self, account_id: int) -> Self:
        return self.filter(account_id=account_id)


class Entries(OfAccount):
    pass


class Versions(OfAccount):
    pass


class ChangeSets(OfAccount):
    pass


class Effects(OfAccount):
    pass
