"""Plays events through the services, each at its own moment, as if it happened then."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import singledispatchmethod
from typing import Any

from memories import figures, jobs, reads, recalls
from memories.changes import change_reads
from memories.entry import history
from memories.recalls import Read
from memories.rows import Row
from memories.rules import names
from memories.rules.kinds import EvidenceStatus, Status
from memories.rules.policy import Policy
from memories.rules.values import read_value
from memories.services import rollback, superseding, writing
from memories.services.ledger import Actor
from memories.services.writing import KEEP, Draft
from memories.viewers import Viewer, account_policy, person
from outcomes import services as outcomes
from outcomes.rules import Attempt, Report
from outcomes.services import edges, events, tracing
from senselab.accounts.models import Account
from senselab.demo import traces
from senselab.demo.events import DayEnded, Event, Looked, Relied, Replaced, Swept, Task, Undid, WentBack, Wrote
from senselab.errors import StaleVersion


class Player:
    """Plays the demo's events in one account, in the order of their days."""

    def __init__(self, account: Account, start: datetime) -> None:
        self.account = account
        self.start = start
        self.policy: Policy = account_policy(account)
        self.person: Viewer = person(account)
        # By entry key and owner, and what was read since the last day's end.
        self.ids: dict[tuple[str, str], int] = {}
        self.read: list[Read] = []

    def moment(self, day: float) -> datetime:
        return self.start + timedelta(days=day)

    @singledispatchmethod
    def play(self, event: Event) -> None:
        """Let an event happen.

        :raises TypeError: nobody knows how to play an event of this kind.
        """
        raise TypeError(f"a {type(event).__name__} cannot be played")

    @play.register
    def _(self, event: Wrote) -> None:
        draft = Draft(
            entity_path=names.clean_path(event.path),
            key=names.clean_key(event.key),
            value=read_value(json.dumps(event.value, ensure_ascii=False), key=event.key),
            agent_id=event.agent,
            confidence=event.confidence,
            memory_type=event.type,
            shared=not event.private,
            pattern_refs=event.refs,
            artifact_refs=event.artifacts,
            ttl_at=KEEP if event.expires is None else self.moment(event.expires),
            pinned=KEEP if event.pinned is None else event.pinned,
            importance_score=event.importance,
            reason=event.reason,
        )
        now, session = self.moment(event.at), session_of(event.agent, event.at)
        stored = writing.write(
            self.account.pk, draft, actor=Actor("agent", event.agent, session), policy=self.policy, now=now
        )
        self.ids[(f"{draft.entity_path}/{draft.key}", event.agent if event.private else "")] = stored.entry_id

    @play.register
    def _(self, event: Task) -> None:
        now, session = self.moment(event.at), session_of(event.agent, event.at)
        keys = [relied.entry_key for relied in event.wanted]
        began = now - timedelta(minutes=2 + 7 * len(keys))
        read = self.served(event.agent, keys, began, session, event.stubborn)
        served = {row.entry_key: row.version for row in read}
        relied = [one for one in event.wanted if one.entry_key in served]
        if relied:
            report = report_of(event, relied, served)
            actor = Actor("agent", event.agent, session)
            outcomes.commit(self.account.pk, report, actor=actor, policy=self.policy, now=now)
            if report.told.get("trace_follows"):
                tracing.keep(self.account.pk, traces.told(report, read, session, began, now))
                self.learned(event.agent, read, now)

    def learned(self, agent: str, read: Sequence[Row], now: datetime) -> None:
        """Let an agent's client tell from whom it learned what it read."""
        for row in read:
            if row.agent_id != agent:
                told = {"entity_path": row.entity_path, "key": row.key, "trigger": "read_from"}
                edge = edges.Told(agent, "learned_from", row.agent_id, agent, "agent", "agent", provenance=told)
                edges.tell(self.account.pk, edge, now)
                details = {"source_agent_id": row.agent_id, "version": row.version, **told}
                summary = f"Read {row.entry_key} from agent '{row.agent_id}'"
                posted = events.Posted(
                    agent, "cross_agent_read", summary, details, "main", "", row.entity_path, row.key
                )
                events.post(self.account.pk, posted, now)

    @play.register
    def _(self, event: Looked) -> None:
        self.served(event.agent, event.entry_keys, self.moment(event.at), event.session, True)

    def served(self, agent: str, keys: Sequence[str], at: datetime, session: str, stubborn: bool) -> list[Row]:
        """Return what an agent gets to read of what it wants, and note that it read it."""
        viewer = Viewer(self.account.pk, self.policy, agent_id=agent)
        ids = [found for key in keys if (found := self.ids.get((key, agent)) or self.ids.get((key, "")))]
        rows = reads.entries_by_ids(viewer, ids)
        rows = [row for row in rows if not row.is_gone(at) and (stubborn or is_trusted(row))]
        self.read += [Read(row.entry_id, row.version, agent, session, at, recalls.tokens_of(row.value)) for row in rows]
        return rows

    @play.register
    def _(self, event: Replaced) -> None:
        superseding.supersede(
            self.person, self.ids[(event.entry_key, "")], by=event.by, **self.by_person(event.person, event)
        )

    @play.register
    def _(self, event: WentBack) -> None:
        entry_id = self.ids[(event.entry_key, "")]
        marks = history.landmarks(self.person, entry_id)
        (row,) = reads.entries_by_ids(self.person, [entry_id])
        rollback.roll_back(
            self.person,
            entry_id,
            to=marks.claim_since - 1,
            expected=row.version,
            **self.by_person(event.person, event),
        )

    @play.register
    def _(self, event: Undid) -> None:
        page = change_reads.page(
            self.person,
            kind="write",
            actor=event.agent,
            since=self.moment(event.since),
            until=self.moment(event.until),
        )
        left = event.most
        for change_set in page.rows:
            if left == 0:
                break
            try:
                rollback.undo(self.person, change_set.id, **self.by_person(event.person, event))
            except StaleVersion:
                continue
            left -= 1

    def by_person(self, name: str, event: Replaced | WentBack | Undid) -> dict[str, Any]:
        return {
            "actor": Actor("person", name),
            "policy": self.policy,
            "reason": event.reason,
            "now": self.moment(event.at),
        }

    @play.register
    def _(self, event: Swept) -> None:
        jobs.transitions("expire", self.account, self.moment(event.at), jobs.expired)

    @play.register
    def _(self, event: DayEnded) -> None:
        now = self.moment(event.at)
        recalls.write(self.account.pk, self.policy, self.read)
        self.read = []
        jobs.transitions("expire", self.account, now, jobs.expired)
        jobs.transitions("decay", self.account, now, jobs.decayed)
        jobs.retier(self.account, now)
        jobs.tiering.forget(self.account.pk, now)
        figures.fold(self.account.pk)

    def settle(self, day: float) -> None:
        """Let the jobs do at last what leaves no history: store what lists are sorted by."""
        jobs.refresh(self.account, self.moment(day))


