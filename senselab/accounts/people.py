"""Everything that changes who belongs to an account: roles, invitations, passwords, sessions."""

import hashlib
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from senselab.accounts import audit, services
from senselab.accounts.audit import Who
from senselab.accounts.models import Account, Identity, Invitation, Membership, Person, Role, SignIn
from senselab.errors import Conflict, Forbidden, Invalid, NotFound

LASTS = timedelta(days=7)


class PasswordTokens(PasswordResetTokenGenerator):
    """Tokens that end as well when a person joins or leaves an account: who made them may not look after that one."""

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        found = Membership.objects.filter(person_id__in=[user.pk]).values_list("account_id", flat=True)
        return f"{super()._make_hash_value(user, timestamp)}{sorted(found)}"


password_tokens = PasswordTokens()


def members(account: Account) -> list[Membership]:
    """Return who belongs to an account, admins first."""
    order = {role: place for place, role in enumerate((Role.ADMIN, Role.REVIEWER, Role.VIEWER))}
    found = Membership.objects.filter(account=account).select_related("person")
    return sorted(found, key=lambda one: (order[Role(one.role)], one.person.username))


def _member(account: Account, membership_id: int) -> Membership:
    """Return a locked membership; all of the account's are locked with it, so that two cannot take the last admin.

    :raises NotFound: the account has none of that id.
    """
    locked = Membership.objects.filter(account=account).order_by("pk").select_for_update(of=("self",))
    found = {one.pk: one for one in locked.select_related("person")}
    if membership_id not in found:
        raise NotFound("There is nobody like that in this account.")
    one = found[membership_id]
    if one.role == Role.ADMIN and sum(other.role == Role.ADMIN for other in found.values()) == 1:
        one.is_last_admin = True  # type: ignore[attr-defined]
    return one


def refuse_last(one: Membership) -> None:
    """:raises Conflict: nobody else could look after the account."""
    if getattr(one, "is_last_admin", False):
        raise Conflict("This is the last admin: make somebody else one first.")


@transaction.atomic
def change_role(account: Account, membership_id: int, role: str, *, by: Who, now: datetime) -> Membership:
    """Give a person another role.

    :raises NotFound: nobody of that id belongs to the account.
    :raises Invalid: there is no such role.
    :raises Conflict: they are the last admin.
    """
    wanted = role_of(role)
    one = _member(account, membership_id)
    if one.role == wanted:
        return one
    refuse_last(one)
    Membership.objects.filter(account=account, pk=one.pk).update(role=wanted)
    before, after = {"role": one.role}, {"role": str(wanted)}
    audit.record(account.pk, "role_given", by=by, at=now, target=one.person.username, before=before, after=after)
    one.role = wanted
    return one


@transaction.atomic
def take_role(account: Account, membership_id: int, *, by: Who, now: datetime) -> Membership:
    """Take a person out of the account; what they did stays on record.

    :raises NotFound: nobody of that id belongs to the account.
    :raises Conflict: they are the last admin.
    """
    one = _member(account, membership_id)
    refuse_last(one)
    Membership.objects.filter(account=account, pk=one.pk).delete()
    audit.record(account.pk, "role_taken", by=by, at=now, target=one.person.username, before={"role": one.role})
    return one


def role_of(word: str) -> Role:
    """:raises Invalid: it is no role."""
    if word not in Role.values:
        raise Invalid(f"A role is one of {', '.join(Role.values)}.", "/role")
    return Role(word)


def sha256(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


@transaction.atomic
def invite(account: Account, role: str, *, note: str, by: Who, now: datetime) -> str:
    """Make an invitation and return its token, which nobody can show again.

    :raises Invalid: there is no such role, or the note is too long.
    """
    wanted, words = role_of(role), note.strip()
    if len(words) > 200 or "\0" in words:
        raise Invalid("A note is at most 200 characters long.", "/note")
    token = secrets.token_urlsafe(32)
    Invitation.objects.create(
        account=account,
        token_sha256=sha256(token),
        role=wanted,
        note=words,
        made_by=by.name[:150],
        created_at=now,
        expires_at=now + LASTS,
    )
    audit.record(account.pk, "invited", by=by, at=now, target=words, after={"role": wanted})
    return token


def invitations(account: Account, now: datetime) -> list[Invitation]:
    """Return the invitations that can still be accepted, newest first."""
    return list(Invitation.objects.filter(account=account, ended_at=None, expires_at__gt=now).order_by("-id"))


@transaction.atomic
def withdraw(account: Account, invitation_id: int, *, by: Who, now: datetime) -> None:
    """:raises NotFound: there is no such invitation that could still be accepted."""
    found = Invitation.objects.select_for_update().filter(account=account, pk=invitation_id, ended_at=None).first()
    if found is None:
        raise NotFound("There is no such invitation.")
    Invitation.objects.filter(account=account, pk=found.pk).update(ended_at=now)
    audit.record(account.pk, "invitation_withdrawn", by=by, at=now, target=found.note, before={"role": found.role})


def invitation_of(token: str, now: datetime) -> Invitation:
    """Return the invitation behind a link.

    :raises NotFound: there is none, or it was used, withdrawn, or is too old; the words are the same for all.
    """
    found = Invitation.objects.select_related("account").filter(token_sha256=sha256(token)).first()
    if found is None or found.ended_at is not None or found.expires_at <= now:
        raise NotFound("This invitation is not valid any more. Ask for another one.")
    return found


@transaction.atomic
def accept(token: str, person: Person, *, by: Who, now: datetime) -> Membership:
    """Let a person into the account an invitation is for; somebody who belongs to it already keeps the higher role.

    :raises NotFound: the invitation is not valid any more.
    """
    found = invitation_of(token, now)
    used = Invitation.objects.filter(account=found.account, pk=found.pk, ended_at=None)
    if not used.update(ended_at=now, accepted_by=person.username):
        raise NotFound("This invitation is not valid any more. Ask for another one.")
    present = Membership.objects.filter(account=found.account, person=person).first()
    if present is None:
        forget_email(person)
    ranks = list(Role.values)
    if present is None or ranks.index(present.role) < ranks.index(found.role):
        present = services.give_role(person, found.account, Role(found.role))
    told = {"role": present.role, "invited_by": found.made_by}
    audit.record(found.account_id, "invitation_accepted", by=by, at=now, target=person.username, after=told)
    return present


def forget_email(person: Person) -> None:
    """Forget the e-mail an admin answered for, and whom it let in: they do not look after the account joined now."""
    if Membership.objects.filter(person_id__in=[person.pk]).exists():
        Person.objects.filter(pk=person.pk).update(known_email="")
        Identity.objects.filter(person=person, linked_by=Identity.Link.EMAIL).delete()


def new_person(username: str, password: str, *, name: str = "") -> Person:
    """Make somebody who can log in.

    :raises Invalid: the name cannot be one, or the password is too weak.
    :raises Conflict: somebody has that name.
    """
    person = Person(username=Person.normalize_username(username.strip()), first_name=name.strip()[:150])
    try:
        person.clean_fields(exclude=["password"])
        validate_password(password, person)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages), "/password") from error
    person.set_password(password)
    try:
        with transaction.atomic():
            person.save()
    except IntegrityError as error:
        raise Conflict("Somebody has that user name already; log in, or take another one.") from error
    return person


