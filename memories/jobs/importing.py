"""Takes in an uploaded history: one transaction, its progress told from outside of it."""

from datetime import datetime

from memories.jobs.runs import Run
from memories.jobs.telling import Telling
from memories.services import importing, uploads
from senselab.accounts.models import Account


def take_in(account: Account, now: datetime, run: Run) -> None:
    """Take in what somebody uploaded; a run that was interrupted left nothing and begins anew."""
    del now
    run.looked, run.changed, run.total = 0, 0, run.terms.get("lines")
    with Telling(run) as tell:
        run.looked = importing.take_in(account, uploads.lines(account.pk, run.id or 0), tell=tell)
    run.changed = run.looked
    uploads.drop(account.pk, run.id or 0)
