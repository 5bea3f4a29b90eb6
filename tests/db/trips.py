"""How often the client waits for the database: a relay between the two that counts, and what was said meanwhile."""

import select
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import connection


@dataclass
class Counted:
    """Round trips and the statements that made them."""

    trips: int = 0
    statements: list[str] = field(default_factory=list)

    def note(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        self.statements.append(" ".join(sql.split()))
        return execute(sql, params, many, context)


class Turns:
    """Reads what a client says and counts where it asks to be answered: by a Sync, a simple Query, or a Flush.

    A Flush with nothing said since the last one asks for nothing.
    """

    def __init__(self) -> None:
        self.count = 0
        self._rest = b""
        self._started = False
        self._said = False

    def hear(self, data: bytes) -> None:
        self._rest += data
        # The very first message has no kind, only a length.
        while len(self._rest) >= (head := 5 if self._started else 4):
            length = int.from_bytes(self._rest[head - 4 : head], "big") + head - 4
            if len(self._rest) < length:
                return
            if self._started:
                self._hear(self._rest[:1])
            self._started, self._rest = True, self._rest[length:]

    def _hear(self, kind: bytes) -> None:
        self.count += kind in (b"S", b"Q") or (kind == b"H" and self._said)
        self._said = kind not in (b"S", b"Q", b"H")


class Relay:
    """Passes bytes between one client and the server, and listens."""

    def __init__(self, folder: Path, upstream: tuple[str, str]) -> None:
        self.turns = Turns()
        self.upstream = upstream
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / ".s.PGSQL.5432"))
        self.listener.listen()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _server(self) -> socket.socket:
        host, port = self.upstream
        if not host.startswith("/"):
            return socket.create_connection((host or "127.0.0.1", int(port or 5432)))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port or 5432}")
        return server

    def _run(self) -> None:
        client, _ = self.listener.accept()
        with client, self._server() as server:
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    if ready is client:
                        self.turns.hear(data)
                    (server if ready is client else client).sendall(data)


@contextmanager
def relayed() -> Iterator[Relay]:
    """Send this thread's connection through a relay."""
    settings = connection.settings_dict
    kept = {name: settings[name] for name in ("HOST", "PORT")}
    connection.close()
    with tempfile.TemporaryDirectory(prefix="trips") as folder:
        relay = Relay(Path(folder), (kept["HOST"], kept["PORT"]))
        settings.update(HOST=folder, PORT="5432")
        try:
            yield relay
        finally:
            connection.close()
            settings.update(kept)
            relay.thread.join(5)
            relay.listener.close()


@contextmanager
def counted(relay: Relay) -> Iterator[Counted]:
    """Count what happens within."""
    told = Counted()
    before = relay.turns.count
    with connection.execute_wrapper(told.note):
        yield told
    told.trips = relay.turns.count - before
