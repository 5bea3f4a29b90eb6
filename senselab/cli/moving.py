"""Taking out all that a key may see as JSONL, and bringing in what others keep: all of it, or nothing."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import typer
from rich.console import Console
from rich.progress import Progress

from senselab.cli import formats
from senselab.cli.formats import NotThat, Row
from senselab.cli.remote import Remote
from senselab.cli.showing import REFUSED, AsJson, ending, show
from senselab.mcp.calling import Refused, Unreachable

PAGE, BATCH = 500, 1_000
BYTES = 6 * 1024 * 1024  # a commit's body stays below the server's 8 MiB


class Kind(StrEnum):
    """What a source may be; `formats.FORMATS` reads each."""

    SNAPSHOT = "snapshot"
    MEM0 = "mem0"
    MCP_MEMORY = "mcp-memory"
    CCMEM = "ccmem"
    CLAUDE_MD = "claude-md"


def export(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="A file; standard output unless named.")] = None,
    path: Annotated[str | None, typer.Option(help="Only this path.")] = None,
    versions: Annotated[bool, typer.Option("--versions", help="Every version, not only the current ones.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write what the key may see as JSONL, an entry a line."""
    written = 0
    with ending():
        file = out.open("w") if out else sys.stdout
        try:
            for entry in listed(context.obj, path, versions):
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                written += 1
        finally:
            if out:
                file.close()
    if out:
        show({"written": written, "file": str(out)}, as_json, lambda told: iter([f"{written} lines in {out}"]))


def listed(server: Remote, path: str | None, versions: bool) -> Iterator[dict[str, Any]]:
    offset = 0
    while True:
        query = {"entity_path": path, "include_superseded": versions or None, "status": "all"}
        told = server.get("entries", **query, limit=PAGE, offset=offset)
        yield from told["entries"]
        offset += len(told["entries"])
        if offset >= told["total"] or not told["entries"]:
            return


def take_in(
    context: typer.Context,
    kind: Annotated[Kind, typer.Argument(help="What the source is.")],
    source: Annotated[Path, typer.Argument(exists=True, help="A file, or a folder of notes.")],
    path: Annotated[str, typer.Option(help="Where to put it; each format has a place of its own.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing, report every row.")] = False,
    skip: Annotated[bool, typer.Option("--skip", help="Leave out rows that cannot be entries.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring in what others keep: all of it or nothing. A row that cannot be an entry stops it unless --skip is said."""
    try:
        rows = unique(list(formats.FORMATS[kind.value](source, path)))
    except (NotThat, UnicodeDecodeError) as error:
        raise typer.BadParameter(str(error)) from error
    faults = any(row.write is None and not row.is_repeated for row in rows)
    writing = not dry_run and (skip or not faults)
    report: dict[str, Any] = {"dry_run": dry_run, "rows": [told(row, writing) for row in rows], "commits": []}
    with ending():
        writes = [row.write for row in rows if row.write]
        if writing and writes:
            report["commits"] = commit(context.obj, writes, f"import of {source.name} ({kind.value})")
    show(report, as_json, lines)
    if faults and not writing and not dry_run:
        typer.echo("Nothing was written: some rows cannot be entries. --skip leaves them out.", err=True)
        raise typer.Exit(REFUSED)


def unique(rows: Sequence[Row]) -> list[Row]:
    """Return rows of which no two go to one entry: the later one counts, the earlier one says so."""
    last = {(row.write["entity_path"], row.write["key"]): row.place for row in rows if row.write}
    return [
        row
        if not row.write or last[row.write["entity_path"], row.write["key"]] == row.place
        else Row(row.place, None, f"{last[row.write['entity_path'], row.write['key']]} says it anew", is_repeated=True)
        for row in rows
    ]


def told(row: Row, writing: bool) -> dict[str, Any]:
    if row.write is None:
        return {"row": row.place, "result": "skipped", "why": row.why_not}
    name = f"{row.write['entity_path']}/{row.write['key']}"
    return {"row": row.place, "result": "written" if writing else "could be written", "entry": name}


def batches(writes: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield writes in commits of at most 1,000 and 6 MiB."""
    batch: list[dict[str, Any]] = []
    size = 0
    for write in writes:
        length = len(json.dumps(write))
        if batch and (len(batch) == BATCH or size + length > BYTES):
            yield batch
            batch, size = [], 0
        batch.append(write)
        size += length
    if batch:
        yield batch


@contextmanager
def taking_back(server: Remote) -> Iterator[list[int]]:
    """Yield a list for change sets; when what goes on inside is cut short, those are undone, the last one first."""
    sets: list[int] = []
    is_whole = False
    try:
        yield sets
        is_whole = True
    finally:
        if not is_whole:
            for change_set in reversed(sets):
                undo(server, change_set)


def undo(server: Remote, change_set: int) -> None:
    """Take a change set back, or say that it could not be and who has to; the others are tried all the same."""
    try:
        told = server.post(f"change-sets/{change_set}/undo", {"reason": "The import could not be finished."})
    except (Refused, Unreachable) as error:
        typer.echo(f"Change set {change_set} of this import could not be undone: {error}", err=True)
        return
    if left := told.get("left"):
        typer.echo(f"Of change set {change_set}, {len(left)} entries were changed since and stay.", err=True)


def write_once(server: Remote, batch: Sequence[dict[str, Any]], message: str) -> Any:
    """Write a commit; where nobody knows whether it was stored it is sent once more, which stores it once.

    :raises Refused: the server refused it.
    :raises Unreachable: nobody answered; it is said which commit may be stored.
    """
    body, key = {"writes": batch, "message": message}, uuid4().hex
    try:
        return server.post("commits", body, once=key)
    except (Refused, Unreachable) as error:
        if not is_open(error):
            raise
    try:
        return server.post("commits", body, once=key)
    except (Refused, Unreachable) as error:
        if is_open(error) or (isinstance(error, Refused) and error.status == 409):
            first = f"{batch[0]['entity_path']}/{batch[0]['key']}"
            said = f"The commit of {len(batch)} writes that begins with {first} may be stored: look for {message!r}"
            typer.echo(f"{said} among the change sets, and undo it.", err=True)
        raise


def is_open(error: Refused | Unreachable) -> bool:
    """Tell whether what was sent may have been stored for all we know."""
    return isinstance(error, Unreachable) or error.status >= 500


def commit(server: Remote, writes: Sequence[dict[str, Any]], message: str) -> list[str]:
    """Write in commits and return their ids; when one is refused, those before it are taken back.

    :raises Refused: the server refused one; nothing of the import is left but what is named.
    :raises Unreachable: nobody answers any more; what is left of the import is named.
    """
    done: list[str] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("Writing", total=len(writes))
        with taking_back(server) as sets:
            for batch in batches(writes):
                answer = write_once(server, batch, message)
                done.append(answer["commit_id"])
                sets.append(answer["change_set"])
                progress.advance(bar, len(batch))
    return done


def lines(report: dict[str, Any]) -> Iterator[str]:
    for row in report["rows"]:
        yield f"{row['row']}: {row['result']} {row.get('entry') or row.get('why')}"
    written = sum(row["result"] == "written" for row in report["rows"])
    skipped = sum(row["result"] == "skipped" for row in report["rows"])
    yield f"{written} written in {len(report['commits'])} commits, {skipped} skipped" + (
        " (a dry run)" if report["dry_run"] else ""
    )
