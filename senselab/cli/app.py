"""The commands about entries, outcomes and review, and the way to a server."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from senselab.cli import here, moving, remote, showing
from senselab.cli.remote import Remote
from senselab.cli.showing import AsJson, Key, Path, ending, show
from senselab.mcp.calling import Refused
from senselab.version import VERSION

app = typer.Typer(
    no_args_is_help=True, help="Ask a SenseLab server: what agents learned, how far to trust it, and why."
)
review = typer.Typer(no_args_is_help=True, help="What waits for a person's decision.")
app.add_typer(review, name="review")
app.command("export")(moving.export)
app.command("import")(moving.take_in)
app.command(context_settings=here.HANDED_ON)(here.backup)
app.command(context_settings=here.HANDED_ON)(here.restore)


@app.callback()
def choose(
    context: typer.Context,
    url: Annotated[str | None, typer.Option(envvar="SENSELAB_URL", help="The address of the server.")] = None,
    key: Annotated[str | None, typer.Option(envvar="SENSELAB_KEY", help="The API key.", show_default=False)] = None,
    agent: Annotated[str | None, typer.Option(envvar="SENSELAB_AGENT", help="The agent to speak for.")] = None,
) -> None:
    context.obj = remote.chosen(url, key, agent)


@app.command()
def login(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="The address of the server.")],
    key: Annotated[str, typer.Option("--with-key", prompt="API key", hide_input=True, help="Asked for if not given.")],
    as_json: AsJson = False,
) -> None:
    """Check a key and keep it, readable by you alone."""
    del context
    with ending():
        told = Remote(url, key).get("auth/whoami")
    path = remote.keep(url, key)
    show({**told, "kept": str(path)}, as_json, lambda who: iter([f"{who['actor_id']} of {who['account_id']}; {path}"]))


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Say whether the server is up, and who you are there."""
    server: Remote = context.obj
    with ending():
        told = {"url": server.url, **server.get("health"), "client": VERSION}
        told["whoami"] = server.get("auth/whoami") if server.key else None

    def lines(found: dict[str, Any]) -> Iterator[str]:
        yield f"{found['url']}  {found['status']}  {found['version']}"
        who = found["whoami"]
        yield f"{who['actor_id']} of {who['account_id']}: {', '.join(who['scopes'])}" if who else "no key"

    show(told, as_json, lines)


