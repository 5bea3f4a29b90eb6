"""Which entry a page is about: named by its address, in any state, private ones by their owner."""

from collections.abc import Mapping
from typing import NamedTuple

from django.http import HttpRequest, QueryDict

from memories.heads import Name
from memories.rules import names
from memories.rules.refusals import NameRefused
from senselab.errors import NotFound

LAST = 2_147_483_647


class Asked(NamedTuple):
    """An entry as an address names it; `owner` is None when it does not say whose."""

    branch: str
    name: Name
    owner: str | None

    @property
    def fields(self) -> Mapping[str, str]:
        """Return what names the entry in a form."""
        named = {"path": self.name.entity_path, "key": self.name.key}
        if self.branch != "main":
            named["branch"] = self.branch
        return named if self.owner is None else {**named, "owner": self.owner}


def asked(request: HttpRequest) -> Asked:
    """Return the entry that an address, or the form sent to it, names.

    :raises NotFound: it names none, or in a way that nothing can be named.
    """
    query = request.GET
    owner = query.get("owner")
    try:
        return Asked(
            names.clean_name(query.get("branch") or "main"),
            Name(names.clean_path(query.get("path")), names.clean_key(query.get("key"))),
            names.clean_name(owner) if owner else owner,
        )
    except NameRefused as refusal:
        raise NotFound("This address names no entry.") from refusal


def version_in(query: QueryDict, name: str) -> int | None:
    """Return a version number of an address, None when it is not there.

    :raises NotFound: it is no number that a version can have.
    """
    text = query.get(name, "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 10 or not 1 <= int(text) <= LAST:
        raise NotFound("Versions are whole numbers from 1.")
    return int(text)
