"""What the client meets when it asks for what is not there, and that its connection survives it."""

import httpx
import pytest
from amfs import AgentMemory

LARGE = {"value": "y" * 400_000}
ROUNDS = 30


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_a_route_that_is_not_there_is_a_problem_of_404_whatever_the_method(curl: httpx.Client, method: str) -> None:
    answer = curl.request(method, "/api/v1/no-such-route")

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert isinstance(answer.json()["detail"], str)


def test_a_method_that_is_not_there_is_named_in_words(curl: httpx.Client) -> None:
    answer = curl.delete("/api/v1/entries")

    assert answer.status_code == 405
    assert "{" not in answer.json()["title"] + answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/v1/no-such-route", {}, 404),
        ("/api/v1/stats", {}, 405),
        ("/api/v1/entries", {"X-AMFS-API-Key": "wrong"}, 401),
    ],
)
def test_a_refusal_before_the_body_is_read_leaves_the_connection_usable(
    curl: httpx.Client, path: str, headers: dict[str, str], status: int
) -> None:
    """A server that drops an unread body closes the connection unannounced; the client does not try again."""
    for _ in range(ROUNDS):
        assert curl.post(path, json=LARGE, headers=headers).status_code == status
        assert curl.get("/api/v1/stats").status_code == 200


def test_the_words_of_a_refusal_reach_the_agent(deploy_bot: AgentMemory) -> None:
    with pytest.raises(httpx.HTTPStatusError, match=r"413 .* for POST /api/v1/entries: \w.*"):
        deploy_bot.write("checkout", "novel", "y" * (1024 * 1024))
    with pytest.raises(httpx.HTTPStatusError, match=r"422 .* for POST /api/v1/entries: \w.*"):
        deploy_bot.write("checkout", "k" * 513, "v")
