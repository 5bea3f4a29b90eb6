"""How each route for agents is called with somebody else's names. A route that is missing here fails the test."""

from tests.walls.asking import Call, Table, asking, at, delete, get, post, put
from tests.walls.world import World

NOWHERE = "00000000-0000-0000-0000-000000000000"
LATER = "2030-01-01T00:00:00Z"


def writes(w: World) -> list[Call]:
    """Return writes that refer to what somebody else has, under its name and beside it."""
    value = {"value": "mine", "session_id": w.session, "include_scope": True, "pattern_refs": [w.entry]}
    return [
        post(**w.named, **value),
        post(**w.named, **value, expected_version=3),
        post(**w.named, **value, shared=False),
        post(entity_path=w.path, key="mine", **value),
        post(entity_path="kanari-bound", key="mine", **value),
        post(entity_path="mine", key="rule", agent_id=w.agent, **value),
    ]


def relied(w: World, **more: object) -> dict[str, object]:
    said = {"outcome_type": "failure", "task_input": "kanari-task retries with jitter", "entity_paths": [w.path]}
    attempts = [{"outcome_type": "failure", "causal_entry_keys": [w.entry]}]
    keys = [w.entry, f"{w.path}/{w.other}", "mine/rule"]
    return {**said, "causal_entry_keys": keys, "causal_entry_versions": {w.entry: 2}, "attempts": attempts, **more}


def decided(w: World) -> list[Call]:
    theirs = {**w.named, "version": 3}
    mine = {"entity_path": "mine", "key": "rule", "version": w.mine_version}
    return [
        post(items=[theirs], decision="accept"),
        post(items=[theirs, mine], decision="reject"),
        post(items=[mine], decision="supersede", superseded_by=w.entry),
        post(items=[mine], decision="comment", text="seen"),
        post(filter={"entity_path": w.top}, decision="accept", preview=True),
        post(filter={"agent_id": w.agent}, decision="archive"),
        post(all=True, decision="pin"),
        post(all=True, decision="pin", preview=True),
    ]


def judged(w: World) -> list[Call]:
    mine = {"entity_path": "mine", "key": "rule"}
    return [
        post(**w.named, outcome="accepted"),
        post(**w.named, outcome="rejected", expected_version=3),
        post(**mine, outcome="superseded", superseded_by=w.entry),
        post(**mine, outcome="superseded", replacement={**w.named, "value": "mine"}),
    ]


def traced(w: World) -> list[Call]:
    told = {"session_id": w.session, "outcome_type": "success"}
    causal = [{**w.named, "version": 2, "written_by": w.agent}]
    return [
        get(),
        get(limit=1, cursor=w.cursors["traces"]),
        get(entity_path=w.path),
        get(agent_id=w.agent, outcome_type="success"),
        post(**told, outcome_ref="kanari-traced", causal_entries=causal),
        post(**told, outcome_ref=w.ref, causal_entries=causal),
        post(**told, outcome_ref="mine", causal_entries=causal),
    ]