@app.command()
def write(
    context: typer.Context,
    path: Path,
    key: Key,
    value: Annotated[str, typer.Argument(help="JSON or text; - reads it.")],
    confidence: Annotated[float, typer.Option(min=0, max=1)] = 0.7,
    memory_type: Annotated[str, typer.Option("--type", help="fact, belief, experience or procedure.")] = "fact",
    private: Annotated[bool, typer.Option("--private", help="Seen by you alone.")] = False,
    ref: Annotated[list[str] | None, typer.Option(help="An entry it builds on, as path/key.")] = None,
    ttl_at: Annotated[str | None, typer.Option(help="When it expires, as ISO-8601.")] = None,
    expect: Annotated[int | None, typer.Option(help="Refuse if this is not the current version.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write an entry, or the next version of one."""
    body: dict[str, Any] = {"entity_path": path, "key": key, "value": showing.value_of(value)}
    body |= {"confidence": confidence, "memory_type": memory_type, "shared": not private, "pattern_refs": ref or []}
    body |= {"expected_version": expect} | ({"ttl_at": ttl_at} if ttl_at else {})
    with ending():
        show(context.obj.post("entries", body), as_json, showing.entry)


@app.command()
def read(context: typer.Context, path: Path, key: Key, as_json: AsJson = False) -> None:
    """Read an entry."""
    with ending():
        show(found(context.obj, path, key), as_json, showing.entry)


def found(server: Remote, path: str, key: str) -> dict[str, Any]:
    """:raises Refused: there is no such entry."""
    told: dict[str, Any] = server.get("entry", entity_path=path, key=key)
    if told.get("status") == "not_found":
        raise Refused(404, f"There is no entry {path}/{key}.")
    return told


@app.command()
def search(
    context: typer.Context,
    words: Annotated[str, typer.Argument(help="Words in any order.")],
    path: Annotated[str | None, typer.Option(help="Only here and below.")] = None,
    min_confidence: Annotated[float, typer.Option(min=0, max=1)] = 0.0,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    as_json: AsJson = False,
) -> None:
    """Find entries by words."""
    body = {"query": words, "entity_path": path, "include_descendants": True, "min_confidence": min_confidence}
    with ending():
        show(context.obj.post("search", {**body, "limit": limit}), as_json, showing.entries)


@app.command()
def history(context: typer.Context, path: Path, key: Key, as_json: AsJson = False) -> None:
    """Show every version of an entry, oldest first."""
    with ending():
        told = context.obj.get("history", entity_path=path, key=key)
        show(told, as_json, lambda found: showing.entries(found["versions"]))


@app.command()
def diff(
    context: typer.Context,
    path: Path,
    key: Key,
    old: Annotated[int | None, typer.Option("--from", help="The one before unless named.")] = None,
    new: Annotated[int | None, typer.Option("--to", help="The current one unless named.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what differs between two versions."""

    def lines(told: dict[str, Any]) -> Iterator[str]:
        yield f"v{told['from']} to v{told['to']}"
        for change in told["changes"]:
            yield f"  {change['path'] or '/'}: {showing.shown(change['old'])} → {showing.shown(change['new'])}"

    with ending():
        query = {"entity_path": path, "key": key, "from": old, "to": new}
        show(context.obj.get("diff", **query), as_json, lines)


@app.command()
def why(context: typer.Context, path: Path, key: Key, as_json: AsJson = False) -> None:
    """Show why an entry is trusted as far as it is, step by step."""

    def lines(told: dict[str, Any]) -> Iterator[str]:
        for step in told["steps"]:
            yield from (f"{step['at'][:19]}  {words}" for words in step["words"])
        yield f"confidence {told['confidence']:.3f}, effective {told['effective_confidence']:.3f}, {told['policy']}"

    with ending():
        show(context.obj.get("why", entity_path=path, key=key), as_json, lines)


@app.command()
def rollback(
    context: typer.Context,
    path: Path,
    key: Key,
    to: Annotated[int, typer.Option(min=1, help="The version to go back to.")],
    expect: Annotated[int | None, typer.Option(help="The version you looked at; the current one unless named.")] = None,
    reason: Annotated[str, typer.Option()] = "",
    preview: Annotated[bool, typer.Option("--preview", help="Change nothing, tell what would.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make an earlier version current again. Needs the scope review."""
    with ending():
        seen = expect or found(context.obj, path, key)["version"]
        body = {"entity_path": path, "key": key, "to_version": to, "expected_version": seen, "reason": reason}
        told = context.obj.post("rollback", {**body, "preview": preview})
    show(told, as_json or preview, lambda done: showing.entry(done["entry"]))


def judge(context: typer.Context, path: str, key: str, verdict: str, note: str, as_json: bool) -> None:
    with ending():
        told = context.obj.post("feedback", {"entity_path": path, "key": key, "outcome": verdict, "note": note})
        show(told, as_json, lambda done: showing.entry(done["entry"]))


@app.command()
def reinforce(context: typer.Context, path: Path, key: Key, note: str = "", as_json: AsJson = False) -> None:
    """Say that an entry was right."""
    judge(context, path, key, "accepted", note, as_json)


@app.command()
def correct(context: typer.Context, path: Path, key: Key, note: str = "", as_json: AsJson = False) -> None:
    """Say that an entry was wrong."""
    judge(context, path, key, "rejected", note, as_json)


@app.command()
def promote(context: typer.Context, as_json: AsJson = False) -> None:
    """Print what is trusted most as Markdown, for a CLAUDE.md or a wiki."""
    with ending():
        answer = context.obj("GET", "promoted")
        if answer.status >= 400:
            raise Refused(answer.status, f"The server answered {answer.status}.")
    show({"markdown": answer.body.decode()}, as_json, lambda told: iter([told["markdown"]]))


@app.command()
def outcome(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(help="What ended; the same one counts once.")],
    kind: Annotated[str, typer.Argument(help="success, minor_failure, failure or critical_failure.")],
    keys: Annotated[list[str] | None, typer.Argument(help="Entries it relied on, as path/key.")] = None,
    task: Annotated[str | None, typer.Option(help="What the task was.")] = None,
    verified_by: Annotated[str | None, typer.Option(help="What confirmed it, such as ci.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell how a task ended."""
    body: dict[str, Any] = {"outcome_ref": ref, "outcome_type": kind, "causal_entry_keys": keys or []}
    body |= {"task_input": task, "session_metadata": {"verified_by": verified_by} if verified_by else None}
    with ending():
        show(context.obj.post("outcomes", body), as_json, showing.outcome)


@review.command("list")
def review_list(
    context: typer.Context,
    path: Annotated[str | None, typer.Option(help="Here and below.")] = None,
    as_json: AsJson = False,
) -> None:
    """List what waits, the most doubtful first. Needs the scope review."""

    def lines(told: dict[str, Any]) -> Iterator[str]:
        for item in told["items"]:
            yield f"{item['entity_path']}/{item['key']}  v{item['version']}  {', '.join(map(str, item['reasons']))}"

    with ending():
        show(context.obj.get("review", entity_path=path), as_json, lines)


@review.command("decide")
def review_decide(
    context: typer.Context,
    decision: Annotated[str, typer.Argument(help="accept, reject, archive, pin, ...")],
    path: Path,
    key: Key,
    reason: Annotated[str, typer.Option()] = "",
    as_json: AsJson = False,
) -> None:
    """Decide about an entry as it stands now. Needs the scope review."""
    with ending():
        version = found(context.obj, path, key)["version"]
        items = [{"entity_path": path, "key": key, "version": version}]
        told = context.obj.post("review/decisions", {"items": items, "decision": decision, "reason": reason})
        show(told, as_json, lambda done: iter([f"{decision}: {done['done']} done"]))


@app.command()
def mcp(
    context: typer.Context,
    stdio: Annotated[bool, typer.Option("--stdio", help="Speak over standard input and output.")] = False,
) -> None:
    """Serve the tools of /mcp to a program that starts this one."""
    if not stdio:
        raise typer.BadParameter("Say --stdio; over HTTP the server itself serves /mcp.")
    from senselab.mcp import tools

    server: Remote = context.obj
    with ending():
        who = server.get("auth/whoami")
    asker = server if server.agent else Remote(server.url, server.key, who["actor_id"])
    tools.server(lambda context: asker, VERSION).run("stdio")


def main() -> None:
    app()
