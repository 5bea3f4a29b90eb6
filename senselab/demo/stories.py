"""Histories worth a story: what happens in them is set, day by day, and not drawn."""

from collections.abc import Iterator
from typing import Any

from memories.rules.kinds import MemoryType, OutcomeType
from senselab.demo.cast import CHECKOUT_DEV, DEPLOY_BOT, MIRA, ONCALL_HELPER, RUNBOOK_IMPORT, TOM
from senselab.demo.events import Event, Looked, Relied, Replaced, Task, WentBack, Wrote
from senselab.demo.poison import poisoned

CHECKOUT, PAYMENTS, CATALOG = "shop/checkout-service", "shop/payments", "shop/catalog"
RETRY, FALLBACK = f"{CHECKOUT}/retry-pattern", f"{CHECKOUT}/tax-service-fallback"
REFUND = f"{PAYMENTS}/refund-through-gateway"


def stories() -> list[Event]:
    return [*retry_pattern(), *retired_endpoint(), *purge_loop(), *published(), *poisoned()]


def relied(*keys: str, holds: bool) -> tuple[Relied, ...]:
    return tuple(Relied(key, holds) for key in keys)


def task(at: float, agent: str, ref: str, kind: OutcomeType, *keys: str, causal: float = 1.0, by: str = "") -> Task:
    """Return a task whose end is known: a success holds all it relies on, a failure nothing of it."""
    path, _, key = keys[0].rpartition("/")
    holds = kind in {OutcomeType.SUCCESS, OutcomeType.CLEAN_DEPLOY}
    told: dict[str, Any] = {"entity_paths": [path], "task_input": f"{ref}: relied on {key}"}
    return Task(at, agent, ref, relied(*keys, holds=holds), kind, kind, causal, by, stubborn=True, told=told)


CAREFUL = {
    "summary": "Retry only idempotent calls to payments, at most 3 times with full jitter."
    " Give up and surface the error after that.",
    "max_attempts": 3,
    "backoff": {"kind": "exponential", "base_ms": 200, "cap_ms": 5000, "jitter": "full"},
    "retry_on": [502, 503, 504],
    "idempotency_key": "required",
    "applies_to": "payments-gateway",
    "owner": "team-checkout",
}
HASTY = {
    "summary": "Retry every call to payments, up to 6 times with a short fixed pause."
    " Give up and surface the error after that.",
    "max_attempts": 6,
    "backoff": {"kind": "fixed", "base_ms": 50, "cap_ms": 5000},
    "retry_on": [409, 502, 503, 504],
    "idempotency_key": "optional",
    "applies_to": "payments-gateway",
    "owner": "team-checkout",
    "deadline_ms": 4000,
}


def retry_pattern() -> Iterator[Event]:
    """A good rule, rewritten in haste before a sale, is discredited by an incident within a week."""
    good, deploy = OutcomeType.SUCCESS, OutcomeType.CLEAN_DEPLOY
    belief = MemoryType.BELIEF
    yield Wrote(
        1.1, DEPLOY_BOT, CHECKOUT, "retry-pattern", belief, CAREFUL, 0.7, refs=(f"{PAYMENTS}/pattern-idempotency-key",),
        reason="First seen in the payment timeouts of the night",
    )  # fmt: skip
    wins = [
        (3.2, CHECKOUT_DEV, "task-8812", good, 0.4, ""), (5.1, DEPLOY_BOT, "deploy-1290", deploy, 0.3, "ci"),
        (7.4, CHECKOUT_DEV, "task-8917", good, 0.5, ""), (10.3, ONCALL_HELPER, "task-9004", good, 0.25, ""),
        (12.5, DEPLOY_BOT, "deploy-1311", deploy, 0.35, "ci"),
    ]  # fmt: skip
    later = [
        (15.6, CHECKOUT_DEV, "task-9122", good, 0.45, ""), (17.4, ONCALL_HELPER, "task-9177", good, 0.4, ""),
        (19.3, DEPLOY_BOT, "deploy-1342", deploy, 0.4, "ci"), (21.6, ONCALL_HELPER, "task-9260", good, 0.2, ""),
        (24.5, CHECKOUT_DEV, "task-9301", good, 0.9, ""), (26.4, DEPLOY_BOT, "deploy-1377", deploy, 0.45, "ci"),
        (29.3, CHECKOUT_DEV, "task-9388", good, 0.4, ""),
    ]  # fmt: skip
    yield from (task(at, who, ref, kind, RETRY, causal=c, by=by) for at, who, ref, kind, c, by in wins)
    yield task(13.7, DEPLOY_BOT, "deploy-1318", OutcomeType.REGRESSION, RETRY, causal=0.35, by="ci")
    yield from (task(at, who, ref, kind, RETRY, causal=c, by=by) for at, who, ref, kind, c, by in later)
    haste = "Timeouts during the Black Friday dry run; retry harder"
    yield Wrote(31.2, CHECKOUT_DEV, CHECKOUT, "retry-pattern", belief, HASTY, 0.8, reason=haste)
    yield task(32.4, CHECKOUT_DEV, "task-9412", good, RETRY, FALLBACK, causal=0.6)
    step = (RETRY, FALLBACK, f"{CHECKOUT}/payment-timeout-ms")
    yield task(36.1, DEPLOY_BOT, "deploy-1391", OutcomeType.REGRESSION, *step, causal=0.4)
    yield task(38.3, ONCALL_HELPER, "INC-2291", OutcomeType.P2_INCIDENT, RETRY, FALLBACK, causal=0.8, by="incident")
    for place, (agent, looks) in enumerate(((ONCALL_HELPER, 17), (CHECKOUT_DEV, 12), (DEPLOY_BOT, 7))):
        for look in range(looks):
            at = 31.5 + 6.7 * (look + 0.3 * place) / looks
            yield Looked(at, agent, (RETRY,), f"s-{agent.rpartition('/')[2]}-{look // 3}")


