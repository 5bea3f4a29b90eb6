"""The whole API, called as its schema says one may and by whoever there is: no fault, and answers as the schema says.

FUZZ_CASES is how many cases are made of all operations together (5,000 unless set); they are the same each time.
"""

import math
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from memories.models import BulkRun
from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.api.conftest import Caller, counted
from tests.fuzz import shapes

__all__ = ["counted"]
OPERATIONS = list(shapes.operations())
CASES = math.ceil(int(os.environ.get("FUZZ_CASES", "5000")) / len(OPERATIONS))
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
ROLES: dict[str, dict[str, Any]] = {
    "reads": {"scopes": ("read",)},
    "writes": {"scopes": ("read", "write")},
    "reviews": {"scopes": ("read", "write", "review")},
    "admin": {"scopes": ("read", "write", "review", "admin")},
    "bound": {"scopes": ("read", "write", "review"), "agent_id": "agent/deploy-bot"},
    "within globs": {"scopes": ("read", "write", "review"), "globs": [{"pattern": "shop/**"}]},
}
NAME = {"entity_path": "shop/checkout-service", "key": "retry-pattern"}


@pytest.fixture(scope="module")
def schema() -> Any:
    schema = schemathesis.openapi.from_dict(shapes.shaped())
    schema.app = get_wsgi_application()
    return schema


@pytest.fixture
def keys(account: Account) -> dict[str, str]:
    """A key of each kind, in an account where what the examples name is there."""
    told = {"rate_per_minute": 1_000_000}
    made = {role: accounts.create_key(account, name=role, **told, **said) for role, said in ROLES.items()}
    bot = Caller(made["admin"], "agent/deploy-bot")
    for number in range(3):
        bot.write("shop/checkout-service", "retry-pattern", {"max_attempts": number}, memory_type="belief")
    bot.report("deploy-1377", "failure", "shop/checkout-service/retry-pattern", task_input="deploy")
    bot.post("feedback", {**NAME, "outcome": "rejected"})
    return made | {"nobody": "sl_none"}


@pytest.fixture
def there(account: Account, keys: dict[str, str]) -> dict[str, Any]:
    """What is there by its number or id, by the name of the parameter that asks for it."""
    bot = Caller(keys["admin"], "agent/deploy-bot")
    relied = {**NAME, "version": 1, "value": 1, "written_by": "agent/deploy-bot"}
    told = {"session_id": "s-1", "outcome_ref": "deploy-1377", "causal_entries": [relied]}
    commit = {"writes": [{**NAME, "value": 1}], "message": "first"}
    written = bot.write("shop/checkout-service", "other", 1)
    run = {"decision": "accept", "kind": "decision", "actor_kind": "agent", "actor": "key", "author": "key", "total": 1}
    found = {
        "trace_id": bot.post("traces", told).json()["id"],
        "commit_id": bot.post("commits", commit).json()["commit_id"],
        "change_set_id": written["X-Change-Set"],
        "key_id": accounts.make_key(account, name="spare").key.pk,
        "run_id": BulkRun.objects.create(
            account=account, created_at=timezone.now(), state="finished", sees_all=False, **run
        ).pk,
    }
    return found | {"version": bot.read(NAME["entity_path"], NAME["key"])["version"]}


@pytest.fixture(autouse=True)
def the_connection_stays(there: dict[str, Any]) -> Iterator[None]:
    """The end of a call would close the connection, and with it the transaction of this test; the test's own client,
    which keeps it, sets that up anew with each call."""
    del there
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=[f"{method} {path}" for path, method in OPERATIONS])
def test_no_call_is_a_fault_and_each_is_answered_as_the_schema_says(schema, keys, there, path, method):
    cases = schema[path][method.upper()].as_strategy()
    roles: Counter[str] = Counter()

    @settings(
        max_examples=CASES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
        deadline=None,
    )
    @given(case=cases)
    def called(case: Any) -> None:
        role = sorted(keys)[roles.total() % len(keys)]
        shapes.led(case, roles.total(), there, shapes.example(path, method))
        with transaction.atomic():
            answer = case.call(headers={"X-AMFS-API-Key": keys[role]})
            case.validate_response(answer, checks=CHECKS)
        roles[role] += 1

    called()

    assert roles.total() == CASES
    assert len(roles) == min(CASES, len(keys))