def session_of(agent: str, at: float) -> str:
    """Return the session an agent is in at that moment: a new one every hour or so."""
    return f"{agent.rpartition('/')[2]}-{round(at * 24):04d}"


def is_trusted(row: Row) -> bool:
    """Tell whether agents get an entry as knowledge rather than as a warning (RULES.md 8)."""
    return row.state.status == Status.ACTIVE and row.state.evidence_status != EvidenceStatus.DISCREDITED


def report_of(event: Task, relied: Sequence[Relied], served: dict[str, int]) -> Report:
    """Return what the agent reports of a task, given what it could rely on."""
    sound = tuple(one.entry_key for one in relied if one.holds)
    broken = tuple(one.entry_key for one in relied if not one.holds)
    tried: tuple[Attempt, ...] = ()
    if event.retries and sound and broken:
        versions = {key: served[key] for key in broken}
        tried = (Attempt(1, event.failure, broken, versions, summary="Followed it to the letter; it did not work."),)
    keys = sound if tried else (*sound, *broken)
    return Report(
        outcome_ref=event.ref,
        outcome_type=event.failure if broken and not tried else event.success,
        agent_id=event.agent,
        keys=keys,
        causal_confidence=event.causal_confidence,
        versions={key: served[key] for key in keys},
        attempts=tried,
        verified_by=event.verified_by,
        replayed=event.replayed,
        told={**event.told, "trace_follows": traces.is_whole(event.ref)},
    )
