"""What does not fit in an entry's ledger: pure functions over rows as memories.checking.verify_reads reads them.

Everything that can be computed is computed again: seals and hashes from what they cover, each state from the one before
it and what happened, each label from its record. Numbers are compared exactly, as the same sums give the same doubles.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from memories.checking.verify_steps import Candidates, candidates, differing
from memories.entry.why import Effect
from memories.heads import MAIN, STATE, ClaimHead
from memories.rules import claims, integrity, seals
from memories.rules.kinds import Change
from memories.rules.policy import Policy
from memories.rules.state import State

# Freshness is kept on the head at every recall; the version says what it was when it was made.
ON_HEAD = tuple(name for name in STATE if name != "freshness")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not fit: where, and what in words. `version` is None where the whole entry is meant."""

    version: int | None
    words: str


@dataclass(frozen=True, slots=True)
class Version:
    """A version as stored, with its claim (without the value) and who made it why."""

    number: int
    change: str
    at: datetime
    before: float | None
    weight: float | None
    policy: str
    integrity_chain: str
    names_digest: bytes
    content_digest: bytes
    seal: bytes
    actor_kind: str
    actor: str
    reason: str
    # When its claim's value was erased, and whether its reason was.
    erased_at: datetime | None
    reason_erased: bool
    state: State
    claim: ClaimHead

    @property
    def is_erased(self) -> bool:
        """Tell whether nothing is left of its claim."""
        return self.erased_at is not None and not self.claim.content_hash


@dataclass(frozen=True, slots=True)
class Entry:
    """A head as stored."""

    id: int
    branch: str
    entity_path: str
    key: str
    owner: str
    version: int
    claim_id: int
    agent_id: str
    written_at: datetime
    salt: bytes
    seal: bytes
    integrity_chain: str
    renamed_at: datetime | None
    state: State

    @property
    def words(self) -> str:
        """Return how the entry is named in a finding."""
        branch = "" if self.branch == "main" else f" on {self.branch}"
        owner = f", private to {self.owner}" if self.owner else ""
        return f"{self.entity_path}/{self.key}{branch}{owner}"


@dataclass(frozen=True, slots=True)
class History:
    """An entry with all its versions, oldest first, and the effects of outcomes, each with the policy it names."""

    entry: Entry
    versions: Sequence[Version]
    effects: Sequence[tuple[Effect, str]]


@dataclass(frozen=True, slots=True)
class Said:
    """A claim whole: what its hashes are computed from."""

    value: str
    pattern_refs: Sequence[str]
    artifact_refs: str
    digest: bytes
    salt: bytes
    content_hash: str
    content: bytes
    erased: bool = False


def findings(history: History, policies: Mapping[str, Policy]) -> Iterator[Finding]:
    """Yield what does not fit in an entry's history; `policies` are those whose numbers are known, by stored name."""
    if not history.versions:
        yield Finding(None, "no version is left")
        return
    first = begins(history)
    yield from missing(history.versions, first)
    yield from head_findings(history.entry, history.versions[-1])
    yield from effect_findings(history)
    stones = {version.at: version.number for version in history.versions if version.change == Change.ERASED}
    made = {effect.version_made: (effect, policy) for effect, policy in history.effects if effect.version_made}
    previous: Version | None = None
    for place, version in enumerate(history.versions):
        if follows(previous, version, first):
            words = [*tombstoned(version, stones), *sealed(history.entry, previous, version, stones)]
            earlier = history.versions[:place] if version.change == Change.ROLLBACK else ()
            words += computed(previous, version, made.get(version.number), earlier, policies)
            yield from (Finding(version.number, word) for word in words)
        previous = version


def begins(history: History) -> int:
    """Return the number a history begins with: on a branch that goes on from main's (contract.md 3.16). What is taken
    from its beginning still shows, as the first seal has no predecessor."""
    return 1 if history.entry.branch == MAIN else history.versions[0].number


def follows(previous: Version | None, version: Version, first: int = 1) -> bool:
    """Tell whether a version's predecessor is there, without which nothing can be computed."""
    return version.number == (previous.number + 1 if previous else first)


def missing(versions: Sequence[Version], first: int = 1) -> Iterator[Finding]:
    for before, after in pairwise([first - 1, *(version.number for version in versions)]):
        if after > before + 1:
            gap = f"version {before + 1} is" if after == before + 2 else f"versions {before + 1} to {after - 1} are"
            yield Finding(before + 1, f"{gap} missing")


def head_findings(entry: Entry, last: Version) -> Iterator[Finding]:
    """Yield where the head is not what its last version says."""
    pairs: list[tuple[str, Any, Any]] = [
        ("version", entry.version, last.number),
        ("claim", entry.claim_id, last.claim.id),
        ("agent_id", entry.agent_id, last.claim.agent_id),
        ("written_at", entry.written_at, last.claim.written_at),
        ("seal", entry.seal.hex(), last.seal.hex()),
        ("integrity_chain", entry.integrity_chain, last.integrity_chain),
        *((name, getattr(entry.state, name), getattr(last.state, name)) for name in ON_HEAD),
    ]
    for name, head, version in pairs:
        if head != version:
            yield Finding(None, f"the head says {name} {shown(head)}, its last version {shown(version)}")


