"""How a key is checked: found by its public id, compared in constant time, held to its scopes and its rate."""

import hashlib
import hmac
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from senselab.accounts.globs import EVERYTHING, Grant, grant_of
from senselab.accounts.models import Scope
from senselab.accounts.origins import address_of
from senselab.pipeline import Passenger

REFUSED = "Invalid or missing API key"

FIND = """
    SELECT k.id, k.secret_sha256, k.name, k.agent_id, k.scopes, k.rate_per_minute, k.expires_at, k.revoked_at,
           a.id, a.slug, a.policy_version, a.policy_values::text, k.globs::text, k.old_secret_sha256, k.old_until
      FROM accounts_apikey k JOIN accounts_account a ON a.id = k.account_id
     WHERE k.public_id = %s
"""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls the API: a key of one account, perhaps bound to one agent."""

    account_id: int
    account: str
    key_id: int
    key_name: str
    agent_id: str
    scopes: frozenset[str]
    rate_per_minute: int
    policy_version: int
    policy_values: str
    grant: Grant = EVERYTHING
    is_authenticated: bool = True

    def may(self, scope: str) -> bool:
        # Keys with globs that were given the scope admin before could make one that reaches everything.
        if scope == Scope.ADMIN and self.grant is not EVERYTHING:
            return False
        return scope in self.scopes or Scope.ADMIN in self.scopes


def secret_matches(secret: str, sha256: bytes) -> bool:
    return hmac.compare_digest(hashlib.sha256(secret.encode()).digest(), bytes(sha256))


def key_text(request: Request | HttpRequest) -> str:
    """Return the key sent: X-AMFS-API-Key wins over Authorization: Bearer (contract.md 2.1)."""
    own = request.META.get("HTTP_X_AMFS_API_KEY") or request.META.get("HTTP_X_API_KEY")
    if own:
        return str(own).strip()
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def parts_of(text: str) -> tuple[str, str]:
    """Return the public id and the secret of a key.

    :raises AuthenticationFailed: it is no key of ours.
    """
    prefix, _, rest = text.partition("_")
    public_id, _, secret = rest.partition("_")
    # Nothing longer or stranger than a key of ours reaches the database.
    if prefix != "sl" or len(public_id) != 16 or not public_id.isalnum() or not text.isascii():
        raise AuthenticationFailed(REFUSED)
    return public_id, secret


def find(text: str, request: HttpRequest | None = None) -> Caller:
    """Return whom a key stands for. A key that is known and refused is noted at the request, for the audit trail.

    :raises AuthenticationFailed: no such key, a wrong secret, expired or revoked; the answer is the same for all.
    """
    public_id, secret = parts_of(text)
    with connection.cursor() as cursor:
        cursor.execute(FIND, [public_id])
        row = cursor.fetchone()
    if row is None:
        raise AuthenticationFailed(REFUSED)
    if not is_good(row, secret):
        if request is not None:
            request.refused_key = row[8], row[2]  # type: ignore[attr-defined]
        raise AuthenticationFailed(REFUSED)
    known.note(public_id, row)
    return caller_of(row)


def is_good(row: tuple[Any, ...], secret: str) -> bool:
    """Tell whether a secret is that of a key found, and the key neither expired nor revoked by now."""
    sha256, expires_at, revoked_at, old_sha256, old_until = row[1], row[6], row[7], row[13], row[14]
    now = timezone.now()
    if (revoked_at and revoked_at <= now) or (expires_at and expires_at <= now):
        return False
    if secret_matches(secret, sha256):
        return True
    return old_sha256 is not None and old_until is not None and old_until > now and secret_matches(secret, old_sha256)


def caller_of(row: tuple[Any, ...]) -> Caller:
    key_id, _, name, agent_id, scopes, rate, _, _, account_id, slug, version, values, globs, _, _ = row
    return Caller(
        account_id, slug, key_id, name, agent_id, frozenset(scopes), rate, version, values, grant_of(globs)
    )  # fmt: skip


class Changed(Exception):
    """A key is not what it was when it was seen last."""


class Known:
    """Keys as they were seen last. Whether one still is so, the first read of a call asks on its way."""

    MOST = 10_000

    def __init__(self) -> None:
        self._rows: dict[str, tuple[Any, ...]] = {}

    def note(self, public_id: str, row: tuple[Any, ...]) -> None:
        if len(self._rows) >= self.MOST:
            self._rows.clear()
        self._rows[public_id] = row

    def travelling(self, text: str) -> tuple[Caller, Passenger] | None:
        """Return whom a key stood for, and what asks whether that is still so: its arrival raises Changed if not.

        None where the key was not seen, or does not hold as it was.
        """
        public_id, secret = parts_of(text)
        row = self._rows.get(public_id)
        if row is None or not is_good(row, secret):
            return None

        def arrived(found: list[tuple[Any, ...]]) -> None:
            if found != [row]:
                self._rows.pop(public_id, None)
                raise Changed

        return caller_of(row), Passenger((FIND, [public_id]), arrived)


VALID = """
    SELECT 1 FROM accounts_apikey k WHERE k.account_id = %s AND k.id = %s
       AND (k.revoked_at IS NULL OR k.revoked_at > now()) AND (k.expires_at IS NULL OR k.expires_at > now())
