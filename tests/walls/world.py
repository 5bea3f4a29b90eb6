"""What somebody else has: an account with a canary word in every place there is, and what private entries leave."""

import json
import secrets
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from django.utils import timezone

from memories.models import BulkRun, JobRun
from memories.services import policies, running
from memories.services.ledger import Actor
from senselab.accounts import people
from senselab.accounts import services as accounts
from senselab.accounts.audit import SYSTEM, Who
from senselab.accounts.models import Account, ApiKey, Invitation, Membership, Person, Role, SignIn
from tests.api.conftest import Caller
from tests.walls.asking import CANARY, SCOPES

# By the same names a world names what it has; a table of calls knows no others.
NAMES: dict[str, Any] = {
    "path": "kanari-path/vault",
    "top": "kanari-path",
    "key": "kanari-key",
    "other": "kanari-other",
    "agent": "agent/kanari-agent",
    "session": "kanari-session",
    "ref": "kanari-ref",
    "branch": "kanari-branch",
    "value": "kanari-value",
    "words": "kanari-words",
}


class World(SimpleNamespace):
    """The names of what is there: a table of calls asks by them."""

    @property
    def entry(self) -> str:
        return f"{self.path}/{self.key}"

    @property
    def named(self) -> dict[str, str]:
        return {"entity_path": self.path, "key": self.key}


def learn(caller: Caller, *, shared: bool) -> World:
    """Let an agent write, report and tell in every way there is; return the names of what that left."""
    world = World(**NAMES)
    more = {"shared": shared, "session_id": world.session, "pattern_refs": ["kanari-path/vault/kanari-hint"]}
    for number in (1, 2, 3):
        value = {"said": f"kanari-value {number}", "kanari-field": number}
        made = caller.write(world.path, world.key, value, confidence=0.6, memory_type="belief", **more)
    world.change_set = made["X-Change-Set"]
    caller.write(world.path, world.other, "kanari-value retries help with jitter", confidence=0.2, **more)
    caller.write(world.path, "kanari-third", "kanari-value retries help with jitter", confidence=0.9, **more)
    caller.write(world.path, "kanari-draft", "kanari-value", branch=world.branch, **more)
    soon = {"ttl_at": "2090-01-01T00:00:00Z"}
    caller.write("kanari-path", "kanari-ttl", "kanari-value", **soon, **more)
    world.commit = commit(caller, world, shared=shared)
    judge(caller, world)
    return world


def commit(caller: Caller, world: World, *, shared: bool) -> str:
    writes = [{**world.named, "value": "kanari-value committed", "shared": shared}]
    made = caller.post("commits", {"writes": writes, "message": "kanari-message", "session_id": world.session})
    assert made.status_code == 200, made.content
    return made.json()["commit_id"]


def judge(caller: Caller, world: World) -> None:
    """Let people's tools say what they think of it."""
    done = [
        caller.post("feedback", {**world.named, "outcome": "accepted", "note": "kanari-note"}),
        caller.post("evidence", {**world.named, "evidence": {"description": "kanari-evidence"}}),
        caller.post("observations", {"data": {"prompt": "perfect"}, "entries": [world.entry], "apply": True}),
        decide(caller, world, world.other, 1, "comment", text="kanari-comment"),
        decide(caller, world, world.other, 1, "accept", reason="kanari-reason"),
        caller.post("rollback", {**world.named, "to_version": 1, "expected_version": 7, "reason": "kanari-back"}),
    ]
    assert [one.status_code for one in done] == [200] * len(done), [one.content for one in done]
    world.decision = done[4].json()["change_set"]


def decide(caller: Caller, world: World, key: str, version: int, word: str, **more: Any) -> Any:
    item = {"entity_path": world.path, "key": key, "version": version}
    return caller.post("review/decisions", {"items": [item], "decision": word, **more})


def end(caller: Caller, world: World) -> None:
    """Let its tasks end, and tell how: what others may know of as well, but for its words."""
    said = {
        "task_input": "kanari-task retries with jitter",
        "response_text": "kanari-response",
        "situation": "kanari-situation",
        "covariates": {"kanari-covariate": True},
        "tool_calls": [{"tool_name": "kanari-tool", "arguments": "kanari-arguments", "success": True}],
        "session_metadata": {"attributes": {"kanari-attribute": "kanari-attributed"}},
        "attempts": [{"outcome_type": "failure", "causal_entry_keys": [world.entry], "summary": "kanari-summary"}],
        "entity_paths": [world.path],
    }
    for number, kind in enumerate(("success", "failure", "failure")):
        told = caller.report(f"{world.ref} {number}", kind, world.entry, **said, session_id=world.session)
        assert told.status_code == 200, told.content
    world.ref = f"{world.ref} 0"
    relied = {**world.named, "version": 2, "value": "kanari-value", "written_by": world.agent}
    trace = {
        "session_id": world.session,
        "outcome_ref": "kanari-traced",
        "outcome_type": "success",
        "task_input": "kanari-input",
        "response_text": "kanari-answer",
        "decision_summary": "kanari-decision",
        "causal_entries": [relied],
        "tool_calls": [{"tool_name": "kanari-tool", "arguments": {"a": "kanari-argument"}}],
        "error_events": [{"operation": "kanari-operation", "message": "kanari-error"}],
        "external_contexts": [{"label": "kanari-label", "summary": "kanari-context"}],
        "query_events": [{"operation": "search", "parameters": {"query": "kanari-query"}}],
        "session_metadata": {"attributes": {"kanari-meta": "kanari-metadata"}},
    }
    world.trace = caller.post("traces", trace).json()["id"]
    event = {"event_type": "read", "summary": f"kanari-event {world.entry}", "details": world.named}
    edge = {"source_entity": world.entry, "relation": "informed", "target_entity": "kanari-target"}
    for path, body in (("timeline/events", event), ("graph/edges", edge)):
        assert caller.post(path, body).status_code == 200


