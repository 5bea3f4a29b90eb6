"""What a rollback would change, what it would keep, and who read the current version since."""

from typing import Any


class Preview:
    def told(self) -> dict[str, Any]:
        return {}


def preview(viewer: Any, entry_id: int, to: int) -> Preview:
    del viewer, entry_id, to
    return Preview()
