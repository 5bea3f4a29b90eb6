"""A client that costs little itself: one keep-alive connection, one call in flight."""

import json
import socket
from typing import Any
from urllib.parse import urlsplit


class Connection:
    """One client of a server that speaks HTTP/1.1."""

    def __init__(self, url: str, key: str) -> None:
        place = urlsplit(url)
        self.host, self.port = place.hostname or "127.0.0.1", place.port or 80
        self.headers = f"Host: {self.host}\r\nX-AMFS-API-Key: {key}\r\nAccept: application/json\r\n"
        self.socket: socket.socket | None = None
        self.rest = b""

    def get(self, path: str) -> tuple[int, bytes]:
        return self._call(f"GET {path} HTTP/1.1\r\n{self.headers}\r\n".encode())

    def post(self, path: str, body: Any) -> tuple[int, bytes]:
        text = json.dumps(body, separators=(",", ":")).encode()
        head = f"POST {path} HTTP/1.1\r\n{self.headers}Content-Type: application/json\r\nContent-Length: {len(text)}"
        return self._call(head.encode() + b"\r\n\r\n" + text)

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
        self.socket, self.rest = None, b""

    def _call(self, raw: bytes) -> tuple[int, bytes]:
        """Return the status and body of the answer.

        :raises OSError: the connection broke.
        """
        if self.socket is None:
            self.socket = socket.create_connection((self.host, self.port), timeout=60)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(raw)
        head, self.rest = self._until(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        fields = dict(line.split(b": ", 1) for line in lines[1:] if b": " in line)
        if fields.get(b"transfer-encoding") == b"chunked":
            body = self._chunks()
        else:
            body = self._exactly(int(fields.get(b"content-length", b"0")))
        if fields.get(b"connection") == b"close":
            self.close()
        return int(lines[0].split()[1]), body

    def _receive(self) -> bytes:
        data = self.socket.recv(262_144) if self.socket else b""
        if not data:
            raise ConnectionError("the server closed the connection")
        return data

    def _until(self, mark: bytes) -> tuple[bytes, bytes]:
        while mark not in self.rest:
            self.rest += self._receive()
        found, _, rest = self.rest.partition(mark)
        return found, rest

    def _exactly(self, count: int) -> bytes:
        parts, had = [self.rest], len(self.rest)
        while had < count:
            parts.append(self._receive())
            had += len(parts[-1])
        whole = b"".join(parts)
        self.rest = whole[count:]
        return whole[:count]

    def _chunks(self) -> bytes:
        body = b""
        while True:
            length, self.rest = self._until(b"\r\n")
            count = int(length, 16)
            body += self._exactly(count + 2)[:-2]
            if count == 0:
                return body
