"""The provider of OpenID Connect that the settings name, if they do."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured
from environ import Env

ROLES = ("viewer", "reviewer", "admin")


@dataclass(frozen=True, slots=True)
class Provider:
    """Who else says who people are; strangers join `account` as `role`, or nobody does when it is ''."""

    issuer: str
    client_id: str
    client_secret: str
    name: str = "OpenID Connect"
    account: str = ""
    role: str = "viewer"


def provider(env: Env, secret_of: Callable[[str, str], str]) -> Provider | None:
    """Return the provider of the environment, None when it names none.

    :raises ImproperlyConfigured: something is missing, or cannot be.
    """
    issuer, client_id = env.str("OIDC_ISSUER", default="").rstrip("/"), env.str("OIDC_CLIENT_ID", default="")
    account, role = env.str("OIDC_ACCOUNT", default=""), env.str("OIDC_ROLE", default="") or "viewer"
    if not issuer:
        return None
    secret = secret_of(env.str("OIDC_CLIENT_SECRET", default=""), env.str("OIDC_CLIENT_SECRET_FILE", default=""))
    if not client_id or not secret:
        raise ImproperlyConfigured(
            "OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET (or OIDC_CLIENT_SECRET_FILE)"
        )
    if not re.match(r"https://.|http://(localhost|127\.0\.0\.1)(:|/|$)", issuer):
        raise ImproperlyConfigured("OIDC_ISSUER begins with https://; http is for a provider on this machine alone")
    if role not in ROLES:
        raise ImproperlyConfigured(f"OIDC_ROLE is one of {', '.join(ROLES)}, not {role!r}")
    name = env.str("OIDC_NAME", default="") or "OpenID Connect"
    return Provider(issuer, client_id, secret, name, account, role)
