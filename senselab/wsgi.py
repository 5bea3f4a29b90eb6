"""The door for web servers: pages and API, and /mcp beside them."""

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, cast

from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application

from senselab import taking_room

# Before anything is imported that counts.
taking_room.take()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "senselab.settings")
pages: Any = get_wsgi_application()

# Only now are there models to import.
from django.conf import settings  # noqa: E402
from django.db import connection, connections  # noqa: E402

from memories.recalls import buffer  # noqa: E402
from senselab import measuring  # noqa: E402
from senselab.admission import Gate, admitting  # noqa: E402
from senselab.mcp.door import door  # noqa: E402
from senselab.short_way import API  # noqa: E402

# For what answers somebody; jobs and commands take their time.
options = connections.settings["default"]["OPTIONS"]
options["options"] = f"{options.get('options', '')} -c statement_timeout={settings.ANSWER_SECONDS}s".strip()

# A call that is sent away must not wait its turn behind those at work, each of which would keep the interpreter for
# five milliseconds.
sys.setswitchinterval(0.0005)


def calls(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer a call of the API as Django's handler does, but for its signals: what those close is kept here anyway."""
    if not environ["PATH_INFO"].startswith(API):
        return cast("Iterable[bytes]", pages(environ, start_response))
    connection.close_if_unusable_or_obsolete()
    response = pages.get_response(WSGIRequest(environ))
    cookies = [("Set-Cookie", cookie.output(header="")) for cookie in response.cookies.values()]
    start_response(f"{response.status_code} {response.reason_phrase}", [*response.items(), *cookies])
    # A list leaves at once; of anything else the server asks for piece after piece.
    return response if response.streaming else [response.content]


application = admitting(door(calls), Gate(settings.WEB_THREADS, refused=measuring.REFUSED.inc))
buffer.start()
