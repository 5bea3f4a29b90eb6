"""How good a ranking is: recall at five, nDCG at ten, and how often something discredited was served."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.quality.corpus import Question


@dataclass(frozen=True)
class Figures:
    """Means over questions: 0..1; `served` counts discredited hits that were not marked as rescued."""

    questions: int
    recall: float
    ndcg: float
    served: int


def recall(ranked: Sequence[str], answers: Iterable[str], at: int = 5) -> float:
    wanted = set(answers)
    return len(wanted & set(ranked[:at])) / len(wanted)


def ndcg(ranked: Sequence[str], answers: Iterable[str], at: int = 10) -> float:
    wanted = set(answers)
    gained = sum(1 / math.log2(place + 2) for place, name in enumerate(ranked[:at]) if name in wanted)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(at, len(wanted))))


def measure(questions: Sequence[Question], ask: Callable[[str], tuple[list[str], int]]) -> dict[str, Figures]:
    """Return the figures of each kind of question and of all; `ask` gives names and how many were discredited."""
    found: dict[str, list[tuple[float, float, int]]] = {}
    for question in questions:
        ranked, served = ask(question.query)
        row = (recall(ranked, question.answers), ndcg(ranked, question.answers), served)
        for kind in (question.kind, "all"):
            found.setdefault(kind, []).append(row)
    return {kind: _means(rows) for kind, rows in found.items()}


def _means(rows: Sequence[tuple[float, float, int]]) -> Figures:
    recalls, gains, served = zip(*rows, strict=True)
    return Figures(len(rows), sum(recalls) / len(rows), sum(gains) / len(rows), sum(served))


def below(found: dict[str, Figures], floors: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return (recall, nDCG) of each kind that does not reach its floors."""
    return {
        kind: (round(found[kind].recall, 3), round(found[kind].ndcg, 3))
        for kind, (recall, ndcg) in floors.items()
        if found[kind].recall < recall or found[kind].ndcg < ndcg
    }


def table(found: dict[str, Figures]) -> str:
    lines = ["| kind | questions | recall@5 | nDCG@10 | discredited served |", "|---|---:|---:|---:|---:|"]
    lines += [f"| {k} | {f.questions} | {f.recall:.3f} | {f.ndcg:.3f} | {f.served} |" for k, f in found.items()]
    return "\n".join(lines)
