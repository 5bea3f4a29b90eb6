"""What a search looks for, and the conditions it becomes."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memories.ageing import silence_sql
from memories.heads import MAIN
from memories.rules import wordings
from memories.rules.kinds import Status
from memories.rules.wordings import Asked
from memories.viewers import Viewer

LISTED = (Status.ACTIVE.value, Status.UNDER_REVIEW.value)
# What a sort orders by, most of them down an index; the second column makes it total. Relevance comes before its order.
ORDERS = {
    "confidence": "e.settled_confidence DESC, e.id",
    "doubt": "e.settled_confidence, e.id",
    "recency": "e.written_at DESC, e.id DESC",
    "oldest": "e.written_at, e.id",
    "name": "e.entity_path, e.key, e.owner",
    "version": "e.version DESC, e.id",
    "recall_count": "coalesce(r.recall_count, 0) DESC, e.id",
    "relevance": "e.settled_confidence DESC, e.id",
    "priority": "e.tier, e.settled_confidence DESC, e.id",
}
# The comparison that goes on after a cursor, for the sorts that pages walk by keyset.
AFTER = {
    "confidence": (
        "e.settled_confidence <= %(after_0)s::float8"
        " AND (e.settled_confidence < %(after_0)s::float8 OR e.id > %(after_1)s::bigint)",
        ("settled_confidence", "entry_id"),
    ),
    "doubt": (
        "(e.settled_confidence, e.id) > (%(after_0)s::float8, %(after_1)s::bigint)",
        ("settled_confidence", "entry_id"),
    ),
    "recency": ("(e.written_at, e.id) < (%(after_0)s::timestamptz, %(after_1)s::bigint)", ("written_at", "entry_id")),
    "oldest": ("(e.written_at, e.id) > (%(after_0)s::timestamptz, %(after_1)s::bigint)", ("written_at", "entry_id")),
    "name": (
        "(e.entity_path, e.key, e.owner) > (%(after_0)s::text, %(after_1)s::text, %(after_2)s::text)",
        ("entity_path", "key", "owner"),
    ),
}


# So many words are looked for inside names.
PARTS = 8
# An entry of main whose name has nothing on the branch that the viewer may see.
UNTOUCHED = f"""(e.branch = '{MAIN}' AND NOT EXISTS (
    SELECT 1 FROM memories_entry b WHERE {{seen}} AND b.branch = %(branch)s AND b.entity_path = e.entity_path
       AND b.key = e.key))"""
MATCHES = "t.words @@ memories_asked(%(words)s)"
# The same for a plan that is kept: in a SELECT of its own the query is read once, not for each row, and no words of it
# are a reason to plan again.
MATCHES_AS_PLANNED = "t.words @@ (SELECT memories_asked(%(words)s))"


def escaped(text: str) -> str:
    """Return a text as LIKE reads it literally."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for. Confidence means effective confidence; empty collections do not filter."""

    words: str = ""
    entity_path: str | None = None
    descendants: bool = False
    branch: str = "main"
    # Whether a branch shows main's entries of the names it never touched (contract.md 3.16).
    over_main: bool = False
    statuses: tuple[str, ...] = LISTED
    evidence: tuple[str, ...] = ()
    memory_types: tuple[str, ...] = ()
    tiers: tuple[int, ...] = ()
    agent_id: str = ""
    min_confidence: float | None = None
    max_confidence: float | None = None
    since: datetime | None = None
    expires_by: datetime | None = None
    pattern_ref: str = ""
    key_prefix: str = ""
    artifacts: bool = True
    private: bool | None = None
    sort: str = "confidence"
    limit: int = 100
    offset: int = 0
    after: tuple[str, ...] = ()
    # Whether one of the words is enough.
    any_word: bool = False

    # Whether words need only begin so, or stand somewhere in the name.
    in_parts: bool = False
    # Whether its words are known to be rare, so that an index of words is the way to them: that is planned once.
    plan_kept: bool = False

    @property
    def asked(self) -> Asked:
        """Return the query read."""
        return wordings.asked(self.words)

    @property
    def is_scoped(self) -> bool:
        return bool(self.entity_path or self.key_prefix)

    @property
    def is_in_one_entity(self) -> bool:
        """Tell whether it looks at one entity alone, whose entries are few enough to be looked at one by one."""
        return bool(self.entity_path) and not self.descendants

    @property
    def is_planned_anew(self) -> bool:
        """Tell whether how to find it best depends on how rare its words are."""
        return bool(self.words) and not self.is_in_one_entity and not self.plan_kept

    @property
    def needs_claim(self) -> bool:
        """Tell whether its conditions look at claims."""
        return bool(self.pattern_ref) or not self.artifacts

    def conditions(self, viewer: Viewer, now: datetime) -> "Conditions":
        """Return what a row must meet, and the values it names."""
        made = Conditions([viewer.visible(), self._branch(viewer), "(e.ttl_at IS NULL OR e.ttl_at > %(now)s)"])
        made.values |= {**viewer.parameters, "branch": self.branch, "now": now}
        made.add(viewer.unhidden())
        self._places(made)
        self._standing(made, viewer)
        self._claims(made)
        return made

    def _branch(self, viewer: Viewer) -> str:
        own = "e.branch = %(branch)s"
        if not self.over_main or self.branch == MAIN:
            return own
        # Who sees all sees private entries beside the shared one of a name: each stands for its own on main.
        seen = f"{viewer.visible('b')} AND b.owner = e.owner" if viewer.sees_all else viewer.visible("b")
        return f"({own} OR {UNTOUCHED.format(seen=seen)})"

    def _places(self, made: "Conditions") -> None:
        if self.entity_path is not None and not self.descendants:
            made.add("e.entity_path = %(path)s", path=self.entity_path)
        elif self.entity_path:
            # '0' is the character after '/', so this is every path that begins with "path/", down the index.
            path = self.entity_path.rstrip("/")
            made.add(
                "(e.entity_path = %(path)s OR (e.entity_path >= %(below)s AND e.entity_path < %(beyond)s))",
                path=path,
                below=f"{path}/",
                beyond=f"{path}0",
            )
        if self.key_prefix:
            made.add("starts_with(e.key, %(prefix)s)", prefix=self.key_prefix)

    def _standing(self, made: "Conditions", viewer: Viewer) -> None:
        if self.statuses:
            made.add("e.status = ANY(%(statuses)s)", statuses=list(self.statuses))
        if self.evidence:
            made.add("e.evidence_status = ANY(%(evidence)s)", evidence=list(self.evidence))
        if self.tiers:
            made.add("e.tier = ANY(%(tiers)s)", tiers=list(self.tiers))
        effective = silence_sql.effective_of_head(viewer.policy)
        if self.min_confidence is not None and self.min_confidence > 0:
            # Stored confidence is never below the effective one: the index may cut before the exact value is computed.
            exact = f"round(({effective})::numeric, 9) >= round(%(least)s::numeric, 9)"
            made.add(f"e.confidence >= %(least)s - 1e-9 AND {exact}", least=self.min_confidence)
        if self.max_confidence is not None:
            made.add(f"round(({effective})::numeric, 9) <= round(%(most)s::numeric, 9)", most=self.max_confidence)

    def _words(self, made: "Conditions") -> None:
        asked = self.asked
        if not asked:
            # Nothing but signs was asked for, and nothing is found by those.
            made.add("FALSE")
            return
        made.joins.append("JOIN memories_entrytext t ON t.account_id = e.account_id AND t.entry_id = e.id")
        query = asked.any if self.any_word else asked.prefixes if self.in_parts else asked.all
        matches = met = MATCHES if self.is_planned_anew else MATCHES_AS_PLANNED
        if self.in_parts and asked.parts:
            # One by one: an index knows LIKE, but no LIKE ALL.
            parts = {f"part_{place}": f"%{escaped(text)}%" for place, text in enumerate(asked.parts[:PARTS])}
            matches = f"({met} OR ({' AND '.join(f't.name LIKE %({name})s' for name in parts)}))"
            made.values |= parts
        made.add(f"t.account_id = %(account)s AND {matches}", words=query)

    def _claims(self, made: "Conditions") -> None:
        if self.words:
            self._words(made)
        if self.memory_types:
            made.add("e.memory_type = ANY(%(types)s)", types=list(self.memory_types))
        if self.agent_id:
            made.add("e.agent_id = %(author)s", author=self.agent_id)
        if self.since is not None:
            made.add("e.written_at >= %(since)s", since=self.since)
        if self.expires_by is not None:
            made.add("e.ttl_at <= %(expires_by)s", expires_by=self.expires_by)
        if self.pattern_ref:
            made.add("%(pattern)s = ANY(c.pattern_refs)", pattern=self.pattern_ref)
        if not self.artifacts:
            made.add("NOT c.is_artifact")
        if self.private is not None:
            made.add("e.shared = %(shared)s", shared=not self.private)


@dataclass(slots=True)
class Conditions:
    """What a WHERE says, what it joins, and the values it binds by name."""

    parts: list[str]
    joins: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def add(self, part: str, **values: Any) -> None:
        self.parts.append(part)
        self.values |= values

    @property
    def where(self) -> str:
        return f"{' '.join(self.joins)} WHERE {' AND '.join(self.parts)}"
