"""What commands print: JSON for programs, lines for people; and how they end."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from senselab.mcp.calling import Refused, Unreachable

REFUSED, UNREACHABLE = 1, 3
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Path = Annotated[str, typer.Argument(help="Where it belongs, such as shop/checkout-service.")]
Key = Annotated[str, typer.Argument(help="What it is called there.")]


@contextmanager
def ending() -> Iterator[None]:
    """End with 1 when the server refuses and with 3 when it cannot be reached, and say which in one sentence."""
    try:
        yield
    except Refused as refusal:
        typer.echo(str(refusal), err=True)
        raise typer.Exit(REFUSED) from refusal
    except Unreachable as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(UNREACHABLE) from error


def show(told: Any, as_json: bool, lines: Callable[[Any], Iterator[str]]) -> None:
    """Print what was told: as JSON, or line by line."""
    if as_json:
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    for line in lines(told):
        typer.echo(line)


def value_of(text: str) -> Any:
    """Return what a value on the command line stands for: JSON where it is JSON, else the text; `-` reads it."""
    text = sys.stdin.read() if text == "-" else text
    try:
        return json.loads(text)
    except ValueError:
        return text


def shown(value: Any, most: int = 120) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def entry(told: dict[str, Any]) -> Iterator[str]:
    """Yield an entry: its name and standing, then the value."""
    trust = f"{told['effective_confidence']:.3f}"
    standing = f"v{told['version']}  {trust}  {told['evidence_status']}  {told['status']}"
    yield f"{told['entity_path']}/{told['key']}  {standing}  by {told['provenance']['agent_id']}"
    yield f"    {shown(told['value'])}"


def entries(told: list[dict[str, Any]]) -> Iterator[str]:
    for one in told:
        yield from entry(one)


def outcome(told: dict[str, Any]) -> Iterator[str]:
    """Yield what an outcome moved, and which of the entries it named are not there."""
    yield from entries(told["entries"])
    for key in told.get("unknown_keys", ()):
        yield f"{key}  is unknown here; nothing was learned about it"
