"""How an account's policy changes: a new version of it, by somebody, for a reason, applied from then on (RULES.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from memories.models import PolicyVersion
from memories.rules.policy import DEFAULT, MULTIPLICATIVE, Policy, PolicyError
from memories.services import running
from memories.services.acts import Actor
from memories.viewers import account_policy
from senselab.accounts import audit
from senselab.accounts.audit import Who
from senselab.accounts.models import Account
from senselab.errors import Conflict, Invalid, StaleVersion

LONGEST_REASON = 2_000
# What one starts from; an account may keep the numbers of one and change them.
NAMED = {policy.name: policy for policy in (DEFAULT, MULTIPLICATIVE)}


@dataclass(frozen=True, slots=True)
class Saved:
    """The new version, and the run that applies it."""

    number: int
    run_id: int


def drafted(account: Account, changes: Mapping[str, Any]) -> Policy:
    """Return the account's policy with some fields changed, as its next version.

    :raises Invalid: a field is unknown, or its value makes no sense; the pointer names it.
    """
    values = {**account_policy(account).as_values(), **changes, "version": account.policy_version + 1}
    try:
        return Policy.from_values(values)
    except PolicyError as error:
        raise Invalid(f"{error.field.replace('_', ' ').capitalize()}: {error.detail}", f"/{error.field}") from error


@transaction.atomic
def save(
    account_id: int,
    changes: Mapping[str, Any],
    *,
    expected: int,
    actor: Actor,
    reason: str,
    now: datetime,
    by: Who | None = None,
) -> Saved:
    """Make a new version of an account's policy and ask for the run that applies it.

    :raises StaleVersion: somebody saved since version `expected`.
    :raises Invalid: a value makes no sense, or there is no reason.
    :raises Conflict: it says what the present version says.
    """
    account = Account.objects.select_for_update().get(pk=account_id)
    if expected != account.policy_version:
        extra = {"current_version": account.policy_version, "expected_version": expected}
        words = f"You looked at version {expected} of the policy; the current one is {account.policy_version}."
        raise StaleVersion(words, extra=extra)
    text = checked(reason)
    policy = drafted(account, changes)
    values = differences(policy)
    if values == differences(account_policy(account)):
        raise Conflict("That is the policy already; nothing differs.")
    keep_first(account)
    number = account.policy_version + 1
    PolicyVersion.objects.create(account=account, number=number, values=values, actor=actor.name, reason=text, at=now)
    Account.objects.filter(pk=account_id).update(policy_version=number, policy_values=values)
    who = by or Who("person", actor.name, request_id=actor.request_id)
    before = {"version": account.policy_version, **differences(account_policy(account))}
    after = {"version": number, "reason": text, **values}
    audit.record(account_id, "policy_saved", by=who, at=now, target=f"version {number}", before=before, after=after)
    run_id = running.ask(account_id, "policy", by=actor.name, now=now, terms={"number": number})
    return Saved(number, run_id)


def checked(reason: str) -> str:
    """:raises Invalid: there is no reason, or it cannot be kept."""
    text = reason.strip()
    if not text or len(text) > LONGEST_REASON or "\0" in text:
        raise Invalid(f"Say why, in 1 to {LONGEST_REASON:,} characters: the reason is kept with the policy.", "/reason")
    return text


def differences(policy: Policy) -> dict[str, Any]:
    """Return the values by which a policy differs from the default, its version aside."""
    default = DEFAULT.as_values()
    return {name: value for name, value in policy.as_values().items() if name != "version" and value != default[name]}


def keep_first(account: Account) -> None:
    """Keep the version there was before anybody changed it."""
    first = {"values": account.policy_values, "at": account.created_at}
    PolicyVersion.objects.get_or_create(account=account, number=account.policy_version, defaults=first)