def retired_endpoint() -> Iterator[Event]:
    """A procedure that always worked fails from day 20 on, as its endpoint was retired; a new one replaces it."""
    steps = ["Read the charge.", "POST /v1/refunds with charge and amount.", "Wait for the webhook refund.updated."]
    value = {"goal": "Give money back to a card", "endpoint": "/v1/refunds", "steps": steps}
    yield Wrote(0.6, RUNBOOK_IMPORT, PAYMENTS, "refund-through-gateway", MemoryType.PROCEDURE, value, 0.85)
    agents = (CHECKOUT_DEV, ONCALL_HELPER, CHECKOUT_DEV, DEPLOY_BOT)
    for number in range(14):
        by = "ledger" if number % 3 == 0 else ""
        ref = f"task-{8840 + 17 * number}"
        yield task(1.5 + 1.3 * number, agents[number % 4], ref, OutcomeType.SUCCESS, REFUND, causal=0.9, by=by)
    yield task(20.2, CHECKOUT_DEV, "task-9210", OutcomeType.MINOR_FAILURE, REFUND, causal=0.8)
    yield task(20.5, CHECKOUT_DEV, "task-9214", OutcomeType.FAILURE, REFUND, causal=0.9)
    yield task(20.7, ONCALL_HELPER, "INC-2204", OutcomeType.P2_INCIDENT, REFUND, by="incident")
    yield task(21.3, CHECKOUT_DEV, "task-9231", OutcomeType.FAILURE, REFUND, causal=0.7)
    steps = ["Read the payment intent, not the charge.", "POST /v2/refunds with an idempotency key.", *steps[2:]]
    value = {"goal": "Give money back to a card", "endpoint": "/v2/refunds", "steps": steps, "since": "gateway 2.0"}
    why = "The gateway answers 410 to /v1/refunds since this morning"
    key = "refund-through-gateway-v2"
    yield Wrote(21.6, ONCALL_HELPER, PAYMENTS, key, MemoryType.PROCEDURE, value, 0.75, refs=(REFUND,), reason=why)
    for number in range(11):
        at, by = 22.1 + 1.6 * number, "ledger" if number % 2 == 0 else ""
        ref = f"task-{9244 + 19 * number}"
        yield task(at, agents[number % 4], ref, OutcomeType.SUCCESS, f"{PAYMENTS}/{key}", causal=0.9, by=by)
    yield Replaced(23.2, REFUND, f"{PAYMENTS}/{key}", MIRA, "The endpoint it names was retired on the gateway's side")


def purge_loop() -> Iterator[Event]:
    """A rewrite that set off a purge loop is rolled back by a person within the day."""
    key = f"{CATALOG}/image-cdn"
    value = {"purge": "by prefix", "keys": ["/img/"], "max_per_minute": 6000}
    yield Wrote(
        40.3, CHECKOUT_DEV, CATALOG, "image-cdn", MemoryType.FACT, value, 0.8, reason="One purge instead of hundreds"
    )
    yield task(40.6, DEPLOY_BOT, "deploy-1404", OutcomeType.P2_INCIDENT, key, causal=0.9, by="incident")
    yield WentBack(41.1, key, TOM, "Purge loop on Friday: a prefix purges what the warm-up has just loaded")
    yield task(41.6, DEPLOY_BOT, "deploy-1407", OutcomeType.CLEAN_DEPLOY, key, causal=0.8, by="ci")


def published() -> Iterator[Event]:
    """What an agent noted for itself turns out to be of use to all."""
    key, belief = "gateway-retry-after", MemoryType.BELIEF
    value = "The gateway's Retry-After is in milliseconds, whatever the standard says."
    yield Wrote(8.2, CHECKOUT_DEV, PAYMENTS, key, belief, value, 0.6, private=True)
    for number, at in enumerate((9.4, 11.2, 14.8)):
        yield task(at, CHECKOUT_DEV, f"task-{8990 + number}", OutcomeType.SUCCESS, f"{PAYMENTS}/{key}", causal=0.7)
    yield Wrote(15.1, CHECKOUT_DEV, PAYMENTS, key, belief, value, 0.6, reason="Held three times; others should know")
