"""Say that an entry is wrong: its confidence falls by 0.2; with --use another takes its place."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories import reads
from memories.management import named
from memories.rules.values import read_value
from memories.services import feedback
from memories.services.feedback import Feedback, Given, Verdict
from memories.services.superseding import Replacement
from senselab.errors import Refusal


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("entry_key", metavar="ENTRY_KEY", help="path/key")
        parser.add_argument("--use", metavar="TEXT", help="what to use instead: written as a new entry in its place")
        parser.add_argument("--note", default="", help="why")
        named.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            who = named.asked(options)
            before = named.entry(who, options["branch"], options["entry_key"])
            said = Feedback(Verdict.REJECTED, note=options["note"], replacement=replacement(options["use"]))
            given = feedback.give(
                who.viewer, before.entry_id, said, actor=who.actor, keeps=True, author=who.author, now=who.now
            )
        except Refusal as error:
            raise CommandError(str(error)) from error
        ids = [before.entry_id, *([given.replacement_id] if given.replacement_id else [])]
        self.tell(who, ids, before.state.confidence, given)

    def tell(self, who: named.Asked, ids: list[int], before: float, given: Given) -> None:
        rows = {row.entry_id: row for row in reads.entries_by_ids(who.viewer, ids)}
        self.stdout.write(named.told(rows[ids[0]], before))
        if given.replacement_id:
            self.stdout.write(f"{rows[given.replacement_id].entry_key} takes its place")


def replacement(text: str | None) -> Replacement | None:
    """:raises Refused: the text cannot be stored."""
    if text is None:
        return None
    return Replacement(read_value(json.dumps(text, ensure_ascii=False), key=""))
