"""What a verdict on an entry makes of it (RULES.md 3): each function returns the version to come and writes nothing."""

from dataclasses import replace

from memories.heads import Head
from memories.rules import feedback, lifecycle
from memories.rules.kinds import Change, Status
from memories.rules.lifecycle import Cause, Place
from memories.rules.policy import Policy
from memories.rules.silence import Silence
from memories.rules.standing import Standing, rebase
from memories.rules.state import State
from memories.services.acts import Act, Next


def silence_of(head: Head) -> Silence:
    return Silence(head.state, head.kept, head.accessed_at, head.recall_count)


def judged(standing: Standing, policy: Policy) -> Standing:
    """Return a standing that shows that somebody judged the claim, so that writing the same again changes nothing.

    What has outcomes, feedback or evidence has a prior (RULES.md 7); a verdict that moves no number gives it one.
    """
    if standing.triple.prior is not None:
        return standing
    return replace(standing, triple=rebase(standing.confidence, 0.0, 0.0, policy))


def moved(head: Head, act: Act, standing: Standing, cause: Cause) -> State:
    """Return the state after feedback of some kind left this standing."""
    silence, state = silence_of(head), head.state
    freshness = 1.0 if lifecycle.refreshes(cause) else silence.earned(act.at, act.policy)
    place = lifecycle.settle(
        Place(Status(state.status), state.held_at),
        standing.confidence * freshness,
        cause=cause,
        policy=act.policy,
        before=silence.effective(act.at, act.policy),
    )
    return replace(
        state.with_standing(standing, act.policy),
        status=place.status.value,
        held_at=place.held_at,
        freshness=freshness,
        # What is kept is not replaced by anything.
        superseded_by=None if cause == Cause.KEPT else state.superseded_by,
    )


def accepted(head: Head, act: Act, *, keeps: bool, change: Change = Change.FEEDBACK) -> Next:
    """Return what an acceptance makes; `keeps` says that it comes from somebody whose verdict holds."""
    standing = feedback.accept(head.state.standing, act.policy)
    state = moved(head, act, standing, Cause.KEPT if keeps else Cause.ACCEPTED)
    return Next(change, state, before=head.state.confidence, weight=act.policy.accepted_delta)


def rejected(head: Head, act: Act, *, change: Change = Change.FEEDBACK) -> Next:
    standing = feedback.reject(head.state.standing, act.policy)
    state = moved(head, act, standing, Cause.REJECTED)
    return Next(change, state, before=head.state.confidence, weight=act.policy.rejected_delta)


def observed(head: Head, act: Act, delta: float) -> Next:
    """Return what a piece of evidence makes; `delta` lies in -1..1."""
    standing = judged(feedback.evidence(head.state.standing, delta, act.policy), act.policy)
    return Next(Change.EVIDENCE, moved(head, act, standing, Cause.EVIDENCE), before=head.state.confidence, weight=delta)


def superseded(head: Head, act: Act, by: str | None, *, keeps: bool = True, state: State | None = None) -> Next:
    """Return what being replaced makes: only the place in life moves, and a hold ends.

    An entry under review stays there unless the verdict holds: an agent cannot take it out. `state` is where to start
    from when another verdict came first in the same act.
    """
    start = head.state if state is None else state
    stays = not keeps and start.status == Status.UNDER_REVIEW
    after = replace(
        start,
        status=(Status.UNDER_REVIEW if stays else Status.SUPERSEDED).value,
        superseded_by=by,
        held_at=None,
        freshness=silence_of(head).earned(act.at, act.policy),
    )
    return Next(Change.SUPERSEDED, after, before=start.confidence)


def archived(head: Head, act: Act) -> Next:
    return _decided(head, act, status=Status.ARCHIVED.value, held_at=None)


def sent_to_review(head: Head, act: Act) -> Next:
    return _decided(head, act, status=Status.UNDER_REVIEW.value, held_at=None)


def pinned(head: Head, act: Act, *, pinned: bool) -> Next:
    return _decided(head, act, pinned=pinned)


def snoozed(head: Head, act: Act) -> Next:
    """Return what a snooze makes: a version that says who put the entry off, for undo to take back."""
    return _decided(head, act)


def _decided(head: Head, act: Act, **changes: object) -> Next:
    """Return what a decision makes that moves no confidence; deciding is using, so silence counts anew from here."""
    policy = act.policy
    standing = judged(head.state.standing, policy) if "status" in changes else head.state.standing
    freshness = silence_of(head).earned(act.at, policy)
    state = replace(head.state.with_standing(standing, policy), freshness=freshness, **changes)  # type: ignore[arg-type]
    return Next(Change.REVIEW, state, before=head.state.confidence)
