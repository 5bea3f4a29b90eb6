"""Who is asking: a bound key's agent, else the body's, else the header's, else, on a write, the key's name."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from rest_framework.request import Request

from memories import probation
from memories.rules import names
from memories.rules.refusals import Refused
from memories.services.ledger import Actor
from memories.viewers import Viewer, policy_of
from senselab.accounts.globs import EVERYTHING, Grant, Reach
from senselab.accounts.keys import Caller
from senselab.errors import Conflict, Forbidden


def agent_of(request: Request, said: str | None = None, *, writes: bool = False) -> str:
    """Return the agent a call speaks for, '' when it names none.

    :raises Conflict: a write for another agent than the key is bound to.
    :raises Forbidden: the same on any other call.
    """
    caller: Caller = request.user
    header = request.META.get("HTTP_X_AMFS_AGENT_ID", "")
    asked = names.clean_name(said, pointer="/agent_id") if said else header and names.clean_name(header)
    if caller.agent_id:
        if asked and asked not in {caller.agent_id, in_a_header(caller.agent_id)}:
            refusal = Conflict if writes else Forbidden
            raise refusal(f"This key speaks for {caller.agent_id}, not for {asked}.")
        return caller.agent_id
    return asked or (names.clean_name(caller.key_name) if writes else "")


def on_probation(request: Request, viewer: Viewer, agent_id: str, now: datetime) -> bool:
    """Tell whether what a call writes waits for somebody else: its agent is new, or its key not bound to it."""
    caller: Caller = request.user
    return probation.holds(viewer, agent_id, is_bound=caller.agent_id != "", now=now)


def in_a_header(agent_id: str) -> str:
    """Return an agent id as the public client can say it in a header: printable ASCII, 256 characters."""
    return "".join(letter for letter in agent_id if " " <= letter <= "~")[:256]


def session_of(request: Request, said: str | None = None) -> str:
    text = said or request.META.get("HTTP_X_AMFS_SESSION", "")
    return names.clean_name(text, pointer="/session_id") if text else ""


def viewer_of(request: Request, agent_id: str, *, writes: bool = False) -> Viewer:
    """Return who looks; with `writes`, of what they may read only what they may change as well."""
    caller: Caller = request.user
    policy = policy_of(caller.account_id, caller.policy_version, caller.policy_values)
    grant = caller.grant
    if grant is EVERYTHING:
        return Viewer(caller.account_id, policy, agent_id)
    reaches = (grant.read, grant.write) if writes else (grant.read,)
    return Viewer(caller.account_id, policy, agent_id, reaches=tuple(one for one in reaches if one))


def within(request: Request, entity_path: str, *permissions: str) -> str:
    """Return a path that lies within the key's globs for reading, or for the permissions named: read, write.

    Asked before anything is looked up, so that the answer is the same whether something is there or not.

    :raises Forbidden: it lies outside.
    """
    for permission, reach in asked_of(request, permissions):
        if not reach.holds(entity_path):
            raise Forbidden(f"This key has no {permission} permission for the path {entity_path}.")
    return entity_path


def key_within(request: Request, entry_key: str, *permissions: str) -> str:
    """Return an entry key that can stand for an entry within the key's globs; see `within`.

    :raises Forbidden: whatever it stands for lies outside.
    """
    for permission, reach in asked_of(request, permissions):
        if not reach.of_entry_key(entry_key):
            raise Forbidden(f"This key has no {permission} permission for the entry {entry_key}.")
    return entry_key


def asked_of(request: Request, permissions: Sequence[str]) -> Iterator[tuple[str, Reach]]:
    grant: Grant = request.user.grant
    for permission in permissions or ("read",):
        reach = grant.read if permission == "read" else grant.write
        if reach is not None:
            yield permission, reach


def actor_of(request: Request, agent_id: str, session_id: str = "") -> Actor:
    return Actor("agent", agent_id, session_id, request._request.request_id)


def since_of(text: str, pointer: str = "/since") -> datetime:
    """Return a moment from a query string.

    :raises Refused: it is no ISO-8601 moment.
    """
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError as error:
        raise Refused(pointer, f"{text!r} is no ISO-8601 moment.", 400) from error
    return in_utc(moment, pointer)


def in_utc(moment: datetime, pointer: str) -> datetime:
    """Return a moment in UTC; one that names no time zone is UTC already, as the public client means it.

    :raises Refused: in UTC it lies outside the years 1 to 9999, which the database knows and nothing here can read.
    """
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise Refused(pointer, "In UTC a moment lies within the years 1 to 9999.") from error


def zoned(moment: datetime, pointer: str) -> datetime:
    """Return a moment in UTC.

    :raises Refused: it names no time zone, or lies outside the years 1 to 9999.
    """
    if moment.tzinfo is None:
        raise Refused(pointer, "A moment names its time zone.")
    return in_utc(moment, pointer)
