"""The contracts of an agent, read together with the heads a write goes to."""

from collections.abc import Sequence
from typing import Any

import msgspec

from memories.rules.contracts import Contract, contract_of
from senselab import pipeline

OF_AGENT = "SELECT contracts::text FROM accounts_agent WHERE account_id = %s AND agent_id = %s AND contracts <> '[]'"


def query(account_id: int, agent_id: str) -> pipeline.Query:
    """Return the statement for an agent's contracts, to travel with others; its rows become contracts by `read`."""
    return OF_AGENT, [account_id, agent_id]


def read(rows: Sequence[Sequence[Any]]) -> list[Contract]:
    return [contract_of(kept) for row in rows for kept in msgspec.json.decode(row[0])]


def of(account_id: int, agent_id: str) -> list[Contract]:
    (rows,) = pipeline.fetch(query(account_id, agent_id))
    return read(rows)
