"""What an agent says it can do, and what it binds its own writes to (contract.md 1.11)."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from memories import figures
from memories.api import bindings_docs, identity, screened
from memories.figures import Totals
from memories.rules import names
from memories.rules.refusals import Refused
from memories.viewers import Viewer
from senselab import api
from senselab.accounts import services as accounts
from senselab.accounts.models import Agent

MOST = 100
LONGEST = 2_000
Probability = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Days = Annotated[float, msgspec.Meta(gt=0.0, le=36_500.0)]


class ContractBody(msgspec.Struct, omit_defaults=False):
    """One contract. `default_ttl_days` is the time to live of writes that bring none."""

    entity_path: str
    key_pattern: str = "*"
    min_confidence: Probability | None = None
    max_confidence: Probability | None = None
    required_fields: list[str] = []
    ttl_required: bool = False
    default_ttl_days: Days | None = None
    description: str = ""


class CapabilityBody(msgspec.Struct):
    """One thing an agent can do, and where."""

    name: str
    description: str = ""
    entity_paths: list[str] = []


class ContractsBody(msgspec.Struct):
    """PUT /agents/ID/contracts: all of them; a bare list is taken as well."""

    contracts: list[ContractBody] = []


class CapabilitiesBody(msgspec.Struct):
    """PUT /agents/ID/capabilities: all of them; a bare list is taken as well."""

    capabilities: list[CapabilityBody] = []


def told(agent: Agent, viewer: Viewer) -> dict[str, Any]:
    """Return an agent as contract.md 1.11 has it; its entries are counted as far as the viewer may see them."""
    return told_all([agent], viewer)[0]


def told_all(agents: Sequence[Agent], viewer: Viewer) -> list[dict[str, Any]]:
    """Return agents as contract.md 1.11 has them; one statement for all."""
    sums = figures.by_agent(viewer)
    return [_told(agent, viewer, sums.get(agent.agent_id, Totals())) for agent in agents]


def said(agent: Agent, viewer: Viewer) -> dict[str, Any]:
    """Return what an agent says of itself; nothing of it names a path beyond the globs of the key that asks."""
    profile, named = agent.profile, agent.profile.get("auto_context_paths")
    if isinstance(named, list):
        profile = {**profile, "auto_context_paths": _reached(named, viewer)}
    able = [{**one, "entity_paths": _reached(one.get("entity_paths") or [], viewer)} for one in agent.capabilities]
    return {
        "profile": profile,
        # What names paths, and none within, is nothing that can be done there.
        "capabilities": [
            now for now, one in zip(able, agent.capabilities, strict=True)
            if now["entity_paths"] or not one.get("entity_paths")
        ],
        "contracts": [one for one in agent.contracts if viewer.reaches_path(one.get("entity_path", ""))],
    }  # fmt: skip


def _reached(paths: list[str], viewer: Viewer) -> list[str]:
    return [path for path in paths if viewer.reaches_path(path)]


def _told(agent: Agent, viewer: Viewer, sums: Totals) -> dict[str, Any]:
    return {
        "id": str(agent.pk),
        "namespace": "default",
        "agent_id": agent.agent_id,
        "display_name": agent.display_name or None,
        "created_at": agent.created_at,
        "last_active_at": agent.last_active_at,
        "entry_count": sums.entries,
        **said(agent, viewer),
    }


def listed(request: Request, name: str, shape: type[Any]) -> list[Any]:
    """Return the structs of a body that is a list, or an object that holds one under `name`.

    :raises Invalid: it is neither, or one of them cannot be.
    """
    if api.raw_body(request).lstrip()[:1] == b"[":
        found: list[Any] = screened.body_of(request, list[shape])  # type: ignore[type-var,valid-type]
    else:
        whole = ContractsBody if name == "contracts" else CapabilitiesBody
        found = getattr(screened.body_of(request, whole), name)
    if len(found) > MOST:
        raise Refused(f"/{name}", f"At most {MOST} are taken.")
    return found


def refuse_texts(kept: Any, pointer: str) -> None:
    """:raises Refused: a text is too long or holds NUL."""
    for name, value in kept.items():
        texts = value if isinstance(value, list) else [value]
        for text in texts:
            if isinstance(text, str) and (len(text) > LONGEST or "\0" in text):
                raise Refused(f"{pointer}/{name}", f"A text is at most {LONGEST} characters long and holds no NUL.")


class Contracts(APIView):
    """What an agent binds its own writes to."""

    @bindings_docs.contracts
    def put(self, request: Request, agent_id: str) -> HttpResponse:
        """Set all contracts of an agent; its next writes keep them or are refused with 422 by the contract's name."""
        agent = identity.agent_of(request, agent_id, writes=True)
        kept = []
        for place, body in enumerate(listed(request, "contracts", ContractBody)):
            pointer = f"/contracts/{place}"
            if body.min_confidence is not None and body.max_confidence is not None:
                refuse_empty_range(body, pointer)
            body.entity_path = names.clean_path(body.entity_path, pointer=f"{pointer}/entity_path")
            kept.append(msgspec.to_builtins(body))
            refuse_texts(kept[-1], pointer)
        viewer = identity.viewer_of(request, agent)
        found = accounts.describe_agent(viewer.account_id, agent, now=timezone.now(), contracts=kept)
        return api.answer(told(found, viewer))


def refuse_empty_range(body: ContractBody, pointer: str) -> None:
    """:raises Refused: no confidence could meet the contract."""
    if (body.min_confidence or 0.0) > (body.max_confidence or 0.0):
        raise Refused(f"{pointer}/min_confidence", "The least confidence is above the most.")


class Capabilities(APIView):
    """What an agent says it can do."""

    @bindings_docs.capabilities
    def put(self, request: Request, agent_id: str) -> HttpResponse:
        """Set all capabilities of an agent."""
        agent = identity.agent_of(request, agent_id, writes=True)
        kept = [msgspec.to_builtins(body) for body in listed(request, "capabilities", CapabilityBody)]
        for place, capability in enumerate(kept):
            refuse_texts(capability, f"/capabilities/{place}")
        viewer = identity.viewer_of(request, agent)
        found = accounts.describe_agent(viewer.account_id, agent, now=timezone.now(), capabilities=kept)
        return api.answer(told(found, viewer))
