"""A careful client: it sends a call again, always under the same key, until somebody answers it for good."""

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from typing import Any


def rest(seconds: float) -> None:
    threading.Event().wait(seconds)


def call(url: str, body: Any, key: str, **headers: str) -> tuple[int, Any]:
    """Return status and answer; status 0 when nobody answered, so that nobody knows what was stored."""
    data = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **headers} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = urllib.request.Request(url, data=data, headers=sent)
    try:
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if "json" in answer.headers["Content-Type"] else None
        except urllib.error.HTTPError as error:
            error.read()
            return error.code, dict(error.headers)
    except (OSError, ValueError, http.client.HTTPException):
        # Who was killed in the middle of an answer gave none.
        return 0, None


def again(url: str, body: Any, key: str, once: str, ends: float, statuses: Counter[int]) -> tuple[int, Any]:
    """Send a call until somebody answers it for good, as a careful client does: always under the same key."""
    while True:
        status, told = call(url, body, key, **{"Idempotency-Key": once})
        statuses[status] += 1
        if status not in {0, 409, 429, 502, 503} or time.time() > ends + 20:
            return status, told
        if status in {429, 503}:
            assert told.get("Retry-After", "").isdigit() or told.get("retry-after", "").isdigit(), told
        rest(0.2)
