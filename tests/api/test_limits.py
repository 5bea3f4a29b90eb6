"""Limits, on every call there is: a body, its depth and keys, a page, a query beyond measure is refused or cut."""

import re
from typing import Any

import pytest

from senselab.accounts import services as accounts
from senselab.api import BODY_BYTES
from tests.api.conftest import Caller
from tests.fuzz import shapes

OPERATIONS = list(shapes.operations())
READS = [path for path, method in OPERATIONS if method == "get"]
WRITES = [(path, method) for path, method in OPERATIONS if method in {"post", "put"}]
LONGEST_PAGE = 10_000
# What fills a path in; ids are nobody's.
FILLED = {"rest": "shop/checkout/rule", "agent_id": "agent/ada", "commit_id": "0" * 12, "trace_id": "0"}


def address(path: str) -> str:
    return re.sub(r"{(\w+)}", lambda found: FILLED.get(found[1], "999999999"), path).removeprefix("/api/v1/")


def parameters(path: str) -> list[str]:
    return [one["name"] for one in shapes.told()["paths"][path]["get"].get("parameters", ()) if one["in"] == "query"]


@pytest.fixture
def anybody(account) -> Caller:
    """A key that may do everything."""
    scopes = ("read", "write", "review", "admin")
    return Caller(accounts.create_key(account, name="key", scopes=scopes, rate_per_minute=1_000_000), "agent/ada")


def send(caller: Caller, method: str, path: str, body: bytes) -> Any:
    call = getattr(caller.client, method)
    return call(f"/api/v1/{address(path)}", body, content_type="application/json", headers=caller.headers)


@pytest.mark.parametrize("limit", ["0", "-1", "1000000000", "99999999999999999999999", "many", "1e3"])
def test_no_page_is_longer_than_ten_thousand_nor_shorter_than_one(anybody, limit):
    paged = [path for path in READS if "limit" in parameters(path)]
    assert len(paged) > 15
    answers = {path: anybody.get(address(path), limit=limit) for path in paged}
    odd = {path: one.status_code for path, one in answers.items() if one.status_code not in {200, 400, 404, 422}}
    assert odd == {}
    # What is not refused is a page: ours are all shorter.
    refused = [path for path, one in answers.items() if one.status_code == 422]
    assert limit == "1000000000" or len(refused) > len(paged) / 2


def test_no_body_is_longer_than_eight_mebibytes(anybody):
    body = b'{"a": "' + b"x" * BODY_BYTES + b'"}'
    answers = {f"{method} {path}": send(anybody, method, path, body).status_code for path, method in WRITES}
    # Who is not there is not there, whatever one sends.
    assert {name: status for name, status in answers.items() if status not in {404, 413}} == {}
    assert list(answers.values()).count(413) > 25


HOSTILE_BODIES = {
    "deep lists": b'{"value": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "deep objects": b'{"value": ' + b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"}",
    "deep where it is not read": b'{"nobody reads this": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "nothing but depth": b"[" * 100_000,
    "many keys": b'{"value": {' + b",".join(b'"k%d": 1' % n for n in range(60_000)) + b"}}",
    "one key again and again": b"{" + b",".join([b'"entity_path": "a"'] * 60_000) + b"}",
    "a number without end": b'{"value": ' + b"9" * 200_000 + b"}",
    "no text": b"\xff\xfe\x00",
    "NUL": b'{"entity_path": "a\\u0000", "key": "b", "value": "\\u0000"}',
    "half a pair": b'{"entity_path": "a", "key": "b", "value": "\\ud800"}',
}


@pytest.mark.parametrize("name", HOSTILE_BODIES)
def test_no_body_however_built_is_a_fault(anybody, name):
    answers = {
        f"{method} {path}": send(anybody, method, path, HOSTILE_BODIES[name]).status_code for path, method in WRITES
    }
    assert {call: status for call, status in answers.items() if status >= 500} == {}


@pytest.mark.parametrize("text", ["x" * 100_000, "\0", "\ud800".encode("utf-8", "surrogatepass"), "%", "-" * 300])
def test_no_query_however_long_or_odd_is_a_fault(anybody, text):
    answers = {path: anybody.get(address(path), **dict.fromkeys(parameters(path), text)).status_code for path in READS}
    assert {path: status for path, status in answers.items() if status >= 500} == {}


def test_a_value_with_many_keys_is_kept_read_and_shown(anybody, client_of, vera):
    value = {f"key {number}": number for number in range(40_000)}
    assert anybody.write("shop", "many", value).status_code == 200
    assert len(anybody.read("shop", "many")["value"]) == 40_000
    page = client_of(vera).get("/entry/", {"path": "shop", "key": "many"})
    assert page.status_code == 200
    assert len(page.content) < 500_000
