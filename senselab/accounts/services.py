"""Everything that changes accounts, people, agents and keys."""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction

from senselab.accounts.models import Account, Agent, ApiKey, Membership, Person, Role, Scope
from senselab.errors import Refusal

DEFAULT_ACCOUNT = "default"
KEY_PREFIX = "sl"


class AccountExists(Refusal):
    status = 409


class NoSuchAccount(Refusal):
    status = 404


class NoSuchKey(Refusal):
    status = 404


@dataclass(frozen=True, slots=True)
class FirstRun:
    """What the first start made and shows once."""

    person: str
    password: str
    key: str


def create_account(slug: str, *, name: str = "") -> Account:
    """Make an account.

    :raises Refusal: the slug is not 1 to 63 lower-case letters, digits and hyphens.
    :raises AccountExists: there is one of that slug.
    """
    if not re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", slug):
        raise Refusal(f"An account's slug is 1 to 63 lower-case letters, digits and inner hyphens, not {slug!r}.")
    try:
        with transaction.atomic():
            return Account.objects.create(slug=slug, name=name or slug)
    except IntegrityError as error:
        raise AccountExists(f"There is an account {slug!r} already.") from error


@transaction.atomic
def drop_account(account: Account) -> None:
    """Delete an account with its roles, agents and keys; what was learned in it has to be gone already."""
    with connection.cursor() as cursor:
        for table in ("keptanswer", "apikey", "agent", "membership"):
            cursor.execute(f"DELETE FROM accounts_{table} WHERE account_id = %s", [account.pk])
    account.delete()


def create_person(username: str, *, password: str) -> Person:
    """Make somebody who can log in; what they may see comes with a role."""
    return Person.objects.create_user(username=username, password=password)


def give_role(person: Person, account: Account, role: Role) -> Membership:
    """Let a person into an account, or change what they may do there."""
    given = Membership(account=account, person=person, role=role)
    unique = ["account", "person"]
    Membership.objects.bulk_create([given], update_conflicts=True, unique_fields=unique, update_fields=["role"])
    return Membership.objects.get(account=account, person=person)


def find_account(slug: str) -> Account:
    """Return the account of that slug.

    :raises NoSuchAccount: there is none.
    """
    try:
        return Account.objects.get(slug=slug)
    except Account.DoesNotExist as error:
        raise NoSuchAccount(f"There is no account {slug!r}.") from error


def create_key(
    account: Account,
    *,
    name: str,
    agent_id: str = "",
    scopes: tuple[str, ...] = (Scope.READ, Scope.WRITE),
    rate_per_minute: int = 6000,
    expires_at: datetime | None = None,
) -> str:
    """Make an API key and return its text, which nobody can show again: ``sl_<public id>_<secret>``.

    :raises Refusal: an unknown scope, no name, or a rate below 1.
    """
    unknown = set(scopes) - set(Scope.values)
    if unknown or not scopes:
        raise Refusal(f"Scopes are {', '.join(Scope.values)}, not {', '.join(sorted(unknown)) or 'none at all'}.")
    if not name.strip():
        raise Refusal("A key needs a name.")
    if not 1 <= rate_per_minute <= 2_147_483_647:
        raise Refusal("A key's rate is at least 1 call a minute.")
    public_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    ApiKey.objects.create(
        account=account,
        public_id=public_id,
        secret_sha256=hashlib.sha256(secret.encode()).digest(),
        name=name[:200],
        agent_id=agent_id,
        scopes=sorted(set(scopes)),
        rate_per_minute=rate_per_minute,
        expires_at=expires_at,
    )
    return f"{KEY_PREFIX}_{public_id}_{secret}"


def keys_of(account_id: int) -> list[ApiKey]:
    """Return the keys of an account, newest first; revoked ones as well."""
    return list(ApiKey.objects.filter(account_id=account_id).order_by("-id"))


def key_of(account_id: int, text: str) -> ApiKey:
    """Return the key whose text was just made."""
    return ApiKey.objects.get(account_id=account_id, public_id=text.split("_")[1])


def revoke_key(account_id: int, key_id: int, *, now: datetime) -> ApiKey:
    """Make a key useless from now on; an earlier moment is kept.

    :raises NoSuchKey: there is none.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE accounts_apikey SET revoked_at = coalesce(revoked_at, %s) WHERE account_id = %s AND id = %s",
            [now, account_id, key_id],
        )
        if cursor.rowcount == 0:
            raise NoSuchKey("There is no such key.")
    return ApiKey.objects.get(account_id=account_id, pk=key_id)


def describe_agent(account_id: int, agent_id: str, *, now: datetime, **said: Any) -> Agent:
    """Keep what an agent says of itself (profile, capabilities, contracts), and return it; it may be new."""
    agent = Agent(account_id=account_id, agent_id=agent_id, created_at=now, last_active_at=now, **said)
    unique = ["account", "agent_id"]
    Agent.objects.bulk_create([agent], update_conflicts=True, unique_fields=unique, update_fields=list(said))
    return Agent.objects.get(account_id=account_id, agent_id=agent_id)


@transaction.atomic
def first_run() -> FirstRun | None:
    """Make the account `default`, an admin and a key when there is no account yet; else None."""
    if Account.objects.exists():
        return None
    account = create_account(DEFAULT_ACCOUNT, name="Default")
    password = secrets.token_urlsafe(12)
    admin = create_person("admin", password=password)
    give_role(admin, account, Role.ADMIN)
    return FirstRun(person=admin.username, password=password, key=create_key(account, name="first key"))
