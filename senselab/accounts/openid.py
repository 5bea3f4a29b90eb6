"""OpenID Connect as allauth speaks it (code flow with PKCE and a state), led into our own way in.

allauth asks the provider and reads the answer; who that is, and what follows, is decided here. Nothing of its tables is
used, and no token is kept.
"""

import logging
from datetime import datetime, timedelta
from typing import Any, NoReturn

import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from senselab.accounts import entering, identities
from senselab.accounts.audit import Who
from senselab.accounts.identities import Said
from senselab.accounts.origins import address_of
from senselab.errors import Conflict, Refusal
from senselab.sign_on import Provider

KIND = "openid_connect"
# Since when somebody who proved again who they are may link their identity.
LINKING, LASTS = "linking", timedelta(minutes=10)
# What a provider that is away, or answers anything, makes of reading its answers.
UNFIT = (requests.RequestException, OAuth2Error, KeyError, TypeError, ValueError, AttributeError)

log = logging.getLogger(__name__)


def _provider() -> Provider:
    """:raises Http404: there is none."""
    if settings.OIDC is None:
        raise Http404
    return settings.OIDC


class Client(OpenIDConnectOAuth2Adapter):
    """One conversation with the provider."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, KIND)

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the provider's configuration.

        :raises OAuth2Error: it is the configuration of another provider.
        """
        told = super().openid_config
        if str(told.get("issuer", "")).rstrip("/") != _provider().issuer:
            raise OAuth2Error("the provider calls itself otherwise than OIDC_ISSUER does")
        return told

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        del app
        return request.build_absolute_uri(reverse("oidc_callback"))

    def complete_login(self, request: HttpRequest, app: SocialApp, token: Any, **answer: Any) -> SocialLogin:
        """Return what the provider says.

        :raises OAuth2Error: it sent no id token, or speaks of two people.
        """
        login = super().complete_login(request, app, token, **answer)
        told = login.account.extra_data
        subjects = {str(part.get("sub", "")) for part in told.values()}
        if "id_token" not in told or len(subjects) != 1 or not all(0 < len(subject) <= 255 for subject in subjects):
            raise OAuth2Error("the provider's answers do not name one person")
        return login


class Ours(OpenIDConnectProvider):
    """The one provider of the settings."""

    def get_oauth2_adapter(self, request: HttpRequest) -> Client:
        return Client(request)


def begin(request: HttpRequest, next_url: str, *, process: str = AuthProcess.LOGIN) -> HttpResponse:
    """Send somebody to the provider, and back to where they wanted to go."""
    _provider()
    try:
        return Client(request).get_provider().redirect(request, process=process, next_url=next_url or None)
    except UNFIT as error:
        return _unfit(request, error)


def come_back(request: HttpRequest) -> HttpResponse:
    """Let in whom the provider sent back, or say why not."""
    _provider()
    try:
        return OAuth2CallbackView.adapter_view(Client(request))(request)
    except UNFIT as error:
        return _unfit(request, error)


def _unfit(request: HttpRequest, error: BaseException | None) -> HttpResponse:
    # Only its kind: what the provider said may hold a code or a token.
    log.warning("OpenID Connect went wrong: %s", type(error).__name__ if error else "refused, or an old page")
    words = f"{_provider().name} did not let you in, or this page was too old. Try again, or use your password."
    return refused(request, words)


def allow_linking(request: HttpRequest, now: datetime) -> None:
    """Let a person who proved again who they are link their identity, for ten minutes."""
    request.session[LINKING] = now.timestamp()


def may_link(request: HttpRequest, now: datetime) -> bool:
    allowed = request.session.get(LINKING)
    return request.user.is_authenticated and allowed is not None and now.timestamp() - allowed < LASTS.total_seconds()


def begin_linking(request: HttpRequest) -> HttpResponse:
    """Send somebody to the provider to say who they are there."""
    return begin(request, reverse("security"), process=AuthProcess.CONNECT)


def _link(request: HttpRequest, login: SocialLogin, by: Who, now: datetime) -> HttpResponse:
    try:
        if not may_link(request, now):
            raise Conflict("It took too long, so nothing was linked. Begin again.")
        person: Any = request.user
        by = Who("person", person.username, by.address, by.request_id)
        identities.link_own(person, said_by(login), by=by, now=now)
    except Refusal as refusal:
        return refused(request, refusal.detail)
    request.session.pop(LINKING)
    messages.success(request, f"You are linked: {_provider().name} lets you in from now on.")
    return redirect("security")


def refused(request: HttpRequest, words: str) -> HttpResponse:
    """Return the log-in page with why it did not work; to whoever wanted to link an identity, their own page."""
    if request.user.is_authenticated and request.session.pop(LINKING, None) is not None:
        messages.error(request, words)
        return redirect("security")
    return render(request, "accounts/login.html", {"problem": words, "next": ""}, status=403)


def said_by(login: SocialLogin) -> Said:
    """Return what a provider says, its answer about the person before its token."""
    told = login.account.extra_data
    claims = {**told["id_token"], **told.get("userinfo", {})}
    words = {name: str(claims.get(name) or "") for name in ("email", "preferred_username", "name")}
    words = {name: value.replace("\0", "")[:254] for name, value in words.items()}
    return Said(
        issuer=_provider().issuer,
        subject=str(claims["sub"]),
        email=words["email"],
        # Some say "true" as text; whatever else they say is no.
        is_verified=claims.get("email_verified") in (True, "true"),
        username=words["preferred_username"],
        name=words["name"],
    )


class Adapter(DefaultSocialAccountAdapter):
    """Where allauth asks us: the one provider of the settings, and what to do with its answer."""

    def get_provider(self, request: HttpRequest, provider: Any, client_id: Any = None) -> Ours:
        return Ours(request, app=self.get_app(request, provider, client_id))

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        del request, provider, client_id
        known = _provider()
        told = {"name": known.name, "client_id": known.client_id, "secret": known.client_secret}
        server = {"server_url": known.issuer, "oauth_pkce_enabled": True}
        return [SocialApp(provider=KIND, provider_id=KIND, settings=server, **told)]

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> NoReturn:
        """Answer by our own way in; allauth's is never gone."""
        raise ImmediateHttpResponse(let_in(request, sociallogin))

    def on_authentication_error(self, request: HttpRequest, *_: Any, exception: Any = None, **__: Any) -> NoReturn:
        raise ImmediateHttpResponse(_unfit(request, exception))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        del request, sociallogin
        return False


def let_in(request: HttpRequest, login: SocialLogin) -> HttpResponse:
    now, known = timezone.now(), _provider()
    by = Who("person", "", address_of(request), getattr(request, "request_id", ""))
    if login.state.get("process") == AuthProcess.CONNECT:
        return _link(request, login, by, now)
    try:
        person = identities.person_of(said_by(login), provider=known, by=by, now=now)
    except Refusal as refusal:
        return refused(request, refusal.detail)
    next_url = login.get_redirect_url(request) or ""
    return entering.enter(request, person, by="OpenID Connect", next_url=next_url, now=now)
