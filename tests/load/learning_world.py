"""The world of the learning benchmark: kinds of tasks in near-twin wordings, each with a hidden right action."""

import random
from dataclasses import dataclass

ACTIONS = (
    "restart",
    "rollback",
    "scale_up",
    "rotate_key",
    "clear_cache",
    "rebuild_index",
    "page_vendor",
    "extend_limit",
)
# Six pairs of kinds that differ in what stands last: how they are put, and what tells the two apart.
PAIRS = (
    ("refunds", ("are declined", "fail", "get rejected"), ("with code E1402", "with code E1407")),
    ("the order export", ("is stuck", "hangs", "makes no progress"), ("on the read replica", "on the primary")),
    ("checkout", ("times out", "is very slow", "takes a minute"), ("in the mobile app", "in the web shop")),
    (
        "customers",
        ("cannot sign in", "are locked out", "get no session"),
        ("after a password reset", "after changing phones"),
    ),
    (
        "stock levels",
        ("are wrong", "do not add up", "went negative"),
        ("during the nightly import", "during live sync"),
    ),
    (
        "invoices",
        ("arrive twice", "are duplicated", "are sent again"),
        ("for German customers", "for French customers"),
    ),
)
TEMPLATES = (
    "{who} says {subject} {symptom} {detail}",
    "Ticket {number}: {subject} {symptom} {detail}",
    "Can you look at this? {subject} {symptom}, {detail}. Thanks, {who}",
    "{detail}: {subject} {symptom}, reported by {who}",
    "Since this morning {subject} {symptom} {detail} ({number} cases)",
    "Urgent from {who}: {subject} {symptom} {detail}, please fix",
)
PEOPLE = (
    "Ana",
    "Bilal",
    "Chen",
    "Dora",
    "Emeka",
    "Farah",
    "Goran",
    "Hana",
    "Ivo",
    "Jaya",
    "Kofi",
    "Lea",
    "Milo",
    "Nils",
)
KINDS = 2 * len(PAIRS)


@dataclass(frozen=True)
class Task:
    """One task as an agent reads it; the kind is hidden from it."""

    number: int
    kind: int
    text: str


def wording(kind: int, rng: random.Random) -> str:
    subject, symptoms, details = PAIRS[kind // 2]
    told = rng.choice(TEMPLATES).format(
        who=rng.choice(PEOPLE),
        number=rng.randint(100, 9999),
        subject=subject,
        symptom=rng.choice(symptoms),
        detail=details[kind % 2],
    )
    return told[0].upper() + told[1:]


@dataclass
class World:
    """Which action is right for each kind, before and after half of them change; and what the playbook claims."""

    seed: int
    episodes: int = 300
    wrong_rules: int = 4

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        self.before = [rng.choice(ACTIONS) for _ in range(KINDS)]
        changed = rng.sample(range(KINDS), KINDS // 2)
        self.after = [another(action, rng) if kind in changed else action for kind, action in enumerate(self.before)]
        wrong = rng.sample(range(KINDS), self.wrong_rules)
        self.claims = [another(action, rng) if kind in wrong else action for kind, action in enumerate(self.before)]
        self.tasks = [Task(number, kind := rng.randrange(KINDS), wording(kind, rng)) for number in range(self.episodes)]
        self.change = self.episodes // 2

    def is_right(self, task: Task, action: str) -> bool:
        right = self.before if task.number < self.change else self.after
        return right[task.kind] == action

    def playbook(self) -> list[tuple[str, dict[str, str]]]:
        """Return (key, value) of each rule of the playbook."""
        rules = []
        for kind, action in enumerate(self.claims):
            subject, symptoms, details = PAIRS[kind // 2]
            situation = f"{subject} {symptoms[0]} {details[kind % 2]}"
            rules.append((f"playbook-{kind + 1}", {"situation": situation, "action": action}))
        return rules


def another(action: str, rng: random.Random) -> str:
    return rng.choice([other for other in ACTIONS if other != action])
