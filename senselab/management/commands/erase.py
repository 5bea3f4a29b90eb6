"""Erase for good what an entry says or an agent said; without --confirm, say what that would be."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories.entry import history
from memories.heads import Name
from memories.management import named
from memories.rules import names
from memories.services.erasing import Target
from outcomes.services import erasing
from senselab.accounts.audit import SYSTEM
from senselab.errors import NotFound, Refusal


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--entry", nargs=2, metavar=("PATH", "KEY"), help="what this entry says and said")
        what.add_argument("--agent", metavar="AGENT", help="all that this agent said")
        parser.add_argument("--owner", default=None, help="whose private entry; the shared one comes first")
        parser.add_argument("--names", action="store_true", help="its names as well")
        parser.add_argument("--reason", default="", help="why; it stays with the tombstone")
        parser.add_argument("--confirm", default="", metavar="NAME", help="what it is called, once more: do it")
        named.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            who = named.asked(options)
            target, name = self.target(who, options)
            if not options["confirm"]:
                self.tell("Would erase", erasing.foresee(who.viewer.account_id, target, name).counts)
                self.stdout.write(f"Repeat it with --reason and --confirm '{name}' to do so; nothing brings it back.")
                return
            done = erasing.erase(
                who.viewer.account_id, target, confirmation=name, typed=options["confirm"], actor=who.actor, by=SYSTEM,
                policy=who.viewer.policy, reason=options["reason"], now=who.now,
            )  # fmt: skip
        except Refusal as error:
            raise CommandError(str(error)) from error
        self.tell(f"Change set {done.change_set_id} erased", done.counts)
        self.stdout.write("Not reached: " + "; ".join(erasing.ELSEWHERE) + ".")

    def target(self, who: named.Asked, options: dict[str, Any]) -> tuple[Target, str]:
        """Return what shall be erased, and what that is called."""
        if options["agent"]:
            agent_id = names.clean_name(options["agent"], pointer="--agent")
            return Target(agent_id=agent_id, names=options["names"]), agent_id
        path, key = options["entry"]
        name = Name(names.clean_path(path), names.clean_key(key))
        row = history.head(who.viewer, options["branch"], name, options["owner"])
        if row is None:
            raise NotFound("There is no such entry.")
        return Target(entry_ids=(row.entry_id,), names=options["names"]), row.entry_key

    def tell(self, done: str, counts: dict[str, int]) -> None:
        self.stdout.write(f"{done}: {', '.join(f'{number} {word}' for word, number in counts.items())}")
