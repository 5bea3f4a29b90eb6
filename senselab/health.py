"""Whether the product is up, for those who watch it and for clients that ask before they log in."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from memories.api import docs
from senselab import api
from senselab.accounts.keys import Caller
from senselab.version import VERSION

SCHEMA = "0.3.0"


def health(request: HttpRequest) -> HttpResponse:
    """Say that this process answers; needs no key."""
    del request
    return api.answer({"status": "ok", "version": VERSION, "schema_version": SCHEMA})


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