def looked_after(account: Account, membership_id: int, *, by_person: Person) -> Membership:
    """Return the membership of a person all of whose accounts the one who asks looks after.

    :raises NotFound: nobody of that id belongs to the account.
    :raises Forbidden: they belong to another account as well: what lets them in here would be a way into it.
    """
    one = _member(account, membership_id)
    theirs = set(Membership.objects.filter(person_id__in=[one.person_id]).values_list("account_id", flat=True))
    mine = Membership.objects.filter(person_id__in=[by_person.pk], role=Role.ADMIN)
    if not theirs <= set(mine.values_list("account_id", flat=True)) or one.person.is_superuser:
        raise Forbidden(
            "This person belongs to an account you do not look after, so you cannot change how they log in."
        )
    return one


@transaction.atomic
def password_link(
    account: Account, membership_id: int, *, by_person: Person, by: Who, now: datetime
) -> tuple[str, str]:
    """Return what a link holds that lets a person set another password once, within a day: who, and the token.

    :raises NotFound: nobody of that id belongs to the account.
    :raises Forbidden: they belong to an account that the one who asks does not look after.
    """
    one = looked_after(account, membership_id, by_person=by_person)
    audit.record(account.pk, "password_link_made", by=by, at=now, target=one.person.username)
    return urlsafe_base64_encode(force_bytes(one.person_id)), password_tokens.make_token(one.person)


def tell_accounts(
    person: Person,
    action: str,
    *,
    by: Who,
    now: datetime,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Write to the trail of every account a person belongs to."""
    found = Membership.objects.filter(person_id__in=[person.pk]).values_list("account_id", flat=True)
    for account_id in found:
        audit.record(account_id, action, by=by, at=now, target=person.username, before=before, after=after)


def begin(person: Person, session_key: str, *, address: str | None, browser: str, now: datetime) -> None:
    """Remember that a person signed in."""
    told = {"person": person, "at": now, "address": address, "browser": browser.replace("\0", "")[:200]}
    SignIn.objects.update_or_create(session_key=session_key, defaults=told)


def begin_again(session_key: str, person: Person, by: tuple[str | None, str], now: datetime) -> None:
    """Remember the one session that goes on, under the key it has by now."""
    if session_key:
        begin(person, session_key, address=by[0], browser=by[1], now=now)


def sign_ins(person: Person, now: datetime) -> list[SignIn]:
    """Return the sign-ins of a person that are still good, newest first."""
    found = list(SignIn.objects.filter(person=person).order_by("-at"))
    keys = Session.objects.filter(session_key__in=[one.session_key for one in found], expire_date__gt=now)
    living = set(keys.values_list("session_key", flat=True))
    return [one for one in found if one.session_key in living]


@transaction.atomic
def end(person: Person, sign_in_id: int) -> None:
    """End one session of a person.

    :raises NotFound: they have none of that id.
    """
    found = SignIn.objects.filter(person=person, pk=sign_in_id).first()
    if found is None:
        raise NotFound("There is no such sign-in.")
    Session.objects.filter(session_key=found.session_key).delete()
    found.delete()


@transaction.atomic
def end_all(person: Person, *, but: str = "") -> None:
    """End every session of a person at once, known or not, but one that the caller binds anew."""
    person.session_salt = secrets.token_hex(16)
    person.save(update_fields=["session_salt"])
    gone = SignIn.objects.filter(person=person).exclude(session_key=but)
    Session.objects.filter(session_key__in=list(gone.values_list("session_key", flat=True))).delete()
    gone.delete()


def signed_in_since(person: Person, session_key: str, since: datetime) -> bool:
    """Tell whether a session of a person began after a moment."""
    return SignIn.objects.filter(person=person, session_key=session_key, at__gt=since).exists()
