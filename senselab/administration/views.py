"""Keys made, listed and revoked; what an account uses; what it is set to."""

from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec
from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import tallies
from memories.api import identity, screened
from memories.rules import names
from memories.viewers import Viewer
from senselab import api
from senselab.accounts import services as accounts
from senselab.accounts.audit import who_of
from senselab.accounts.keys import Caller
from senselab.accounts.models import ApiKey, Scope
from senselab.administration import docs
from senselab.errors import Invalid
from senselab.version import VERSION

ADMIN = dict.fromkeys(("GET", "POST", "DELETE"), "admin")
# Scopes as the public server has them: a pattern of paths, and what is permitted there.
PERMITTED = {"read": (Scope.READ,), "write": (Scope.WRITE,), "read_write": (Scope.READ, Scope.WRITE)}


class KeyBody(msgspec.Struct):
    """POST /admin/api-keys. `scopes` are words, or patterns of the public server, which become globs."""

    name: str
    agent_id: str | None = None
    scopes: list[str | dict[str, Any]] | None = None
    rate_limit_rpm: Annotated[int, msgspec.Meta(ge=1, le=2_147_483_647)] | None = None
    expires_at: datetime | None = None
    globs: list[dict[str, Any]] | None = None


class RotateBody(msgspec.Struct):
    """POST /admin/api-keys/ID/rotate. The old secret works on for so many hours."""

    overlap_hours: Annotated[int, msgspec.Meta(ge=0, le=720)] = 24


def scopes_of(asked: list[str | dict[str, Any]] | None) -> tuple[str, ...]:
    """Return our scopes; read and write where none are asked for.

    :raises Invalid: a pattern permits what is not known.
    """
    found: list[str] = []
    for place, scope in enumerate(asked or []):
        if isinstance(scope, str):
            found.append(scope)
        elif scope.get("permission") in PERMITTED:
            found += PERMITTED[scope["permission"]]
        else:
            raise Invalid("A pattern permits read, write or read_write.", f"/scopes/{place}")
    return tuple(found) if asked else (Scope.READ, Scope.WRITE)


def globs_of(body: KeyBody) -> list[dict[str, Any]]:
    """Return the globs a body asks for, under either name."""
    return [scope for scope in body.scopes or [] if isinstance(scope, dict)] + (body.globs or [])


def told(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.pk,
        "name": key.name,
        "prefix": f"{accounts.KEY_PREFIX}_{key.public_id}",
        "agent_id": key.agent_id or None,
        "scopes": key.scopes,
        "globs": key.globs,
        "rate_limit_rpm": key.rate_per_minute,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "old_secret_until": key.old_until,
        "last_used_at": key.last_used_at,
        "last_used_from": key.last_used_from,
        "active": key.revoked_at is None and (key.expires_at is None or key.expires_at > timezone.now()),
    }


class Keys(APIView):
    """The keys of an account."""

    scopes = ADMIN

    @docs.keys
    def get(self, request: Request) -> HttpResponse:
        """List keys, newest first; their texts are shown to nobody."""
        return api.answer({"keys": [told(key) for key in accounts.keys_of(request.user.account_id)]})

    @docs.making
    def post(self, request: Request) -> HttpResponse:
        """Make a key; its text is in this answer and nowhere else."""
        body = screened.body_of(request, KeyBody)
        account = accounts.find_account(request.user.account)
        made = accounts.make_key(
            account,
            name=names.clean_name(body.name, pointer="/name"),
            agent_id=names.clean_name(body.agent_id) if body.agent_id else "",
            scopes=scopes_of(body.scopes),
            globs=globs_of(body),
            rate_per_minute=body.rate_limit_rpm or 6000,
            expires_at=identity.in_utc(body.expires_at, "/expires_at") if body.expires_at else None,
            by=who_of(request._request),
            now=timezone.now(),
        )
        return shown(made, status=201)


def shown(made: accounts.MadeKey, *, status: int = 200) -> HttpResponse:
    """Answer with a key and its text, which nobody keeps."""
    return api.answer(told(made.key) | {"key": made.text}, status=status, headers={"Cache-Control": "no-store"})


class Key(APIView):
    """One key."""

    scopes = ADMIN

    @docs.revoking
    def delete(self, request: Request, key_id: int) -> HttpResponse:
        """Revoke a key: the next call with it is 401."""
        now, by = timezone.now(), who_of(request._request)
        return api.answer(told(accounts.revoke_key(request.user.account_id, key_id, now=now, by=by)))


class Rotate(APIView):
    """A new secret for a key."""

    scopes = ADMIN

    @docs.rotating
    def post(self, request: Request, key_id: int) -> HttpResponse:
        """Give a key a new text, which works at once and is in this answer alone; the old one works on for a while."""
        overlap = timedelta(hours=api.body_of(request, RotateBody).overlap_hours)
        now, by = timezone.now(), who_of(request._request)
        return shown(accounts.rotate_key(request.user.account_id, key_id, now=now, overlap=overlap, by=by))


class Usage(APIView):
    """What an account uses."""

    scopes = ADMIN

    @docs.usage
    def get(self, request: Request) -> HttpResponse:
        """Return how many entries, paths, agents and keys there are; private entries count."""
        caller: Caller = request.user
        seen = identity.viewer_of(request, "")
        viewer = Viewer(seen.account_id, seen.policy, sees_all=True)
        tally = tallies.of(viewer)
        totals = tally.total
        keys = accounts.keys_of(caller.account_id)
        body = {
            "entries": totals.entries,
            "superseded": totals.superseded,
            "archived": totals.archived,
            "entities": tally.health.entities,
            "agents": len(tally.agents),
            "recalls": totals.recalls,
            "api_keys": sum(key.revoked_at is None for key in keys),
            "quotas": {"entries": 0, "api_keys": 0, "users": 0},
        }
        return api.answer(body)


class Config(APIView):
    """What an account is set to."""

    scopes = ADMIN

    @docs.config
    def get(self, request: Request) -> HttpResponse:
        """Return version, account, policy and limits; secrets are no part of it."""
        caller: Caller = request.user
        policy = identity.viewer_of(request, "").policy
        body = {
            "version": VERSION,
            "account": caller.account,
            "policy": f"{policy.name}@{policy.version}",
            "web": {"workers": settings.WEB_WORKERS, "threads": settings.WEB_THREADS, "streams": settings.STREAMS},
            "limits": {"body_bytes": api.BODY_BYTES, "writes_in_a_commit": 1_000},
        }
        return api.answer(body)
