"""Identities: people as a provider of OpenID Connect knows them, and how one becomes a person here.

An identity is bound by the provider's own id of a person. The first time, a verified e-mail address stands in for it:
one that an admin of all accounts of that person wrote down here. What nobody verified is believed by nobody.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

from senselab.accounts import audit, people, services
from senselab.accounts.audit import Who
from senselab.accounts.models import Account, Identity, Membership, Person, Role
from senselab.errors import Conflict, Forbidden, Invalid, NotFound
from senselab.sign_on import Provider

LONGEST = 150
TWICE = "You came in twice at once. Log in again."


@dataclass(frozen=True, slots=True)
class Said:
    """What a provider says of somebody."""

    issuer: str
    subject: str
    email: str = ""
    is_verified: bool = False
    username: str = ""
    name: str = ""


@transaction.atomic
def person_of(said: Said, *, provider: Provider, by: Who, now: datetime) -> Person:
    """Return the person an identity is, linked at the first time; somebody new where strangers may join.

    :raises Forbidden: it is nobody's, in words for who tried.
    """
    known = Identity.objects.filter(issuer=said.issuer, subject=said.subject).select_related("person").first()
    person = known.person if known else _met_first(said, provider=provider, by=by, now=now)
    if not person.is_active:
        raise Forbidden("This person may not log in here any more.")
    return person


def _met_first(said: Said, *, provider: Provider, by: Who, now: datetime) -> Person:
    if not said.email:
        raise Forbidden(f"{provider.name} tells no e-mail address of yours, so nobody here can be found by it.")
    if not said.is_verified:
        raise Forbidden(f"{provider.name} does not say that {said.email} is verified, so it is not believed here.")
    person = Person.objects.filter(known_email=said.email.lower()).first()
    if person is not None:
        if Identity.objects.filter(person=person, issuer=said.issuer).exists():
            raise Forbidden(
                f"{said.email} leads to somebody whom {provider.name} knows under another id."
                " Ask an admin to take the address away and write it down again."
            )
        link(person, said, Identity.Link.EMAIL, now)
        who = Who(by.kind, person.username, by.address, by.request_id)
        people.tell_accounts(person, "identity_linked", by=who, now=now, after={"issuer": said.issuer})
        return person
    if provider.account:
        return _join(said, provider, by=by, now=now)
    raise Forbidden(
        f"Nobody here is known by {said.email}. Ask an admin to write it beside your name under Settings > People."
    )


def of(person: Person, issuer: str) -> Identity | None:
    """Return who a person is to a provider, None while nobody is linked."""
    return Identity.objects.filter(person=person, issuer=issuer).first()


@transaction.atomic
def link_own(person: Person, said: Said, *, by: Who, now: datetime) -> None:
    """Bind to a person who they are at the provider, as they proved both to be.

    :raises Conflict: it is somebody else's, or they are linked to another already.
    """
    known = Identity.objects.filter(issuer=said.issuer, subject=said.subject).first()
    if known is not None and known.person_id == person.pk:
        return
    if known is not None:
        raise Conflict("That is somebody else here already. Log in as them, or unlink it there first.")
    if of(person, said.issuer) is not None:
        raise Conflict("You are linked to another identity there. Unlink that one first.")
    link(person, said, Identity.Link.PERSON, now)
    after = {"issuer": said.issuer, "by": "the person"}
    people.tell_accounts(person, "identity_linked", by=by, now=now, after=after)


@transaction.atomic
def unlink_own(person: Person, issuer: str, *, has_other_way: bool, by: Who, now: datetime) -> None:
    """Take a person's identity away, and the e-mail that would let the provider link it again.

    :raises NotFound: they are not linked.
    :raises Conflict: nothing else would let them in.
    """
    if of(person, issuer) is None:
        raise NotFound("You are not linked there.")
    if not has_other_way:
        raise Conflict("Nothing else lets you in. Add a passkey first, or ask an admin for a password link.")
    Identity.objects.filter(person=person, issuer=issuer).delete()
    Person.objects.filter(pk=person.pk).update(known_email="")
    people.tell_accounts(person, "identity_unlinked", by=by, now=now, before={"issuer": issuer})


def link(person: Person, said: Said, reason: Identity.Link, now: datetime) -> None:
    """Bind an identity to a person for good.

    :raises Conflict: another request did at the same moment.
    """
    try:
        with transaction.atomic():
            told = {"issuer": said.issuer, "subject": said.subject, "linked_by": reason}
            Identity.objects.create(person=person, at=now, **told)
    except IntegrityError as error:
        raise Conflict(TWICE) from error


def _join(said: Said, provider: Provider, *, by: Who, now: datetime) -> Person:
    account = services.find_account(provider.account)
    person = Person(username=_free_name(said), first_name=said.name.strip()[:LONGEST], known_email=said.email.lower())
    person.set_unusable_password()
    try:
        with transaction.atomic():
            person.save()
    except IntegrityError as error:
        raise Conflict(TWICE) from error
    link(person, said, Identity.Link.JOINED, now)
    services.give_role(person, account, Role(provider.role))
    who = Who(by.kind, person.username, by.address, by.request_id)
    told = {"role": provider.role, "issuer": said.issuer}
    audit.record(account.pk, "joined", by=who, at=now, target=person.username, after=told)
    return person


def _free_name(said: Said) -> str:
    """Return a user name made of what a provider says, one that nobody has."""
    wanted = said.username or said.email.partition("@")[0]
    name = re.sub(r"[^\w.@+-]", "", wanted)[: LONGEST - 10] or "person"
    taken = set(Person.objects.filter(username__startswith=name).values_list("username", flat=True))
    return next(one for one in (name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))) if one not in taken)


@transaction.atomic
def know(account: Account, membership_id: int, email: str, *, by_person: Person, by: Who, now: datetime) -> Membership:
    """Write down the e-mail by which a person is known at their first sign-in; '' for none.

    Another address ends what the one before let in.

    :raises Invalid: it is no e-mail address.
    :raises Conflict: somebody else is known by it.
    :raises NotFound: nobody of that id belongs to the account.
    :raises Forbidden: they belong to an account that the one who asks does not look after.
    """
    one, wanted = people.looked_after(account, membership_id, by_person=by_person), email.strip().lower()
    if wanted == one.person.known_email:
        return one
    try:
        if wanted:
            validate_email(wanted)
        with transaction.atomic():
            Person.objects.filter(pk=one.person_id).update(known_email=wanted)
    except ValidationError as error:
        raise Invalid("That is no e-mail address.", "/email") from error
    except IntegrityError as error:
        raise Conflict("Somebody else is known by that address.") from error
    # Another address is for another identity, whoever linked the one before.
    Identity.objects.filter(person=one.person).delete()
    before, after = {"email": one.person.known_email}, {"email": wanted}
    people.tell_accounts(one.person, "email_known", by=by, now=now, before=before, after=after)
    return one
