"""Whether the product is up, for those who watch it and for clients that ask before they log in."""

import logging
import shutil
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import docs
from memories.checking import nightly
from memories.jobs import health as workers
from senselab import api, metrics
from senselab.accounts.keys import Caller
from senselab.accounts.models import Account
from senselab.survival import scheduled
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
    now, database, states = timezone.now(), database_words(), dict.fromkeys(("database", *CHECKS), "unknown")
    told = {"database": database, "disk": disk_words()}
    if not database:
        told |= {"migrations": migration_words(), **workers.states(now), "backup": scheduled.words(now)}
        told |= {"integrity": integrity_words(named=metrics.may_read(request)) if not told["migrations"] else []}
    reasons = [words for found in told.values() for words in found]
    states |= {name: "ok" if not found else "failing" for name, found in told.items()}
    body = {"status": "not ready" if reasons else "ready", "checks": states, "reasons": reasons}
    return api.answer(body, status=503 if reasons else 200, headers={"Cache-Control": "no-store"})


# After the database, in the order in which they are told.
CHECKS = ("migrations", "worker", "queue", "disk", "backup", "integrity")
# With less room PostgreSQL soon stops taking writes.
LEAST_FREE = 512 * 1024 * 1024


def disk_words() -> list[str]:
    free = shutil.disk_usage(settings.DATA_DIR).free if settings.DATA_DIR.exists() else LEAST_FREE
    if free >= LEAST_FREE:
        return []
    return [f"The disk of the data folder has {free // 1024**2:,} MB left; below 512 MB writes soon fail."]


def integrity_words(*, named: bool) -> list[str]:
    """Return what the nightly checks found altered; which entry and version only to those who may know names."""
    slugs = dict(Account.objects.values_list("id", "slug"))
    found = [one for one in nightly.last_checks(list(slugs)) if one.count]
    if not found:
        return []
    count = sum(one.count for one in found)
    things = "1 thing does" if count == 1 else f"{count:,} things do"
    words = f"{things} not fit in the history of {len(found)} account{'' if len(found) == 1 else 's'}: somebody altered"
    where = [f"{slugs[one.account_id]}: {first.place} ({first.words})" for one in found for first in one.first[:3]]
    return [f"{words} it, or a disk did. manage.py verify names all{': ' + '; '.join(where) if named else ''}."]


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
