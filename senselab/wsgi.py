"""The door for web servers: pages and API, and /mcp beside them."""

import os
import sys

from django.core.wsgi import get_wsgi_application

from senselab import taking_room

# Before anything is imported that counts.
taking_room.take()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "senselab.settings")
pages = get_wsgi_application()

# Only now are there models to import.
from django.conf import settings  # noqa: E402
from django.db import connections  # noqa: E402

from memories.recalls import buffer  # noqa: E402
from senselab import measuring  # noqa: E402
from senselab.admission import Gate, admitting  # noqa: E402
from senselab.mcp.door import door  # noqa: E402

# For what answers somebody; jobs and commands take their time.
options = connections.settings["default"]["OPTIONS"]
options["options"] = f"{options.get('options', '')} -c statement_timeout={settings.ANSWER_SECONDS}s".strip()

# A call that is sent away must not wait its turn behind those at work, each of which would keep the interpreter for
# five milliseconds.
sys.setswitchinterval(0.0005)

application = admitting(door(pages), Gate(settings.WEB_THREADS, refused=measuring.REFUSED.inc))
buffer.start()
