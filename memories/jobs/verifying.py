"""Recomputes an account from its ledger, every night: what was altered behind the product's back is named."""

from datetime import datetime
from typing import Any

from memories.checking import nightly, verify_reads
from memories.checking.verify_reads import Tally
from memories.jobs.runs import Run
from memories.jobs.telling import Telling
from senselab.accounts.models import Account


def verify(account: Account, now: datetime, run: Run) -> None:
    """Look at every version and seal of an account as of one moment; the run keeps what does not fit."""
    del now
    run.looked, run.changed, run.total = 0, 0, verify_reads.versions(account.pk)
    tally = Tally()
    kept: list[list[Any]] = []
    with Telling(run) as tell, verify_reads.one_view():
        for where, finding in verify_reads.account_findings(account, tally, lambda: tell(tally.versions)):
            run.changed += 1
            if len(kept) < nightly.KEPT:
                kept.append([where, finding.version, finding.words])
    run.looked = tally.versions
    run.terms = {"found": kept, "entries": tally.entries, "unknown": tally.unknown}