def effect_findings(history: History) -> Iterator[Finding]:
    """Yield effects whose version is not there, was not made by an outcome, or was made by another effect."""
    numbers = {version.number: version for version in history.versions}
    taken: set[int] = set()
    for effect, _ in history.effects:
        number = effect.version_made
        if number is None:
            continue
        what = f"the effect of {effect.outcome_type} {effect.outcome_ref}"
        version = numbers.get(number)
        if version is None:
            yield Finding(number, f"{what} says it made a version that is not there")
        elif version.change != Change.OUTCOME:
            yield Finding(number, f"{what} says it made what was {version.change}")
        elif number in taken:
            yield Finding(number, f"{what} is the second to say that it made this version")
        taken.add(number)


def tombstoned(version: Version, stones: Mapping[datetime, int]) -> Iterator[str]:
    """Yield what is gone from a version without a later one that stands for it; `stones` are those, by moment."""
    gone = version.erased_at
    if not version.claim.content_hash and gone is None:
        yield "its value is gone and nothing says that it was erased"
    elif gone is not None and stones.get(gone, 0) <= (version.number if version.is_erased else 0):
        yield "its value was erased and no version stands for it"


def sealed(entry: Entry, previous: Version | None, version: Version, stones: Mapping[datetime, int]) -> Iterator[str]:
    """Yield which of a version's seal, digests and chain do not follow from what they cover."""
    state, claim = version.state, version.claim
    covered = seals.covered(
        state,
        number=version.number,
        change=version.change,
        at=version.at,
        before=version.before,
        weight=version.weight,
        policy=version.policy,
    )
    before = previous.seal if previous else seals.FIRST
    if integrity.seal(before, covered, version.names_digest, version.content_digest) != version.seal:
        yield "its seal is broken: its state, its digests or its predecessor's seal are not what was sealed"
    spoken = (entry.entity_path, entry.key, claim.agent_id, claim.session_id, version.actor_kind, version.actor)
    renamed = entry.renamed_at is not None and version.number <= stones.get(entry.renamed_at, 0)
    if not renamed and seals.names_digest(entry.salt, state, *spoken) != version.names_digest:
        yield "its names are not those that were sealed: of the entry, author, session, actor, validators or successor"
    unsaid = version.is_erased or (version.reason_erased and not version.reason)
    if not unsaid and seals.content_digest(claim.salt, claim.content, version.reason) != version.content_digest:
        yield "its content digest is wrong: claim or reason are not what was sealed"
    link = integrity.chain(claim.content_hash, previous.integrity_chain if previous else None)
    if version.integrity_chain != ("" if version.is_erased else link):
        yield "its integrity_chain is broken"


def computed(
    previous: Version | None,
    version: Version,
    made_by: tuple[Effect, str] | None,
    earlier: Sequence[Version],
    policies: Mapping[str, Policy],
) -> Iterator[str]:
    """Yield where a version's numbers do not follow from its predecessor and what happened."""
    effect, effect_policy = made_by or (None, "")
    if version.change == Change.OUTCOME and effect is None:
        yield "no effect of an outcome made it"
        return
    if previous is not None and version.before != previous.state.confidence:
        yield f"it starts from {shown(version.before)}, version {previous.number} left {previous.state.confidence!r}"
    policy = policies.get(version.policy)
    if policy is None:
        return
    if effect is not None and effect_policy != version.policy:
        yield f"its effect names policy {effect_policy}, the version {version.policy}"
    possible = candidates(previous, version, effect, earlier, policy)
    yield from arithmetic(version, effect, possible)
    record, stored = version.state.record, version.state.evidence_status
    if stored not in possible.labels:
        counts = f"+{record.success_count} -{record.failure_count}"
        yield f"its label {stored} does not follow from its record of {counts}: that is {' or '.join(possible.labels)}"


def arithmetic(version: Version, effect: Effect | None, possible: Candidates) -> Iterator[str]:
    """Yield the numbers that differ from those computed, of the likeliest way the version can have come about."""
    applied = possible.applied
    if effect is not None and applied is not None:
        source = f"the arithmetic of {effect.outcome_type} {effect.outcome_ref}"
        numbers = (("before", applied.before), ("weight", applied.weight), ("after", applied.after))
        for name, computed_value in numbers:
            told = getattr(effect, name)
            if told != computed_value:
                yield f"{source} gives {name} {computed_value!r}, its effect says {shown(told)}"
        if version.weight != applied.weight:
            yield f"{source} gives weight {applied.weight!r}, stored is {shown(version.weight)}"
    else:
        source = f"what was {version.change}"
    if possible.states:
        differences = min((differing(state, version.state) for state in possible.states), key=len)
        for name, expected, found in differences:
            yield f"{source} gives {name} {shown(expected)}, stored is {shown(found)}"


def claim_findings(said: Said) -> Iterator[str]:
    """Yield which hashes of a claim do not follow from its value and references."""
    if said.erased and not said.content_hash:
        if said.value != "null" or said.pattern_refs or said.digest or said.salt:
            yield "something is left of a claim that was erased"
        return
    if integrity.content_hash(said.value) != said.content_hash:
        yield "the content hash of its claim is not that of its value"
    if claims.claim_digest(said.value) != said.digest:
        yield "the digest of its claim is not that of its value"
    references = seals.references(said.pattern_refs, said.artifact_refs)
    # Of one that only referred to a name that was erased, the references fit no more.
    if not said.erased and seals.claim_content(said.salt, said.value, references) != said.content:
        yield "its claim's value or references are not those that were sealed"


def shown(value: Any) -> str:
    """Return a value as a person reads it in a finding."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return "nothing" if value is None else str(value)