def describe(caller: Caller, world: World) -> None:
    """Let an agent say what it is."""
    able = [{"name": "kanari-able", "description": "kanari-ability", "entity_paths": [world.path]}]
    for what, body in {
        "profile": {"description": "kanari-profile", "tags": ["kanari-tag"], "auto_context_paths": [world.path]},
        "capabilities": {"capabilities": able},
        "contracts": {"contracts": [{"entity_path": "kanari-bound", "description": "kanari-contract"}]},
    }.items():
        told = caller.put(f"agents/{world.agent}/{what}", body)
        assert told.status_code == 200, told.content


class Wording(Caller):
    """A caller who says another word wherever the story says its own."""

    word = CANARY

    def get(self, path: str, **said: Any) -> Any:
        return super().get(self.worded(path), **said)

    def post(self, path: str, body: Any, **said: Any) -> Any:
        return super().post(self.worded(path), said_with(self.word, body), **said)

    def put(self, path: str, body: Any) -> Any:
        return super().put(self.worded(path), said_with(self.word, body))

    def worded(self, path: str) -> str:
        return quote(path.replace(CANARY, self.word))


def said_with(word: str, told: Any) -> Any:
    return json.loads(json.dumps(told).replace(CANARY, json.dumps(word)[1:-1]))


def found(account: Account, word: str = CANARY) -> World:
    """Fill an account with everything there can be in one, and return the names of it; each has the word in it."""
    made = accounts.make_key(account, name=f"{word}-keyname", scopes=SCOPES, rate_per_minute=1_000_000)
    caller = Wording(made.text, NAMES["agent"].replace(CANARY, word))
    caller.word = word
    world = learn(caller, shared=True)
    end(caller, world)
    describe(caller, world)
    world.key_id, world.account = made.key.pk, account
    globs = [{"pattern": f"{word}-glob/**"}]
    accounts.make_key(account, name=f"{word}-narrow", agent_id=f"agent/{word}-bound", globs=globs)
    settle(account, world, word)
    decide_about_many(caller, world, word)
    world.cursors = cursors(caller, world)
    return world


def settle(account: Account, world: World, word: str = CANARY) -> None:
    """Let people come in, and look after the place."""
    now = timezone.now()
    ada = Person.objects.create_user(
        f"{word}-ada", password="correct horse battery", email=f"{CANARY}-mail@example.org"
    )
    ada.first_name, ada.last_name = f"{word}-first", f"{word}-last"
    ada.save()
    accounts.give_role(ada, account, Role.ADMIN)
    world.token = people.invite(account, "viewer", note=f"{word}-invited", by=Who("person", f"{word}-ada"), now=now)
    world.invitation = Invitation.objects.get(account=account).pk
    world.member = Membership.objects.get(account=account, person=ada).pk
    world.person = ada
    sign_in = {"person": ada, "session_key": secrets.token_hex(20), "at": now, "browser": f"{word}-browser"}
    world.sign_in = SignIn.objects.create(**sign_in).pk
    actor = Actor("person", f"{word}-ada")
    policies.save(account.pk, {"hot_capacity": 49}, expected=1, actor=actor, reason=f"{word}-policy", now=now)
    running.ask(account.pk, "retier", by=f"{word}-asker", now=now)
    world.run = JobRun.objects.filter(account_id=account.pk, job="retier").latest("id").pk
    ApiKey.objects.filter(account=account, pk=world.key_id).update(last_used_from="203.0.113.77")


def decide_about_many(caller: Caller, world: World, word: str = CANARY) -> None:
    """Leave a run of decisions, as one about more than can be decided at once does."""
    told = {"decision": "accept", "kind": "decision", "reason": f"{word}-run", "actor_kind": "person"}
    told |= {"actor": f"{word}-ada", "author": f"{word}-ada", "sees_all": True, "total": 1, "state": "finished"}
    made = BulkRun.objects.create(
        account=world.account, created_at=timezone.now(), selected=f"{word}-selected", change_set_id=None, **told
    )
    world.bulk = made.pk
    read = caller.get(f"review/runs/{world.bulk}")
    assert read.status_code == 200, read.content


def cursors(caller: Caller, world: World) -> dict[str, str]:
    """Return a cursor of each list that has one."""
    lists = {
        "traces": ("traces", "next_cursor", {}),
        "timeline": (f"agents/{world.agent}/timeline", "next_cursor", {}),
        "audit": ("admin/audit", "next_cursor", {}),
        "review": ("review", "next", {}),
        "changes": ("change-sets", "next", {}),
    }
    found = {}
    for name, (path, field, query) in lists.items():
        told = caller.get(path, limit=1, **query)
        assert told.status_code == 200, told.content
        found[name] = told.json().get(field) or ""
    return found


def said(world: World) -> str:
    return json.dumps(vars(world), default=str)


__all__ = ["NAMES", "SYSTEM", "World", "describe", "end", "found", "learn", "said"]
