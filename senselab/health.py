"""Whether the product is up, for those who watch it and for clients that ask before they log in."""

import logging
from typing import Any

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import docs
from memories.jobs import health as workers
from senselab import api
from senselab.accounts.keys import Caller
from senselab.version import VERSION

log = logging.getLogger(__name__)
SCHEMA = "0.3.0"


def health(request: HttpRequest) -> HttpResponse:
    """Say that this process answers; needs no key."""
    del request
    return api.answer({"status": "ok", "version": VERSION, "schema_version": SCHEMA})


def ready(request: HttpRequest) -> HttpResponse:
    """Say whether everything works: 200, or 503 with the reasons. Needs no key.

    A balancer asks /health instead: without a worker, reads and writes go on.
    """
    del request
    checks = database_words()
    told = {"database": checks, "migrations": [], "worker": []}
    if not checks:
        told |= {"migrations": migration_words(), "worker": workers.worker_words(timezone.now())}
    reasons = [words for found in told.values() for words in found]
    states = {name: "ok" if not found else "failing" for name, found in told.items()}
    if told["database"]:
        states |= {"migrations": "unknown", "worker": "unknown"}
    body = {"status": "not ready" if reasons else "ready", "checks": states, "reasons": reasons}
    return api.answer(body, status=503 if reasons else 200, headers={"Cache-Control": "no-store"})


def database_words() -> list[str]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        log.warning("the database does not answer", exc_info=True)
        return ["The database does not answer; the log of the server says why."]
    return []


def migration_words() -> list[str]:
    executor = MigrationExecutor(connection)
    missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    return [f"{missing} migration{'' if missing == 1 else 's'} not applied; manage.py migrate does."] if missing else []


class Health(APIView):
    """Whether this process answers."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []

    @docs.health
    def get(self, request: Request) -> HttpResponse:
        """Say that this process answers; needs no key."""
        return health(request._request)


class WhoAmI(APIView):
    """Who a key is (contract.md 2.17)."""

    @docs.whoami
    def get(self, request: Request) -> HttpResponse:
        """Return the account, the agent and the scopes of this key."""
        caller: Caller = request.user
        told = {
            "authenticated": True,
            "mode": "senselab",
            "user_id": caller.account,
            "account_id": caller.account,
            "actor_id": caller.agent_id or caller.key_name,
            "key_type": "agent" if caller.agent_id else "free",
            "role": "admin" if caller.may("admin") else "member",
            "scopes": sorted(caller.scopes),
            "rate_limit_rpm": caller.rate_per_minute,
            "is_admin": caller.may("admin"),
        }
        return api.answer(told)
