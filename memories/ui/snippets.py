"""How an agent reads this very entry: commands to copy and paste, each name quoted for the language it stands in."""

import shlex
from dataclasses import dataclass
from urllib.parse import urlencode

from memories.rows import Row


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of code in a language; `id` is that of its element, to be copied from."""

    id: str
    language: str
    code: str


def snippets(row: Row, origin: str) -> list[Snippet]:
    """Return how to read an entry at an address such as https://lab.example."""
    return [Snippet("get-curl", "curl", curl(row, origin)), Snippet("get-python", "Python", python(row, origin))]


def curl(row: Row, origin: str) -> str:
    fields = {"entity_path": row.entity_path, "key": row.key}
    if row.branch != "main":
        fields["branch"] = row.branch
    parts = [f"curl -G {shlex.quote(f'{origin}/api/v1/entry')}", '-H "X-AMFS-API-Key: $SENSELAB_KEY"']
    if row.owner:
        # What is private to an agent is found by that agent alone.
        parts.append(f"-H {shlex.quote(f'X-AMFS-Agent-Id: {row.owner}')}")
    # What turns text around or cannot be seen is written so that it can.
    if all(value.isprintable() for value in fields.values()):
        parts += [f"--data-urlencode {shlex.quote(f'{name}={value}')}" for name, value in fields.items()]
    else:
        parts += [f"-d {shlex.quote(urlencode({name: value}))}" for name, value in fields.items()]
    return " \\\n  ".join(parts)


def python(row: Row, origin: str) -> str:
    branch = f", branch={row.branch!r}" if row.branch != "main" else ""
    return f"""import os
from amfs import AgentMemory
from amfs_adapter_http import HttpAdapter

adapter = HttpAdapter({origin!r}, os.environ["SENSELAB_KEY"])
memory = AgentMemory({row.owner or "my-agent"!r}, adapter=adapter{branch})
entry = memory.read({row.entity_path!r}, {row.key!r})
print(entry.value, entry.confidence)"""
