"""Bodies that were refused unread: the connection they came on has to stay good for the next call."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

Handler = Callable[[HttpRequest], HttpResponse]
PIECE = 64 * 1024
WORTH_READING = 8 * 1024 * 1024


def read_to_the_end(get_response: Handler) -> Handler:
    """Read what nobody read of a body, or close the connection where there is too much of it.

    The server drops a kept connection whose body was left unread, mostly after the client has sent the next call on it.
    """

    def handle(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdigit() or int(length) > WORTH_READING:
            response["Connection"] = "close"
        elif int(length) > 0:
            drain(request)
        return response

    return handle


def drain(request: HttpRequest) -> None:
    stream = request._stream
    while stream.read(PIECE):
        pass
