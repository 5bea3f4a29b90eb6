"""Lets the evaluator score what nobody scored, a few entries at a time; nothing while none is turned on."""

from datetime import datetime

from memories.jobs.runs import Run
from memories.services import importance as services
from senselab.accounts.models import Account


def evaluate(account: Account, now: datetime, run: Run) -> None:
    judge, after = services.evaluator(), 0
    if judge is None:
        return
    while seen := services.unscored(account.pk, after):
        changed = services.evaluate(account.pk, seen, judge, now)
        after = seen[-1].id
        run.step(looked=len(seen), changed=changed)
        if run.is_long:
            return
