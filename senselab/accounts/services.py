"""Everything that changes accounts, people, agents and keys."""

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction

from senselab.accounts import audit
from senselab.accounts.audit import SYSTEM, Who
from senselab.accounts.globs import Glob
from senselab.accounts.globs import clean as clean_globs
from senselab.accounts.models import Account, Agent, ApiKey, Membership, Person, Role, Scope
from senselab.errors import Conflict, Invalid, Refusal

DEFAULT_ACCOUNT = "default"
KEY_PREFIX = "sl"
# How long the secret before a rotation works on.
OVERLAP, MOST_OVERLAP = timedelta(hours=24), timedelta(days=30)


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
        cursor.execute("SELECT set_config('senselab.dropping_account', %s, true)", [str(account.pk)])
        for table in ("auditrecord", "keptanswer", "apikey", "invitation", "agent", "membership"):
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


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A key, and its text, which nobody can show again: ``sl_<public id>_<secret>``."""

    key: ApiKey
    text: str


def create_key(account: Account, *, name: str, **said: Any) -> str:
    """Make an API key and return its text; see `make_key`."""
    return make_key(account, name=name, **said).text


@transaction.atomic
def make_key(
    account: Account,
    *,
    name: str,
    agent_id: str = "",
    scopes: Sequence[str] = (Scope.READ, Scope.WRITE),
    globs: Iterable[Glob | Mapping[str, Any]] = (),
    rate_per_minute: int = 6000,
    expires_at: datetime | None = None,
    by: Who = SYSTEM,
    now: datetime | None = None,
) -> MadeKey:
    """Make an API key; without `globs` it reaches every entity path of its account.

    :raises Refusal: an unknown scope, no name, a rate below 1, a glob that is none, or globs with the scope admin.
    """
    unknown = set(scopes) - set(Scope.values)
    if unknown or not scopes:
        raise Refusal(f"Scopes are {', '.join(Scope.values)}, not {', '.join(sorted(unknown)) or 'none at all'}.")
    if not name.strip() or "\0" in name:
        raise Refusal("A key needs a name.")
    reach = clean_globs(globs)
    if reach and Scope.ADMIN in scopes:
        raise Invalid("A key with the scope admin can make keys that reach everything: it takes no globs.", "/globs")
    if not 1 <= rate_per_minute <= 2_147_483_647:
        raise Refusal("A key's rate is at least 1 call a minute.")
    secret = secrets.token_urlsafe(32)
    key = ApiKey.objects.create(
        account=account,
        public_id=secrets.token_hex(8),
        secret_sha256=sha256(secret),
        name=name.strip()[:200],
        agent_id=agent_id,
        scopes=sorted(set(scopes)),
        globs=[glob.told() for glob in reach],
        rate_per_minute=rate_per_minute,
        expires_at=expires_at,
    )
    audit.record(account.pk, "key_made", by=by, at=now or key.created_at, target=str(key), after=told_of(key))
    return MadeKey(key, text_of(key, secret))


def told_of(key: ApiKey) -> dict[str, Any]:
    """Return what the audit trail keeps of a key: what it may, never its secret."""
    ends = key.expires_at.isoformat() if key.expires_at else None
    told = {"scopes": list(key.scopes), "globs": key.globs, "agent_id": key.agent_id, "expires_at": ends}
    return {**told, "rate_per_minute": key.rate_per_minute}


def sha256(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def text_of(key: ApiKey, secret: str) -> str:
    return f"{KEY_PREFIX}_{key.public_id}_{secret}"


def keys_of(account_id: int) -> list[ApiKey]:
    """Return the keys of an account, newest first; revoked ones as well."""
    return list(ApiKey.objects.filter(account_id=account_id).order_by("-id"))


def _locked_key(account_id: int, key_id: int) -> ApiKey:
    found = ApiKey.objects.select_for_update().filter(account_id=account_id, pk=key_id).first()
    if found is None:
        raise NoSuchKey("There is no such key.")
    return found


@transaction.atomic
def revoke_key(account_id: int, key_id: int, *, now: datetime, by: Who = SYSTEM) -> ApiKey:
    """End a key at once, its old secret too; revoking it again changes nothing.

    :raises NoSuchKey: the account has none of that id.
    """
    key = _locked_key(account_id, key_id)
    if key.revoked_at is not None:
        return key
    audit.record(account_id, "key_revoked", by=by, at=now, target=str(key), before=told_of(key))
    return _changed(key, revoked_at=now, old_secret_sha256=None, old_until=None)


def _changed(key: ApiKey, **values: Any) -> ApiKey:
    ApiKey.objects.filter(account_id=key.account_id, pk=key.pk).update(**values)
    for name, value in values.items():
        setattr(key, name, value)
    return key


@transaction.atomic
def rotate_key(
    account_id: int, key_id: int, *, now: datetime, overlap: timedelta = OVERLAP, by: Who = SYSTEM
) -> MadeKey:
    """Give a key a new secret, which works at once; the one before works on for `overlap`.

    :raises NoSuchKey: the account has none of that id.
    :raises Conflict: it is revoked or expired.
    :raises Invalid: the overlap is negative or beyond 30 days.
    """
    if not timedelta() <= overlap <= MOST_OVERLAP:
        raise Invalid("An old secret works on for 0 to 30 days.", "/overlap_hours")
    key = _locked_key(account_id, key_id)
    if key.revoked_at or (key.expires_at and key.expires_at <= now):
        raise Conflict("This key has ended; make another one.")
    secret = secrets.token_urlsafe(32)
    old, until = (key.secret_sha256, now + overlap) if overlap else (None, None)
    _changed(key, secret_sha256=sha256(secret), old_secret_sha256=old, old_until=until)
    ends = until.isoformat() if until else None
    audit.record(account_id, "key_rotated", by=by, at=now, target=str(key), after={"old_secret_until": ends})
    return MadeKey(key, text_of(key, secret))


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
