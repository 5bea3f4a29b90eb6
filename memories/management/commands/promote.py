"""Write what has proved itself between two markers of a Markdown file, or read the rules there back as entries."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories import promoted
from memories.management import named
from memories.rules import names, promotion
from memories.services import promotion as importing
from senselab.errors import Refusal


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="CLAUDE.md, AGENTS.md; made when it is not there")
        parser.add_argument("--import", action="store_true", dest="reads", help="read the rules in it back as entries")
        parser.add_argument("--entity", default="", metavar="PATH", help="only entries under this path")
        parser.add_argument("--least", type=float, default=promoted.LEAST, help="the least confidence (0.8)")
        named.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            who = named.asked(options)
            said = self.read_back(who, options) if options["reads"] else self.write(who, options)
        except Refusal as error:
            raise CommandError(str(error)) from error
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['file']} cannot be used: {error}") from error
        self.stdout.write(said)

    def write(self, who: named.Asked, options: dict[str, Any]) -> str:
        path, place = options["file"], options["entity"]
        entity_path = names.clean_path(place, pointer="--entity") if place else ""
        block = promoted.markdown(
            who.viewer, who.now, least=options["least"], entity_path=entity_path, branch=options["branch"]
        )
        before = read(path) if path.exists() else ""
        after = promotion.put(before, block)
        if after != before:
            path.write_bytes(after.encode())
        count = len(promotion.parse(block))
        return f"{path}: {count} {'entry' if count == 1 else 'entries'}{'' if after != before else ', as before'}"

    def read_back(self, who: named.Asked, options: dict[str, Any]) -> str:
        path = options["file"]
        done = importing.read_back(
            who.viewer,
            promotion.parse(read(path)),
            actor=who.actor,
            author=who.author,
            cause=path.name,
            now=who.now,
            branch=options["branch"],
        )
        return f"{path}: {done.created} created, {done.rewritten} rewritten, {done.unchanged} unchanged"


def read(path: Path) -> str:
    """Return a file's text with the line ends it has."""
    return path.read_bytes().decode()
