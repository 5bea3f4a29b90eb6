"""Scripted agents: they retrieve, try, report what failed, write what worked and commit how it went."""

import random
import re
import time
from dataclasses import dataclass, field

from amfs import AgentMemory
from amfs_adapter_http import HttpAdapter
from amfs_core.models import OutcomeType, RecallConfig

from tests.load.learning_world import ACTIONS, Task, World

AGENTS = 3
# Words of politeness, and how many others a rule and a task must share before anybody follows the rule.
IDLE = frozenset(
    (
        "ticket",
        "says",
        "this",
        "look",
        "thanks",
        "reported",
        "since",
        "morning",
        "cases",
        "urgent",
        "from",
        "please",
        "with",
    )
)
ABOUT = 2
FOLLOWED = 2
RETRIEVED = 5
CONFIDENCE = 0.7


@dataclass
class Course:
    """What came of a run: whether each first try was right, rules followed again although they had failed, the cost."""

    first: list[bool] = field(default_factory=list)
    repeats: int = 0
    calls: int = 0
    seconds: float = 0.0

    def share(self, start: int, end: int) -> float:
        part = self.first[start:end]
        return sum(part) / len(part) if part else 0.0


class Refuted:
    """Which rules failed for a kind of task and were since outdone by something else."""

    def __init__(self) -> None:
        self.failed: set[tuple[str, int]] = set()
        self.outdone: set[tuple[str, int]] = set()

    def note(self, kind: int, failed: list[str], worked: str) -> None:
        self.failed |= {(rule, kind) for rule in failed}
        self.failed.discard((worked, kind))
        self.outdone = {(rule, of) for rule, of in self.failed if of == kind} | self.outdone
        self.outdone.discard((worked, kind))


def without_memory(world: World) -> Course:
    """Return what agents reach that remember nothing."""
    rng, course = random.Random(world.seed), Course()
    for task in world.tasks:
        course.first.append(world.is_right(task, rng.choice(ACTIONS)))
    return course


def with_memory(world: World, url: str, key: str) -> Course:
    """Return what agents reach that share a memory at this address, from a playbook on."""
    course, refuted, rng = Course(), Refuted(), random.Random(world.seed)
    entity = f"shop/support-{world.seed}"
    agents = [agent(f"prod/agent-{at}", url, key, course) for at in range(AGENTS)]
    for name, value in world.playbook():
        agents[0].write(entity, name, value, confidence=CONFIDENCE)
    course.calls = 0
    for task in world.tasks:
        began = time.perf_counter()
        episode(world, task, agents[task.number % AGENTS], entity, course, refuted, rng)
        course.seconds += time.perf_counter() - began
    return course


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 3} - IDLE


def is_about(task: str, situation: str) -> bool:
    """Tell whether somebody who reads both would think the rule may be meant for the task."""
    return len(words(task) & words(situation)) >= ABOUT


def agent(name: str, url: str, key: str, course: Course) -> AgentMemory:
    adapter = HttpAdapter(url, key)

    def count(_: object) -> None:
        course.calls += 1

    adapter._client.event_hooks["request"].append(count)
    return AgentMemory(name, adapter=adapter)


def episode(
    world: World, task: Task, memory: AgentMemory, entity: str, course: Course, refuted: Refuted, rng: random.Random
) -> None:
    rows = memory.retrieve(
        task.text, entity_path=entity, limit=RETRIEVED, recall_config=RecallConfig(include_avoid=True)
    )
    advised = [
        (str(row.entry.value["action"]), f"{entity}/{row.entry.key}")
        for row in rows
        if not row.breakdown.get("_avoid")
        and isinstance(row.entry.value, dict)
        and "action" in row.entry.value
        and is_about(task.text, row.entry.value["situation"])
    ]
    plan = list(dict(reversed(advised[:FOLLOWED])).items())[::-1]
    plan += [(action, "") for action in rng.sample(ACTIONS, len(ACTIONS)) if action not in dict(plan)]
    failed: list[str] = []
    for at, (action, rule) in enumerate(plan):
        right = world.is_right(task, action)
        course.repeats += (rule, task.kind) in refuted.outdone
        memory.record_action("support", {"action": action}, success=right)
        if at == 0:
            course.first.append(right)
        if right:
            worked = rule or learned(memory, entity, task, action)
            refuted.note(task.kind, failed, worked)
            reference = f"{entity}-{task.number}"
            memory.commit_outcome(reference, OutcomeType.SUCCESS, [worked], task_input=task.text, entity_path=entity)
            return
        if rule:
            failed.append(rule)
        memory.record_attempt(outcome_type="failure", causal_entry_keys=[rule] if rule else [])


def learned(memory: AgentMemory, entity: str, task: Task, action: str) -> str:
    key = f"learned-{task.number}"
    memory.write(entity, key, {"situation": task.text, "action": action}, confidence=CONFIDENCE)
    return f"{entity}/{key}"
