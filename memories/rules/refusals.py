"""The refusal of input, with the place."""


class Refused(ValueError):
    """Input that is not taken.

    :ivar pointer: JSON pointer to the place
    :ivar detail: what is wrong there, as a sentence for a person
    :ivar status: the HTTP status that says so
    """

    def __init__(self, pointer: str, detail: str, status: int = 422) -> None:
        super().__init__(f"{pointer}: {detail}" if pointer else detail)
        self.pointer = pointer
        self.detail = detail
        self.status = status


class NameRefused(Refused):
    """A text that cannot be a name."""


class ValueRefused(Refused):
    """A value that cannot be stored as it is."""


class ValueTooLarge(ValueRefused):
    """A value beyond the size that is taken."""