"""


def is_valid(caller: Caller) -> bool:
    """Tell whether a key that was good is still."""
    with connection.cursor() as cursor:
        cursor.execute(VALID, [caller.account_id, caller.key_id])
        return cursor.fetchone() is not None


class KeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Caller, Any]:
        return self.admit(request, find(key_text(request), request._request)), None

    def admit(self, request: Request, caller: Caller) -> Caller:
        """Note that a key is used, and count the call.

        :raises Throttled: the key is beyond its calls a minute.
        """
        request._request.caller = caller
        uses.note(caller.key_id, caller.account_id, address_of(request._request))
        # For the headers of the answer, a refusal's as well (middleware.tell_the_rate).
        request._request.rate = caller.rate_per_minute, 0
        request._request.rate = caller.rate_per_minute, rates.take(caller)
        return caller

    def authenticate_header(self, request: Request) -> str:
        del request
        return 'Bearer realm="senselab"'


class HasScope(BasePermission):
    """Reading needs the scope read, anything else write, unless a view says otherwise in `scopes`."""

    message = "This key lacks the scope for that."

    def has_permission(self, request: Request, view: Any) -> bool:
        default = Scope.READ if request.method in {"GET", "HEAD", "OPTIONS"} else Scope.WRITE
        scope = getattr(view, "scopes", {}).get(request.method, default)
        self.message = f"This key lacks the scope {scope}."
        return request.user is not None and request.user.may(scope)


class Rates:
    """A token bucket per key in each web process: approximate across processes, exact enough to protect them."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[float, float]] = {}

    def take(self, caller: Caller) -> int:
        """Count one call and return how many more may follow at once.

        :raises Throttled: the key is beyond its calls a minute; `wait` says for how many seconds.
        """
        now = time.monotonic()
        per_second = caller.rate_per_minute / 60
        left, since = self._left.get(caller.key_id, (float(caller.rate_per_minute), now))
        left = min(float(caller.rate_per_minute), left + (now - since) * per_second)
        if left < 1:
            raise Throttled(wait=(1 - left) / per_second)
        self._left[caller.key_id] = (left - 1, now)
        return int(left - 1)


class Uses:
    """When keys were last used and from where, gathered here and written with the recalls."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, str | None]] = {}

    def note(self, key_id: int, account_id: int, address: str | None = None) -> None:
        self._seen[key_id] = (account_id, address)

    def take(self) -> dict[int, tuple[int, str | None]]:
        """Return and forget what was gathered: key id to account id and address."""
        seen, self._seen = self._seen, {}
        return seen


rates = Rates()
uses = Uses()
known = Known()

# To the minute is exact enough, and a busy key's row is left alone for the rest of it, unless it is used elsewhere.
USED = """
    UPDATE accounts_apikey k SET last_used_at = %(now)s, last_used_from = g.address
      FROM unnest(%(keys)s::bigint[], %(addresses)s::inet[]) AS g(id, address)
     WHERE k.account_id = %(account)s AND k.id = g.id
       AND (k.last_used_at IS NULL OR k.last_used_at < %(before)s OR k.last_used_from IS DISTINCT FROM g.address)
"""


def write_uses() -> None:
    """Write when keys were last used, and from where."""
    seen, now = uses.take(), timezone.now()
    for account_id in {account for account, _ in seen.values()}:
        used = {key_id: address for key_id, (of, address) in seen.items() if of == account_id}
        values: dict[str, Any] = {"now": now, "before": now - timedelta(minutes=1), "account": account_id}
        with connection.cursor() as cursor:
            cursor.execute(USED, values | {"keys": list(used), "addresses": list(used.values())})
