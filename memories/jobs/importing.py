"""Takes in an uploaded history: one transaction, its progress told from outside of it."""

from datetime import datetime

from memories.jobs.runs import Cancelled, Run
from memories.jobs.telling import Telling
from memories.services import importing, uploads
from memories.services.staging import Stage
from senselab.accounts.models import Account


def take_in(account: Account, now: datetime, run: Run) -> None:
    """Take in what somebody uploaded; nobody sees a run that was interrupted, and it goes on where it was."""
    del now
    source = f"run {run.id}"
    run.looked, run.changed, run.total = 0, 0, run.terms.get("lines")
    with Telling(run) as tell:
        try:
            lines = uploads.lines(account.pk, run.id or 0)
            run.looked = importing.take_in(account, lines, tell=tell, source=source)
        except Cancelled:
            importing.forget(Stage(account.slug, source))
            raise
    run.changed = run.looked
    uploads.drop(account.pk, run.id or 0)
