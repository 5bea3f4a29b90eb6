"""How each page for people is called with another account's names and ids. A page missing here fails the test."""

from memories.transfer.lists import LISTS
from tests.walls.asking import Call, Table, asking, at, get, post
from tests.walls.world import World


def named(w: World) -> dict[str, str]:
    return {"path": w.path, "key": w.key}


def listed(w: World, *paths: str) -> list[Call]:
    """Return a list as it comes, with the filters that a list has, and from where another one's cursor points."""
    filters = [{"path": w.top}, {"agent": w.agent}, {"q": "kanari-value"}, {"ref": w.ref}, {"actor": "kanari-ada"}]
    return [get(), *(get(**one) for one in filters), *(get(cursor=w.cursors[name]) for name in paths)]


def decided(w: World) -> list[Call]:
    mine = {"entry": w.mine, "version": w.mine_version}
    return [
        post(entry=w.id, version=3, decision="accept"),
        post(entry=w.id, version=3, decision="comment", text="mine"),
        post(**mine, decision="supersede", superseded_by=w.entry),
        post(**mine, decision="accept", next=w.id),
    ]


ENTRY: Table = {
    "entry/": lambda w: [get(**named(w)), get(**named(w), owner=w.agent)],
    "entry/value/": lambda w: [get(**named(w)), get(**named(w), version=1)],
    "entry/compare/": lambda w: [get(**named(w)), get(**named(w), **{"from": 1, "to": 2})],
    "entry/rollback/": lambda w: [
        get(**named(w), to=1),
        asking(post(to=1, expected=3, reason="mine"), **named(w)),
    ],
    "entry/ttl/": lambda w: [asking(post(ttl_at="2040-01-01T00:00", expected=3, reason="mine"), **named(w))],
    "entry/connections/": lambda w: [get(**named(w)), get(path="mine", key="rule")],
    "entries/": lambda w: [
        *listed(w),
        get(status="any", type="belief"),
        get(tier="archive"),
        get(branch=w.branch),
        get(visibility="private"),
        get(evidence="contested"),
    ],
    "changes/": lambda w: listed(w, "changes"),
    "changes/<int:change_set_id>/": lambda w: [at(get(), change_set_id=w.change_set)],
    "changes/<int:change_set_id>/undo/": lambda w: [at(post(reason="mine"), change_set_id=w.change_set)],
}
REVIEW: Table = {
    "review/": lambda w: [*listed(w, "review"), get(item=w.id), get(item=w.id, how="edit")],
    "review/evidence/": lambda w: [get(item=w.id), get(item=w.mine)],
    "review/decide/": decided,
    "review/undo/<int:change_set_id>/": lambda w: [at(post(), change_set_id=w.decision)],
    "review/bulk/": lambda w: [
        post(pick=[f"{w.id}:3", f"{w.mine}:{w.mine_version}"]),
        post(pick=[f"{w.id}:3"], decision="accept", confirm="1"),
        post(all="1"),
        asking(post(all="1", decision="accept", confirm="1"), path=w.top),
    ],
    "review/runs/<int:run_id>/": lambda w: [at(get(), run_id=w.bulk)],
    "review/runs/<int:run_id>/again/": lambda w: [at(post(), run_id=w.bulk)],
    "review/runs/<int:run_id>/cancel/": lambda w: [at(post(), run_id=w.bulk)],
    "review/alike/": lambda w: [get()],
    "review/alike/decide/": lambda w: [
        post(keep=w.id, other=w.mine, version=w.mine_version),
        post(keep=w.mine, other=w.id, version=1),
        post(keep=w.id, other=w.mine),
    ],
    "contested/": listed,
    "wrong/": lambda w: [
        get(),
        get(agent=w.agent, since="2020-01-01"),
        get(session=w.session, since="2020-01-01"),
        asking(post(decision="restore", reason="mine"), agent=w.agent, since="2020-01-01"),
    ],
}
TIME: Table = {
    "tiers/": lambda w: [get(), get(tier="archive"), get(path=w.top), get(agent=w.agent)],
    "tiers/borders/": lambda w: [get(), get(path=w.top), get(agent=w.agent)],
    "forecast/": lambda w: [get(), get(kind="expire", days=90)],
    "jobs/": lambda w: [get(), get(kind="asked"), get(job="retier")],
    "jobs/<slug:job>/run/": lambda w: [at(post(dry="1"), job="retier")],
    "jobs/runs/<int:run_id>/cancel/": lambda w: [at(post(), run_id=w.run)],
    "policy/": lambda w: [get(), get(**{"from": "1"}), get(**{"from": "2"}), post(discredit_threshold="0.4")],
    "settings/data/": lambda w: [get()],
    "settings/data/export/": lambda w: [get()],
    "settings/data/import/": lambda w: [post()],
    "settings/data/<slug:name>.csv": lambda w: [at(get(), name=name) for name in (*LISTS, "kanari")],
}
TOLD: Table = {
    "outcomes/": listed,
    "outcomes/<int:outcome_id>/": lambda w: [at(get(), outcome_id=w.outcome)],
    "traces/": lambda w: listed(w, "traces"),
    "traces/<uuid:trace_id>/": lambda w: [at(get(), trace_id=w.trace)],
    "recall/": lambda w: [
        get(q="retries help with jitter"),
        get(q="kanari-value", path=w.path, agent=w.agent),
        get(q="kanari-value", entry=w.entry, were="validated"),
    ],
    "agents/": lambda w: [get()],
    "agents/<path:agent_id>/": lambda w: [
        at(get(), agent_id=w.agent),
        at(get(cursor=w.cursors["timeline"]), agent_id=w.agent),
    ],
}
PLACE: Table = {
    "": lambda w: [get()],
    "course/": lambda w: [get()],
    "account/": lambda w: [post(account=w.account.slug), post(account="no-such-place")],
    "settings/": lambda w: [get()],
    "settings/you/": lambda w: [get()],
    "settings/you/sign-out-everywhere/": lambda w: [post(all="1")],
    "settings/you/sign-ins/<int:sign_in_id>/end/": lambda w: [at(post(), sign_in_id=w.sign_in)],
    "settings/keys/": lambda w: [get(), post(name="kanari-keyname", scope=["read"])],
    "settings/keys/<int:key_id>/rotate/": lambda w: [at(post(overlap="24"), key_id=w.key_id)],
    "settings/keys/<int:key_id>/revoke/": lambda w: [at(post(), key_id=w.key_id)],
    "settings/people/": lambda w: [get()],
    "settings/people/invite/": lambda w: [post(role="viewer", note="mine")],
    "settings/people/invitations/<int:invitation_id>/withdraw/": lambda w: [at(post(), invitation_id=w.invitation)],
    "settings/people/<int:membership_id>/role/": lambda w: [at(post(role="viewer"), membership_id=w.member)],
    "settings/people/<int:membership_id>/remove/": lambda w: [at(post(), membership_id=w.member)],
    "settings/people/<int:membership_id>/password/": lambda w: [at(post(), membership_id=w.member)],
    "settings/audit/": lambda w: [
        *listed(w, "audit"),
        get(target="kanari-keyname"),
        get(format="csv"),
        get(address="203.0.113.77"),
    ],
    "password/<uidb64>/<token>/": lambda w: [at(get(), uidb64=w.uid, token="set-password")],
}
# One's own, asked for with what belongs to somebody else.
OWN: Table = {
    "settings/you/security/": lambda w: [get()],
    "settings/you/security/app/": lambda w: [get()],
    "settings/you/security/passkey/": lambda w: [get()],
    "settings/you/security/codes/": lambda w: [get()],
    "settings/you/security/<int:factor_id>/remove/": lambda w: [
        at(get(), factor_id=w.factor),
        at(post(password="correct horse battery"), factor_id=w.factor),
    ],
    "settings/people/<int:membership_id>/factors/": lambda w: [at(post(), membership_id=w.member)],
    "settings/people/<int:membership_id>/email/": lambda w: [
        at(post(email="kanari-mail@example.org"), membership_id=w.member),
        at(post(email="mine@example.org"), membership_id=w.member),
    ],
    "settings/people/second-factor/": lambda w: [post(required="yes")],
}
ERASING: Table = {
    "entry/erase/": lambda w: [
        get(**named(w)),
        asking(post(confirm=w.entry, reason="mine"), **named(w)),
        asking(post(confirm=w.entry, reason="mine", names="1"), **named(w), owner=w.agent),
    ],
    "agents/<path:agent_id>/erase/": lambda w: [
        at(get(), agent_id=w.agent),
        at(post(confirm=w.agent, reason="mine", names="1"), agent_id=w.agent),
    ],
}
PAGES: Table = ENTRY | REVIEW | TIME | TOLD | PLACE | OWN | ERASING
# Where whoever comes finds something: the doors. They do not tell whom they know, nor which links there are.
DOORS: Table = {
    "login/": lambda w: [
        get(),
        post(username="kanari-ada", password="wrong horse battery"),
        asking(post(username="kanari-ada", password=""), next=f"/entry/?path={w.path}&key={w.key}"),
    ],
    "login/second-factor/": lambda w: [get(), post(code="000000"), post(credential="{}")],
    "login/passkey/": lambda w: [post(credential="{}"), post(credential="kanari-ada")],
    "login/oidc/": lambda w: [get(next="/")],
    "settings/you/security/identity/": lambda w: [get(), post(password="correct horse battery")],
    "settings/you/security/identity/unlink/": lambda w: [get(), post(password="correct horse battery")],
    "login/oidc/callback/": lambda w: [get(), get(code="kanari-code", state="kanari-state")],
    "logout/": lambda w: [post()],
    "invitation/<str:token>/": lambda w: [at(get(), token=f"{w.token[:-1]}-"), at(post(), token=f"{w.token[:-1]}-")],
    # For this machine alone: whoever comes from elsewhere is told nothing of any account.
    "metrics": lambda w: [Call("get", headers={"X-Forwarded-For": "203.0.113.9"})],
}
