"""What is told in an account, so that somebody else may ask for it: all there can be, private entries, and guesses."""

from allauth.mfa.models import Authenticator
from django.utils.http import urlsafe_base64_encode

from memories import streaming
from memories.models import ChangeSet, Entry
from outcomes.models import Outcome
from senselab import cursors
from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.api.conftest import Caller
from tests.walls import world
from tests.walls.asking import SCOPES
from tests.walls.world import World


def told_of(account: Account, rival: Account) -> World:
    """Fill the account, and name what of it a call can ask for."""
    place = str(streaming.here())
    w = world.found(account)
    w.place, w.is_private, w.known, w.mine_version = place, False, {"kanari-agent"}, 2
    w.id = Entry.objects.get(account=account, entity_path=w.path, key=w.key).pk
    w.mine = Entry.objects.get(account=rival, entity_path="mine", key="rule").pk
    w.outcome = Outcome.objects.get(account=account, outcome_ref=w.ref).pk
    made = ChangeSet.objects.filter(account=account).latest("id")
    w.cursors["changes"] = cursors.make(made.at.isoformat(), made.pk)
    w.factor = Authenticator.objects.create(user=w.person, type="recovery_codes", data={}).pk
    w.uid = urlsafe_base64_encode(str(w.person.pk).encode())
    return w


def kept_private(keeper: Caller, account: Account, *, told: bool, shared: bool = False) -> World:
    """Let the keeper write and judge private entries; with `told`, report how tasks ended that relied on them."""
    place = str(streaming.here())
    w = world.learn(keeper, shared=shared)
    nothing = {"key_id": 0, "trace": "00000000-0000-0000-0000-000000000000", "bulk": 0, "mine_version": 1}
    none = dict.fromkeys(("traces", "timeline", "audit"), "")
    # That there is such an agent is known by what it shares.
    vars(w).update(nothing, place=place, account=account, cursors=none, is_private=True, known={"kanari-agent"})
    if told:
        world.end(keeper, w)
    w.cursors |= {name: world.cursors(keeper, w)[name] for name in ("review", "changes")}
    return w


def guess(w: World) -> None:
    """Let an agent name what it guesses to be there, in every way there is, to see whether it is told otherwise."""
    w.known |= {"kanari-path", "kanari-key"}
    key = accounts.create_key(w.account, name="guessing", scopes=SCOPES, rate_per_minute=1_000_000)
    snoop = Caller(key, "agent/snoop")
    said = {"task_input": "guess retries with jitter", "response_text": "guessed", "entity_paths": [w.path]}
    attempts = [{"outcome_type": "failure", "causal_entry_keys": [w.entry], "summary": "guessed"}]
    relied = {**w.named, "version": 1, "value": 1, "written_by": "agent/snoop"}
    event = {"event_type": "read", "summary": "guessed", "details": w.named}
    done = [
        snoop.write("mine", "guess", "guess", pattern_refs=[w.entry]),
        snoop.report("guess by key", "success", w.entry, task_input="guess", response_text="guessed"),
        snoop.report("guess by path", "failure", **said),
        snoop.report("guess by attempt", "success", "mine/guess", attempts=attempts, **said),
        snoop.post("traces", {"outcome_ref": "guess", "session_id": "guess", "causal_entries": [relied], **said}),
        snoop.post("timeline/events", event),
        snoop.post(
            "timeline/events",
            {**event, "event_type": "cross_agent_read", "agent_id": w.agent, "actor_agent_id": "agent/snoop"},
        ),
        snoop.post("graph/edges", {"source_entity": w.entry, "relation": "informed", "target_entity": "mine/rule"}),
        snoop.post("graph/edges", {"source_entity": "mine/guess", "relation": "like", "target_entity": w.entry}),
        snoop.put("agents/agent/snoop/profile", {"description": "guess", "auto_context_paths": [w.path]}),
        snoop.put("agents/agent/snoop/capabilities", {"capabilities": [{"name": "guess", "entity_paths": [w.path]}]}),
        snoop.put("agents/agent/snoop/contracts", {"contracts": [{"entity_path": w.path, "description": "guess"}]}),
    ]
    assert [one.status_code for one in done] == [200] * len(done), [one.content for one in done]
