"""Who looks, and what they may see (RULES.md 8): every read starts here."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from memories.rules.policy import Policy
from senselab.accounts.globs import Reach
from senselab.accounts.models import Account


@dataclass(frozen=True, slots=True)
class Viewer:
    """An agent of an account ('' without an identity: shared entries only), or a person, who sees everything."""

    account_id: int
    policy: Policy
    agent_id: str = ""
    sees_all: bool = False
    # Where the key that asks reaches: every one of these holds; none: everywhere.
    reaches: tuple[Reach, ...] = ()

    @property
    def owners(self) -> list[str]:
        return ["", self.agent_id] if self.agent_id else [""]

    def visible(self, alias: str = "e") -> str:
        """Return the condition on entries, or on anything with an owner; what it binds is in `parameters`."""
        of_account = f"{alias}.account_id = %(account)s"
        if self.sees_all:
            return of_account
        return f"{of_account} AND {alias}.owner = ANY(%(owners)s){self.within(alias)}"

    def within(self, alias: str = "e") -> str:
        """Return the rest of a condition that keeps a row's entity_path within the key's globs, '' without any."""
        column = f"{alias}.entity_path"
        return "".join(f" AND {reach.sql(column, f'reach_{n}')}" for n, reach in enumerate(self.reaches))

    def reaches_path(self, entity_path: str) -> bool:
        """Tell whether a path lies within the key's globs."""
        return all(reach.holds(entity_path) for reach in self.reaches)

    def reaches_key(self, entry_key: str) -> bool:
        """Tell whether an entry key can stand for an entry within the key's globs."""
        return all(reach.of_entry_key(entry_key) for reach in self.reaches)

    def sees(self, owner: str, entity_path: str) -> bool:
        """Tell whether an entry is one the viewer may see: what `visible` says in SQL."""
        return self.sees_all or (owner in self.owners and self.reaches_path(entity_path))

    def unhidden(self) -> str:
        """Return the condition that leaves out a shared entry e that the viewer's own listed private one hides now."""
        if self.sees_all or not self.agent_id:
            return "TRUE"
        return """NOT (e.owner = '' AND EXISTS (SELECT 1 FROM memories_entry p
            WHERE p.account_id = e.account_id AND p.branch = e.branch AND p.owner = %(agent)s AND p.owner <> ''
              AND p.entity_path = e.entity_path AND p.key = e.key AND p.status IN ('active', 'under_review')
              AND (p.ttl_at IS NULL OR p.ttl_at > %(now)s)))"""

    @property
    def parameters(self) -> dict[str, Any]:
        bound: dict[str, Any] = {"account": self.account_id, "owners": self.owners, "agent": self.agent_id}
        for n, reach in enumerate(self.reaches):
            bound |= reach.values(f"reach_{n}")
        return bound


@lru_cache(maxsize=1024)
def policy_of(account_id: int, version: int, values: str) -> Policy:
    """Return an account's policy, parsed once for each version of it."""
    del account_id
    return Policy.from_values({**msgspec.json.decode(values), "version": version})


def account_policy(account: Account) -> Policy:
    values = msgspec.json.encode(account.policy_values).decode()
    return policy_of(account.pk, account.policy_version, values)


def person(account: Account) -> Viewer:
    """Return the viewer a person with a role in an account is."""
    return Viewer(account.pk, account_policy(account), sees_all=True)
