"""Bodies of calls that store words of theirs: held, as a whole, to the account's rule about keys and tokens."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from rest_framework.request import Request

from memories import screening
from memories.rules.policy import Policy
from memories.rules.refusals import Refused
from memories.services import guarding
from memories.viewers import policy_of
from senselab import api
from senselab.accounts.keys import Caller
from senselab.errors import Invalid

# Where a whole stands that callers know by one name.
MOST = 1_000
WHOLE = re.compile(r"(/(?:value|artifact_refs))/.*")


def body_of(request: Request, shape: type[api.T]) -> api.T:
    """Return the body as a struct, as it may be stored; whoever reads its text after this reads that.

    :raises Refused: it holds a key or a token and the account refuses those, or it cannot be looked through in time.
    :raises Invalid: it is no JSON, or not of that shape.
    :raises TooLarge: it is longer than 8 MiB.
    """
    body = api.body_of(request, shape)
    caller: Caller = request.user
    policy = policy_of(caller.account_id, caller.policy_version, caller.policy_values)
    if not guarding.acts_before(policy):
        return body
    try:
        text = api.raw_body(request).decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"The body is not JSON: {error}") from error
    try:
        kept = guarding.kept_text(text, policy, pointer="")
    except Refused as refused:
        raise Refused(_place(text), refused.detail) from refused
    if kept == text:
        return body
    # Half a character is refused where the body is read again.
    request._request._body = kept.encode(errors="surrogatepass")
    return api.body_of(request, shape)


def said(text: str, policy: Policy, pointer: str) -> str:
    """Return one text of a body as it may be stored.

    :raises Refused: as of a body.
    """
    if not guarding.acts_before(policy):
        return text
    kept: list[str] = json.loads(guarding.kept_text(json.dumps([text], ensure_ascii=False), policy, pointer=pointer))
    return kept[0]


def _place(text: str) -> str:
    """Return where in a body a key stands, '' where no single string shows it, or nobody can read that far."""
    try:
        strings = islice(_strings(json.loads(text or "{}"), ""), MOST)
        return WHOLE.sub(r"\1", next((where for where, said in strings if screening.hits(said)), ""))
    except (ValueError, RecursionError, screening.TooSlow):
        return ""


def _strings(node: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield each string with its place, in JSON that says its member's name as well: some keys are known by it."""
    members = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, value in members:
        here = f"{where}/{str(name).replace('~', '~0').replace('/', '~1')}"
        if isinstance(value, str):
            yield here, json.dumps({str(name): value}, ensure_ascii=False)
        else:
            yield from _strings(value, here)
