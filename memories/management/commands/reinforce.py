"""Say that an entry is right: its confidence rises by 0.1, and it is active and held."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories import reads
from memories.management import named
from memories.services import feedback
from memories.services.feedback import Feedback, Verdict
from senselab.errors import Refusal


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("entry_key", metavar="ENTRY_KEY", help="path/key")
        parser.add_argument("--note", default="", help="why")
        named.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            who = named.asked(options)
            before = named.entry(who, options["branch"], options["entry_key"])
            said = Feedback(Verdict.ACCEPTED, note=options["note"])
            feedback.give(
                who.viewer, before.entry_id, said, actor=who.actor, keeps=True, author=who.author, now=who.now
            )
        except Refusal as error:
            raise CommandError(str(error)) from error
        (after,) = reads.entries_by_ids(who.viewer, [before.entry_id])
        self.stdout.write(named.told(after, before.state.confidence))
