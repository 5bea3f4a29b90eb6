import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings

from tests.ops.conftest import Refused, Somebody


def test_a_port_in_use_is_refused(refused: Refused, environment: dict[str, str], anywhere: Path) -> None:
    with socket.create_server(("127.0.0.1", int(environment["PORT"]))):
        sentence = refused(SENSELAB_DATA=str(anywhere / "unused"))
    assert f"PORT {environment['PORT']}" in sentence
    assert "in use" in sentence


def test_a_port_that_is_none_is_refused(refused: Refused, anywhere: Path) -> None:
    assert "PORT" in refused(SENSELAB_DATA=str(anywhere / "unused"), PORT="99999")
    assert "'http'" in refused(SENSELAB_DATA=str(anywhere / "unused"), PORT="http")


def test_a_data_folder_that_cannot_be_made_is_refused(refused: Refused, anywhere: Path) -> None:
    (anywhere / "a file").touch()
    assert "cannot be written to" in refused(SENSELAB_DATA=str(anywhere / "a file" / "data"))


def test_a_data_folder_that_is_closed_to_us_is_refused(refused: Refused, anywhere: Path, somebody: Somebody) -> None:
    folder = anywhere / "closed"
    folder.mkdir(mode=0o555)
    assert "Permission denied" in refused(SENSELAB_DATA=str(folder), somebody=somebody)


def test_a_database_that_does_not_answer_is_refused(refused: Refused, anywhere: Path) -> None:
    sentence = refused(SENSELAB_DATA=str(anywhere / "unused"), DATABASE_URL="postgresql://me:secret@127.0.0.1:1/none")
    assert "does not answer" in sentence
    assert "refused" in sentence
    assert "secret" not in sentence


def test_any_command_says_in_a_sentence_that_the_database_is_away(environment: dict[str, str]) -> None:
    away = environment | {"DATABASE_URL": "postgresql://me:secret@127.0.0.1:1/none"}
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "createkey", "x"]
    told = subprocess.run(command, env=away, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "does not answer" in told.stderr
    assert "Traceback" not in told.stderr
    assert "secret" not in told.stderr


def test_an_address_that_is_none_is_refused(refused: Refused, anywhere: Path) -> None:
    assert "DATABASE_URL" in refused(SENSELAB_DATA=str(anywhere / "unused"), DATABASE_URL="somewhere over there")


@pytest.fixture
def old_server() -> Iterator[int]:
    """A port where something says, in PostgreSQL's protocol, that it is PostgreSQL 14.9."""

    def message(kind: bytes, body: bytes) -> bytes:
        return kind + struct.pack("!I", len(body) + 4) + body

    def greet() -> None:
        client, _ = listener.accept()
        with client:
            client.recv(4096)
            client.sendall(message(b"R", struct.pack("!I", 0)) + message(b"S", b"server_version\x0014.9\x00"))
            client.sendall(message(b"S", b"client_encoding\x00UTF8\x00") + message(b"Z", b"I"))
            client.recv(4096)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=greet, daemon=True).start()
        yield listener.getsockname()[1]


def test_a_database_that_is_too_old_is_refused(refused: Refused, anywhere: Path, old_server: int) -> None:
    url = f"postgresql://me@127.0.0.1:{old_server}/old?sslmode=disable&gssencmode=disable"
    sentence = refused(SENSELAB_DATA=str(anywhere / "unused"), DATABASE_URL=url)
    assert "PostgreSQL 14.9" in sentence
    assert "15 or newer" in sentence


@pytest.fixture
def without_rights() -> Iterator[str]:
    """The address of an empty database whose user may not make anything in it."""
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS ops_closed")
        connection.execute("DROP ROLE IF EXISTS ops_guest")
        connection.execute("CREATE DATABASE ops_closed")
        connection.execute("CREATE ROLE ops_guest")
        address = psycopg.conninfo.conninfo_to_dict(settings.DATABASE_URL)
        host = quote(str(address["host"]), safe="")
        port = address.get("port", 5432)
        login = f"{address['user']}:{quote(str(address.get('password', '')))}"
        yield f"postgresql://{login}@/ops_closed?host={host}&port={port}&options=-c%20role%3Dops_guest"
        connection.execute("DROP DATABASE ops_closed WITH (FORCE)")
        connection.execute("DROP ROLE ops_guest")


def test_a_database_user_who_may_not_migrate_is_refused(refused: Refused, anywhere: Path, without_rights: str) -> None:
    sentence = refused(SENSELAB_DATA=str(anywhere / "unused"), DATABASE_URL=without_rights)
    assert "lacks a right" in sentence
    assert "permission denied" in sentence
