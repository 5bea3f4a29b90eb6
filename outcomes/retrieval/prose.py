"""An answer as Markdown. What agents wrote stands in quotes, line by line, so that none of it looks like ours."""

from collections.abc import Iterator

from memories.rows import Row
from outcomes.briefing.prose import NOTICE, code, quoted
from outcomes.retrieval.answering import Answer
from outcomes.retrieval.judging import Candidate
from outcomes.retrieval.replacements import Replaced
from outcomes.rules import budget, compact
from senselab import unmasking

LETTERS = 2_000


def markdown(answer: Answer, most: int | None = None) -> str:
    """Return hits, warnings and advice as Markdown, the first hit first, as much of it as fits into so many tokens."""
    blocks = [unmasking.plain(block, is_name=False) for block in _blocks(answer)]
    if most is not None:
        blocks = budget.first(blocks, most, lambda block: budget.tokens_of(block) + 1)
    return "\n\n".join(blocks) + "\n" if blocks else "Nothing here helps with this task.\n"


def _blocks(answer: Answer) -> Iterator[str]:
    if not answer.hits and not answer.avoid:
        return
    yield f"Guidance: {answer.strength}. {NOTICE}"
    for one in answer.hits:
        yield _hit(one)
    for one in answer.avoid:
        yield _warning(one, answer.replaced.get(one.row.entry_id, Replaced()))
    if answer.recommendation and answer.recommendation["suggested_action"]:
        advice = answer.recommendation
        yield f"Suggested ({advice['mode']}): {code(advice['suggested_action'])}. {advice['why']}"


def name(row: Row) -> str:
    return code(row.entry_key)


def _hit(one: Candidate) -> str:
    rescued = ", discredited elsewhere but works on tasks like this" if one.rescued else ""
    told = f"{name(one.row)} ({one.status}{rescued}, confidence {one.score.signals.confidence:.2f})"
    return f"{told}\n\n{quoted(compact.text_of(one.row.value, LETTERS))}"


def _warning(one: Candidate, replaced: Replaced) -> str:
    state = one.row.state
    failed_on = state.last_outcome_at.date().isoformat() if state.failure_count and state.last_outcome_at else ""
    by, action = [code(key) for key in replaced.by], replaced.action and code(replaced.action)
    return f"Avoid {name(one.row)}: {compact.warning(one.why_out, failed_on, by, action)}"
