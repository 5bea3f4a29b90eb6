"""Second factors: an app that shows codes, passkeys, and recovery codes for the day when both are lost.

They belong to the person, whatever accounts they look at. allauth keeps and checks them; what is ours is who may change
them, that it is on record, and that a code works once however many processes are asked.
"""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.utils import decrypt
from django.db import transaction

from senselab.accounts import audit, people
from senselab.accounts.audit import Who
from senselab.accounts.models import Account, Identity, Membership, Person
from senselab.errors import Conflict, Invalid, NotFound

Type = Authenticator.Type
# What lets a person in beside the password; recovery codes only stand in for one of these.
WHOLE = (Type.TOTP, Type.WEBAUTHN)
WRONG = "That is not a code that works now."


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey as its owner knows it."""

    id: int
    name: str
    made_at: datetime
    used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Factors:
    """The second factors of a person."""

    app: Authenticator | None
    passkeys: list[Passkey]
    codes_left: int

    @property
    def any(self) -> bool:
        return bool(self.app or self.passkeys)


def of(person: Person) -> Factors:
    """Return a person's second factors, passkeys in the order they came."""
    found = list(Authenticator.objects.filter(user=person).order_by("pk"))
    app = next((one for one in found if one.type == Type.TOTP), None)
    codes = next((one for one in found if one.type == Type.RECOVERY_CODES), None)
    keys = [
        Passkey(one.pk, one.data.get("name", ""), one.created_at, one.last_used_at)
        for one in found
        if one.type == Type.WEBAUTHN
    ]
    return Factors(app, keys, len(RecoveryCodes(codes).get_unused_codes()) if codes else 0)


def has(person_id: int) -> bool:
    """Tell whether a person has a second factor."""
    return Authenticator.objects.filter(user_id=person_id, type__in=WHOLE).exists()


def owners(members: Iterable[Membership]) -> set[int]:
    """Return which of some people have a second factor."""
    found = Authenticator.objects.filter(user_id__in=[one.person_id for one in members], type__in=WHOLE)
    return set(found.values_list("user_id", flat=True))


def picture(person: Person, secret: str) -> str:
    """Return the address of a picture that hands a new secret to an app."""
    from qrcode import QRCode
    from qrcode.image.svg import SvgPathFillImage

    code = QRCode(box_size=10, border=3)
    code.add_data(get_adapter().build_totp_url(person, secret))
    svg = code.make_image(image_factory=SvgPathFillImage).to_string()
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def locked(person: Person) -> list[Authenticator]:
    """Return all factors of a person, locked with the person, so that two requests change them one after the other."""
    Person.objects.select_for_update(no_key=True).get(pk=person.pk)
    return list(Authenticator.objects.filter(user=person).order_by("pk"))


def _counter(secret: str, code: str) -> int | None:
    """Return the interval of time a code belongs to, None when it is none of about now."""
    for counter in totp.yield_hotp_counters_from_time():
        if compare_user_code(actual=code, expected=totp.format_hotp_value(totp.hotp_value(secret, counter))):
            return counter
    return None


def first_codes(person: Person, found: list[Authenticator]) -> list[str]:
    """Return recovery codes when these are the first: with a factor that is not the first they are there already."""
    if any(one.type == Type.RECOVERY_CODES for one in found):
        return []
    return RecoveryCodes.activate(person).generate_codes()


@transaction.atomic
def add_app(person: Person, secret: str, code: str, *, by: Who, now: datetime) -> list[str]:
    """Begin to ask for codes of an app, and return the recovery codes when there were none.

    :raises Conflict: there is an app already.
    :raises Invalid: the code is none of this secret's.
    """
    found = locked(person)
    if any(one.type == Type.TOTP for one in found):
        raise Conflict("There is an app already: remove it first.")
    counter = _counter(secret, code)
    if counter is None:
        raise Invalid(f"{WRONG} Look at the app's latest, and at the clock of your phone.", "/code")
    made = totp.TOTP.activate(person, secret).instance
    made.data["last"] = counter
    made.save(update_fields=["data"])
    people.tell_accounts(person, "factor_added", by=by, now=now, after={"kind": "app"})
    return first_codes(person, found)


