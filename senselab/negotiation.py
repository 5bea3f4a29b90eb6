"""How an answer of the API is shaped: there is nothing to negotiate."""

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request


class AlwaysJson(BaseContentNegotiation):
    """A view answers in its first way, whatever a client says it accepts: there is but one."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        del request
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> tuple[Any, str]:
        del request, format_suffix
        return renderers[0], renderers[0].media_type