ENTRIES: Table = {
    "entries": lambda w: [
        get(),
        get(status="all"),
        get(entity_path=w.top, include_descendants="true", status="all"),
        get(entity_path=w.path, include_superseded="true"),
        get(agent_id=w.agent, sort="recall_count"),
        get(branch=w.branch),
        get(limit=1, offset=1),
        *writes(w),
    ],
    "entries/<path:rest>": lambda w: [at(get(), rest=w.entry), at(get(branch=w.branch), rest=f"{w.path}/kanari-draft")],
    "entry": lambda w: [get(**w.named), get(entity_path=w.path, key="kanari-draft", branch=w.branch)],
    "search": lambda w: [
        post(query="kanari-value"),
        post(query="jitter", sort_by="recency"),
        post(entity_path=w.top, include_descendants=True, status=["all"]),
        post(agent_id=w.agent, sort_by="priority"),
        post(pattern_ref="kanari-path/vault/kanari-hint"),
        post(branch=w.branch),
    ],
    "history": lambda w: [get(**w.named)],
    "history/<path:rest>": lambda w: [at(get(), rest=w.entry)],
    "diff": lambda w: [
        get(**w.named),
        get(**w.named, **{"from": 1, "to": 2}),
        post(**w.named),
        post(**w.named, old_version=1),
    ],
    "why": lambda w: [get(**w.named), get(**w.named, version=2)],
    "rollback": lambda w: [
        post(**w.named, to_version=1, expected_version=3, reason="mine"),
        post(**w.named, to_version=1, preview=True),
        post(target_timestamp="2020-01-01T00:00:00Z", agent_id=w.agent),
        post(target_event_id=NOWHERE),
    ],
    "change-sets": lambda w: [get(), get(kind="write"), get(cursor=w.cursors["changes"])],
    "change-sets/<int:change_set_id>/undo": lambda w: [
        at(post(reason="mine"), change_set_id=made) for made in (w.change_set, w.decision)
    ],
    "agents/<path:agent_id>/capabilities": lambda w: [at(put(capabilities=[{"name": "mine"}]), agent_id=w.agent)],
    "agents/<path:agent_id>/contracts": lambda w: [at(put(contracts=[{"entity_path": "mine"}]), agent_id=w.agent)],
    "commits": lambda w: [
        get(),
        get(branch=w.branch),
        post(writes=[{**w.named, "value": "mine"}, {"entity_path": w.path, "key": "mine", "value": 1}], message="mine"),
    ],
    "commits/<str:commit_id>": lambda w: [at(get(), commit_id=w.commit)],
    "merge-base": lambda w: [post(commit_a=w.commit, commit_b=w.commit), post(commit_a=w.commit, commit_b="0" * 12)],
    "aggregate": lambda w: [
        post(entity_path=w.path, op="count"),
        post(entity_path=w.path, op="mean", field="kanari-field"),
    ],
    "quality/batch": lambda w: [post(entity_path=w.path)],
    "quality/<path:rest>": lambda w: [at(get(), rest=w.entry)],
    "patterns": lambda w: [get()],
    "reuse": lambda w: [get(), get(agent=w.agent), get(writer=w.agent)],
    "verify": lambda w: [post(), post(entity_path=w.path)],
    "patches": lambda w: [post(**w.named, source_version=1)],
    "events": lambda w: [post(**w.named, source="kanari-source", value="mine")],
    "stream": lambda w: [get(last_event_id=w.place), get(entity_path=w.path, last_event_id=w.place)],
}
JUDGING: Table = {
    "feedback": judged,
    "evidence": lambda w: [post(**w.named, evidence={"description": "mine"})],
    "observations": lambda w: [
        post(data={"prompt": "perfect"}, session_id=w.session, apply=True),
        post(data={"prompt": "perfect"}, entries=[w.entry], apply=True),
        post(data={"prompt": "use mine instead"}, entries=[w.named], replace=True, apply=True),
    ],
    "review": lambda w: [
        get(),
        get(reason="under_review"),
        get(entity_path=w.top),
        get(agent_id=w.agent),
        get(cursor=w.cursors["review"]),
    ],
    "review/decisions": decided,
    "review/runs/<int:run_id>": lambda w: [at(get(), run_id=w.bulk)],
    "review/runs/<int:run_id>/again": lambda w: [at(post(), run_id=w.bulk)],
    "review/runs/<int:run_id>/cancel": lambda w: [at(post(), run_id=w.bulk)],
}
FIGURES: Table = {
    "cortex/digests": lambda w: [get(), get(digest_type="entity")],
    "cortex/status": lambda w: [get()],
    "cortex/activity": lambda w: [get()],
    "cortex/consolidation/status": lambda w: [get()],
    "cortex/consolidation/proposals": lambda w: [get()],
    "cortex/consolidation/candidates": lambda w: [get()],
    "cortex/consolidate": lambda w: [post(dry_run=True)],
    "stats": lambda w: [get(), get(breakdown="false")],
    "entities": lambda w: [get(), get(q="kanari"), get(agent=w.agent)],
    "promoted": lambda w: [get(), get(entity_path=w.path, least=0)],
    "forecast": lambda w: [get(**w.named), get(kind="review", days=90), get(kind="archive", days=90)],
    "tiers": lambda w: [get(), get(branch=w.branch)],
    "pro/tiers/distribution": lambda w: [get()],
    "pro/tiers/entries": lambda w: [get(tier=tier) for tier in (1, 2, 3)],
    "jobs": lambda w: [get()],
    "policy": lambda w: [get()],
    "learning": lambda w: [get(), get(agent=w.agent), get(entity_path=w.path)],
    "explain": lambda w: [get(outcome_ref=w.ref), get(outcome_ref="kanari-traced")],
    "pro/export": lambda w: [get(), get(entity_path=w.path)],
}
OF_AGENTS: Table = {
    "outcomes": lambda w: [
        get(),
        get(outcome_ref=w.ref),
        get(entity_path=w.path),
        get(agent_id=w.agent),
        post(**relied(w, outcome_ref="mine")),
        post(**relied(w, outcome_ref=w.ref)),
        post(**relied(w, outcome_ref="mine", agent_id=w.agent)),
    ],
    "traces": traced,
    "traces/share-stats": lambda w: [get()],
    "traces/<str:trace_id>": lambda w: [at(get(), trace_id=w.trace)],
    "agents": lambda w: [get()],
    "agents/discover": lambda w: [get(), get(capability="kanari-able"), get(tag="kanari-tag"), get(entity_path=w.path)],
    "agents/enriched": lambda w: [get()],
    "agents/<path:agent_id>/read-from/<path:rest>": lambda w: [
        at(get(), agent_id="agent", rest=f"kanari-agent/{w.entry}")
    ],
    "agents/<path:agent_id>/recall/<path:rest>": lambda w: [at(get(), agent_id=w.agent, rest=w.entry)],
    "agents/<path:agent_id>/profile": lambda w: [
        at(get(), agent_id=w.agent),
        at(put(description="mine"), agent_id=w.agent),
    ],
    "agents/<path:agent_id>/entries": lambda w: [at(get(), agent_id=w.agent)],
    "agents/<path:agent_id>/activity": lambda w: [at(get(), agent_id=w.agent)],
    "agents/<path:agent_id>/cross-agent-reads": lambda w: [at(get(), agent_id=w.agent)],
    "agents/<path:agent_id>/memory-graph": lambda w: [at(get(), agent_id=w.agent)],
    "agents/<path:agent_id>/timeline": lambda w: [
        at(get(), agent_id=w.agent),
        at(get(limit=1, cursor=w.cursors["timeline"]), agent_id=w.agent),
    ],
    "pro/graph/expertise": lambda w: [get(), get(entity_path=w.path)],
    "pro/graph/neighbors": lambda w: [
        get(entity=name, depth=3) for name in (w.entry, w.agent, w.ref, "kanari-target", "mine/rule")
    ],
    "timeline/events": lambda w: [
        post(event_type="outcome", summary="mine", details={"outcome_ref": w.ref}, agent_id=w.agent),
        post(event_type="cross_agent_read", agent_id=w.agent, actor_agent_id="mine", details=w.named),
    ],
    "graph/edges": lambda w: [post(source_entity=w.entry, relation="informed", target_entity="kanari-target")],
    "retrieve": lambda w: [
        post(query="retries help with jitter", include_avoid=True, include_priors=True, include_discredited=True),
        post(query="kanari-value", entity_path=w.path, candidate_actions=["kanari-tool"], situation="kanari-situation"),
        post(query="kanari-value", agent_id=w.agent, branch=w.branch),
    ],
    "briefing": lambda w: [get(), get(entity_path=w.path), get(agent_id=w.agent), get(branch=w.branch, compact="true")],
}
ACCOUNT: Table = {
    "erasures": lambda w: [
        post(**w.named, preview=True),
        post(**w.named, owner=w.agent, confirm=w.entry, reason="mine"),
        post(agent_id=w.agent, preview=True),
        post(agent_id=w.agent, confirm=w.agent, reason="mine", names=True),
    ],
    "auth/whoami": lambda w: [get()],
    "health": lambda w: [get()],
    "admin/api-keys": lambda w: [get(), post(name="kanari-keyname", agent_id=w.agent)],
    "admin/api-keys/<int:key_id>": lambda w: [at(delete(), key_id=w.key_id)],
    "admin/api-keys/<int:key_id>/rotate": lambda w: [at(post(overlap_hours=24), key_id=w.key_id)],
    "admin/audit": lambda w: [
        get(),
        get(actor="kanari-ada"),
        get(target="kanari-keyname"),
        get(cursor=w.cursors["audit"]),
    ],
    "admin/usage": lambda w: [get()],
    "admin/config": lambda w: [get()],
}
API: Table = {f"api/v1/{route}": calls for route, calls in (ENTRIES | JUDGING | FIGURES | OF_AGENTS | ACCOUNT).items()}
OUTSIDE: Table = {
    "api/schema/": lambda w: [get()],
    "api/docs/": lambda w: [get()],
    "api/": lambda w: [get(), post()],
    "api/<anything:rest>": lambda w: [at(get(), rest=f"v1/{w.path}"), at(get(), rest=f"v1/{w.path}\n")],
    "health": lambda w: [get()],
    "healthz": lambda w: [get()],
    "readyz": lambda w: [get()],
}
__all__ = ["API", "OUTSIDE", "asking"]
