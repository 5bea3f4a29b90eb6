"""Who looks, and what they may see (RULES.md 8): every read starts here."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from memories.rules.policy import Policy
from senselab.accounts.models import Account


@dataclass(frozen=True, slots=True)
class Viewer:
    """An agent of an account ('' without an identity: shared entries only), or a person, who sees everything."""

    account_id: int
    policy: Policy
    agent_id: str = ""
    sees_all: bool = False

    @property
    def owners(self) -> list[str]:
        return ["", self.agent_id] if self.agent_id else [""]

    def visible(self, alias: str = "e") -> str:
        """Return the condition on entries, or on anything with an owner; it binds %(account)s and %(owners)s."""
        of_account = f"{alias}.account_id = %(account)s"
        return of_account if self.sees_all else f"{of_account} AND {alias}.owner = ANY(%(owners)s)"

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
        return {"account": self.account_id, "owners": self.owners, "agent": self.agent_id}


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
