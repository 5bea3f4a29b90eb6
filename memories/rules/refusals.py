"""The refusal of input, with the place."""

from senselab.errors import Invalid


class Refused(Invalid, ValueError):
    """Input that is not taken.

    :ivar pointer: JSON pointer to the place
    :ivar detail: what is wrong there, as a sentence for a person
    :ivar status: the HTTP status that says so
    """

    def __init__(self, pointer: str, detail: str, status: int = 422) -> None:
        super().__init__(detail, pointer)
        self.pointer = pointer
        self.status = status

    def __str__(self) -> str:
        return f"{self.pointer}: {self.detail}" if self.pointer else self.detail


class NameRefused(Refused):
    """A text that cannot be a name."""


class ValueRefused(Refused):
    """A value that cannot be stored as it is."""


class ValueTooLarge(ValueRefused):
    """A value beyond the size that is taken."""
