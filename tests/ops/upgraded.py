"""Migrates the database at DATABASE_URL, lets the release before write once more, writes, and verifies all of it.

A process of its own, as what a process knows of an account belongs to one database.
"""

import gzip
import os
import sys
from pathlib import Path
from typing import Any

import django
import psycopg

WORDS = "written after the upgrade"


def say_again(path: Path) -> None:
    """Say to the database what the release before says when it writes."""
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute(gzip.decompress(path.read_bytes()).decode())


def write() -> dict[str, Any]:
    """Write over what is there and beside it, and return what is read back."""
    from django.test import Client

    from senselab.accounts import services as accounts

    key = accounts.create_key(accounts.find_account("default"), name="after")
    client = Client(headers={"Authorization": f"Bearer {key}"})
    for name in ("größe-3", "new"):
        body = {"entity_path": "shop/checkout", "key": name, "value": WORDS, "agent_id": "agent/one"}
        answer = client.post("/api/v1/entries", body, content_type="application/json")
        assert answer.status_code in {200, 201}, answer.content
    found = client.post("/api/v1/search", {"query": "seconds"}, content_type="application/json").json()
    told = client.get("/api/v1/history", {"entity_path": "shop/checkout", "key": "größe-3"}).json()
    return {"versions": told["version_count"], "found": len(found)}


def main(after: Path) -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("verify")
    say_again(after)
    print(write())
    call_command("verify")


if __name__ == "__main__":
    django.setup()
    main(Path(sys.argv[1]))
