"""The audit trail: what happened to an account besides what was learned in it; who, on what, from where.

Nobody waits for the chain: records are written plainly and sealed in order a moment later (sealing.py). Refusals are
gathered in each process; beyond ten a minute from one source, one record counts the rest.
"""

import logging
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import Error
from django.http import HttpRequest
from django.utils import timezone

from senselab.accounts.models import Account, AuditRecord
from senselab.accounts.origins import address_of

log = logging.getLogger(__name__)

Kind = Literal["person", "key", "system"]
# What there is to say, in words.
ACTIONS = {
    "sign_in": "Signed in",
    "sign_in_failed": "Sign-in failed",
    "lockout": "Locked out",
    "factor_failed": "Second factor failed",
    "sign_out": "Signed out",
    "signed_out_everywhere": "Signed out everywhere",
    "password_changed": "Changed the password",
    "password_link_made": "Made a password link",
    "password_reset": "Reset the password",
    "factor_added": "Added a second factor",
    "factor_removed": "Removed a second factor",
    "recovery_codes_made": "Made recovery codes",
    "factors_reset": "Reset the second factors",
    "second_factor_rule": "Changed who needs a second factor",
    "key_made": "Made a key",
    "key_rotated": "Rotated a key",
    "key_revoked": "Revoked a key",
    "invited": "Invited somebody",
    "invitation_withdrawn": "Withdrew an invitation",
    "invitation_accepted": "Accepted an invitation",
    "joined": "Joined by OpenID Connect",
    "identity_linked": "Linked an identity",
    "identity_unlinked": "Unlinked an identity",
    "email_known": "Wrote down an e-mail address",
    "role_given": "Gave a role",
    "role_taken": "Took a role away",
    "policy_saved": "Saved the policy",
    "exported": "Exported",
    "imported": "Imported",
    "erased": "Erased",
    "restored": "Restored",
    "refused": "Was refused",
}
MOST_ALONE = 10
MINUTE = timedelta(minutes=1)
MOST_SOURCES = 10_000
LONGEST = 500


@dataclass(frozen=True, slots=True)
class Who:
    """A person, a key or this machine itself, with the address and the request it came by."""

    kind: Kind = "system"
    name: str = ""
    address: str | None = None
    request_id: str = ""


SYSTEM = Who(name="command")


def who_of(request: HttpRequest) -> Who:
    """Return who sends a request: the key of a call, else the person who is logged in."""
    caller = getattr(request, "caller", None)
    request_id = getattr(request, "request_id", "")
    if caller is not None:
        return Who("key", caller.key_name, address_of(request), request_id)
    return Who("person", request.user.get_username(), address_of(request), request_id)


def record(
    account_id: int,
    action: str,
    *,
    by: Who,
    at: datetime,
    target: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    count: int = 1,
) -> AuditRecord:
    """Add a record to an account's trail; inside a transaction it stands or falls with what it tells of."""
    return AuditRecord.objects.create(**_values(account_id, action, by, at, target, before, after, count))


def _values(
    account_id: int,
    action: str,
    by: Who,
    at: datetime,
    target: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    count: int,
) -> dict[str, Any]:
    return {
        "account_id": account_id,
        "at": at,
        "action": action,
        "actor_kind": by.kind,
        "actor": by.name[:LONGEST],
        "target": target.replace("\0", "")[:LONGEST],
        "before": before,
        "after": after,
        "address": by.address,
        "request_id": by.request_id,
        "count": count,
        "salt": secrets.token_bytes(16),
    }


Source = tuple[int, str, str, str | None]


@dataclass(slots=True)
class Counted:
    """What was refused to one source within a minute."""

    since: datetime
    times: int = 0
    beyond: int = 0


class Refusals:
    """What was refused to sources that are known, gathered here and written a moment later."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[dict[str, Any]] = []
        self._counted: dict[Source, Counted] = {}

    def note(self, account_id: int, by: Who, *, status: int, target: str, now: datetime) -> None:
        """Remember a refusal; the eleventh of a minute and those after it are only counted."""
        source = (account_id, by.kind, by.name, by.address)
        with self._lock:
            counted = self._counted.get(source)
            if counted is None or now - counted.since >= MINUTE:
                if counted is not None:
                    self._tell(source, counted)
                elif len(self._counted) >= MOST_SOURCES:
                    return
                counted = self._counted[source] = Counted(now)
            counted.times += 1
            if counted.times > MOST_ALONE:
                counted.beyond += 1
                return
            self._waiting.append(_values(account_id, "refused", by, now, target, None, {"status": status}, 1))

    def _tell(self, source: Source, counted: Counted) -> None:
        if counted.beyond:
            account_id, kind, name, address = source
            by = Who(kind, name, address)  # type: ignore[arg-type]
            self._waiting.append(
                _values(account_id, "refused", by, counted.since, "", None, {"more": True}, counted.beyond)
            )

    def write(self, now: datetime | None = None, *, everything: bool = False) -> None:
        """Write what waits, and the counts of the minutes that are over."""
        at = now or timezone.now()
        with self._lock:
            for source, counted in list(self._counted.items()):
                if everything or at - counted.since >= MINUTE:
                    self._tell(source, self._counted.pop(source))
            waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        try:
            # An account may have been dropped meanwhile; the others' records are no worse for it.
            living = set(
                Account.objects.filter(pk__in={one["account_id"] for one in waiting}).values_list("pk", flat=True)
            )
            AuditRecord.objects.bulk_create(AuditRecord(**one) for one in waiting if one["account_id"] in living)
        except Error:
            log.warning("%d refusals could not be written to the audit trail", len(waiting), exc_info=True)


refusals = Refusals()
