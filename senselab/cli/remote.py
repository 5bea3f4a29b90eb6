"""Where the server is and with which key: from options, the environment, or what `login` kept."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from senselab.mcp.calling import Answered, Unreachable, asked, told

USUAL = "http://127.0.0.1:8000"
TIMEOUT = httpx.Timeout(30, connect=10)


def place() -> Path:
    """Return the file that `login` writes."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "senselab" / "credentials.json"


def kept() -> dict[str, str]:
    """Return what `login` kept, nothing where it kept nothing that can be read."""
    try:
        found = json.loads(place().read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def keep(url: str, key: str) -> Path:
    """Write address and key so that their owner alone can read them."""
    path = place()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as file:
        # A file that was there keeps its mode otherwise.
        os.fchmod(file.fileno(), 0o600)
        json.dump({"url": url, "key": key}, file)
    return path


@dataclass(frozen=True, slots=True)
class Remote:
    """A server, a key, and perhaps the agent to speak for."""

    url: str
    key: str = ""
    agent: str = ""

    @property
    def headers(self) -> dict[str, str]:
        headers = {"X-AMFS-API-Key": self.key} if self.key else {}
        return headers | ({"X-AMFS-Agent-Id": self.agent} if self.agent else {})

    def __call__(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, once: str = ""
    ) -> Answered:
        """Ask the API; a call that is made again with the same `once` is done once.

        :raises Unreachable: nobody answers there.
        """
        address = f"{self.url.rstrip('/')}/api/v1/{path}"
        headers = self.headers | ({"Idempotency-Key": once} if once else {})
        try:
            answer = httpx.request(method, address, params=asked(query), json=body, headers=headers, timeout=TIMEOUT)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable(f"Cannot reach {self.url}: {error or type(error).__name__}.") from error
        return Answered(answer.status_code, answer.content)

    def get(self, path: str, **query: Any) -> Any:
        """:raises Refused: the server said no. :raises Unreachable: nobody answers there."""
        return told(self("GET", path, query=query))

    def post(self, path: str, body: Any, *, once: str = "") -> Any:
        """:raises Refused: the server said no. :raises Unreachable: nobody answers there."""
        return told(self("POST", path, body=body, once=once))


def chosen(url: str | None, key: str | None, agent: str | None) -> Remote:
    """Return the server to ask: what was given, else what was kept, else this machine's."""
    found = kept()
    return Remote(url or found.get("url") or USUAL, key or found.get("key", ""), agent or "")