@transaction.atomic
def proves(person: Person, code: str, now: datetime) -> str:
    """Return what a code is, "code" of the app or "recovery code", '' for neither; each works once."""
    for one in locked(person):
        if one.type == Type.TOTP and _app_proves(one, code):
            kind = "code"
        elif one.type == Type.RECOVERY_CODES and RecoveryCodes(one).validate_code(code):
            kind = "recovery code"
        else:
            continue
        Authenticator.objects.filter(pk=one.pk).update(last_used_at=now)
        return kind
    return ""


def _app_proves(app: Authenticator, code: str) -> bool:
    counter = _counter(decrypt(app.data["secret"]), code)
    # A code that was used, or one older than that, might have been seen on its way.
    if counter is None or counter <= app.data.get("last", 0):
        return False
    app.data["last"] = counter
    app.save(update_fields=["data"])
    return True


@transaction.atomic
def remove(person: Person, factor_id: int, *, by: Who, now: datetime) -> bool:
    """Take a factor away, the recovery codes with the last one; return whether another is left.

    :raises NotFound: the person has none of that id.
    """
    found = {one.pk: one for one in locked(person) if one.type in WHOLE}
    if factor_id not in found:
        raise NotFound("There is no such factor.")
    gone = found.pop(factor_id)
    mine = Authenticator.objects.filter(user=person)
    (mine.filter(pk=factor_id) if found else mine).delete()
    told = {"kind": "passkey", "name": gone.data.get("name", "")} if gone.type == Type.WEBAUTHN else {"kind": "app"}
    people.tell_accounts(person, "factor_removed", by=by, now=now, before=told)
    return bool(found)


@transaction.atomic
def new_codes(person: Person, *, by: Who, now: datetime) -> list[str]:
    """Make other recovery codes; those before work no more.

    :raises Conflict: there is no factor that they could stand in for.
    """
    if not any(one.type in WHOLE for one in locked(person)):
        raise Conflict("Recovery codes stand in for an app or a passkey: add one first.")
    Authenticator.objects.filter(user=person, type=Type.RECOVERY_CODES).delete()
    people.tell_accounts(person, "recovery_codes_made", by=by, now=now)
    return RecoveryCodes.activate(person).generate_codes()


@transaction.atomic
def reset(account: Account, membership_id: int, *, by_person: Person, by: Who, now: datetime) -> Membership:
    """Take all factors of a person away, who lost them, and end their sessions.

    :raises NotFound: nobody of that id belongs to the account.
    :raises Forbidden: the person belongs to an account that the one who asks does not look after.
    :raises Conflict: it is the one who asks.
    """
    one = people.looked_after(account, membership_id, by_person=by_person)
    if one.person_id == by_person.pk:
        raise Conflict("Your own second factors change under Your security, with your password.")
    forget(one.person, by=by, now=now)
    return one


@transaction.atomic
def forget(person: Person, *, by: Who, now: datetime) -> None:
    """Take all factors of a person away, whoever a provider says they are as well, and end their sessions."""
    locked(person)
    Identity.objects.filter(person=person).delete()
    Authenticator.objects.filter(user=person).delete()
    people.end_all(person)
    people.tell_accounts(person, "factors_reset", by=by, now=now)


@transaction.atomic
def require(account: Account, required: bool, *, by: Who, now: datetime) -> None:
    """Ask everybody who looks at an account for a second factor, or stop to."""
    changed = Account.objects.filter(pk=account.pk).exclude(second_factor_required=required)
    if changed.update(second_factor_required=required):
        told = {"before": {"required": not required}, "after": {"required": required}}
        audit.record(account.pk, "second_factor_rule", by=by, at=now, **told)  # type: ignore[arg-type]
