"""Passkeys: what a browser and a device prove together, beside a password or instead of one (WebAuthn)."""

import json
import struct
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal import auth as webauthn
from django.core.exceptions import ValidationError
from django.db import transaction

from senselab.accounts import factors, people
from senselab.accounts.audit import Who
from senselab.accounts.models import Person
from senselab.errors import Conflict, Invalid

MOST = 20
LONGEST = 100_000
# What comes from a browser may be anything; these are what reading it raises.
UNFIT = (ValidationError, ValueError, TypeError, KeyError, AttributeError, IndexError, struct.error)


def options(person: Person) -> dict[str, Any]:
    """Return what a browser needs to make a passkey, which works alone as well: it asks who holds it for a proof."""
    return webauthn.begin_registration(person, passwordless=True)


@transaction.atomic
def add(person: Person, name: str, credential: str, *, by: Who, now: datetime) -> list[str]:
    """Keep a passkey that a browser made, and return the recovery codes when there were none.

    :raises Invalid: it has no name, or is no answer to what the browser was asked.
    :raises Conflict: there are as many as one may have.
    """
    words = name.strip()
    if not words or len(words) > 100 or "\0" in words:
        raise Invalid("A passkey has a name of at most 100 characters.", "/name")
    found = factors.locked(person)
    if sum(one.type == Authenticator.Type.WEBAUTHN for one in found) >= MOST:
        raise Conflict(f"{MOST} passkeys are as many as there may be: remove one first.")
    try:
        made = _parsed(credential)
        webauthn.parse_registration_response(made)
        webauthn.complete_registration(made)
    except UNFIT as error:
        raise Invalid("What the browser answered does not fit. Begin again.", "/credential") from error
    webauthn.WebAuthn.add(person, words, made)
    people.tell_accounts(person, "factor_added", by=by, now=now, after={"kind": "passkey", "name": words})
    return factors.first_codes(person, found)


def _parsed(credential: str) -> dict[str, Any]:
    """:raises ValueError: it is no JSON object of a size that a browser sends."""
    if len(credential) > LONGEST:
        raise ValueError("too long")
    found = json.loads(credential)
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def sign_in_options(person: Person | None = None) -> dict[str, Any]:
    """Return what a browser needs to prove a passkey: one of a person's, or any that says itself whose it is."""
    return webauthn.begin_authentication(person)


@dataclass(frozen=True, slots=True)
class Proof:
    """What a passkey says: whose it is, and whether it holds; `alone` when its holder was asked for a proof as well."""

    person: Person | None
    holds: bool = False
    alone: bool = False


def proof_of(credential: str, *, person: Person | None = None, now: datetime) -> Proof:
    """Return what a browser's answer proves, of a person or of whom it names."""
    whose = person
    try:
        told = _parsed(credential)
        if whose is None:
            whose = webauthn.extract_user_from_response(told)
        assert whose is not None
        used = webauthn.complete_authentication(whose, told)
        alone = webauthn.parse_authentication_response(told).response.authenticator_data.is_user_verified()
    except UNFIT:
        return Proof(whose)
    Authenticator.objects.filter(pk=used.pk).update(last_used_at=now)
    return Proof(whose, holds=True, alone=alone)
