"""The whole API, called as its schema says one may and by whoever there is: no fault, and answers as the schema says.

FUZZ_CASES is how many cases are made of all operations together (1,000 unless set, 5,000 by `make fuzz`); they are the
same each time. The other tests go on without it.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from senselab.accounts import services as accounts
from senselab.accounts.models import Account
from tests.api.conftest import Caller, counted
from tests.fuzz import shapes

__all__ = ["counted"]
OPERATIONS = list(shapes.operations())
CASES = max(1, int(os.environ.get("FUZZ_CASES", "1000")) // len(OPERATIONS))
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


@pytest.fixture(autouse=True)
def the_connection_stays(keys: dict[str, str]) -> Iterator[None]:
    """The end of a call would close the connection, and with it the transaction of this test; the test's own client,
    which keeps it, sets that up anew with each call."""
    del keys
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=[f"{method} {path}" for path, method in OPERATIONS])
def test_no_call_is_a_fault_and_each_is_answered_as_the_schema_says(schema, keys, path, method):
    cases = schema[path][method.upper()].as_strategy()

    @settings(
        max_examples=CASES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
        deadline=None,
    )
    @given(case=cases, role=st.sampled_from(sorted(keys)))
    def called(case: Any, role: str) -> None:
        with transaction.atomic():
            answer = case.call(headers={"X-AMFS-API-Key": keys[role]})
            case.validate_response(answer, checks=CHECKS)

    called()
