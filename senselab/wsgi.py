"""The door for web servers: pages and API, and /mcp beside them."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "senselab.settings")
pages = get_wsgi_application()

# Only now are there models to import.
from memories.recalls import buffer  # noqa: E402
from senselab.mcp.door import door  # noqa: E402

application = door(pages)
buffer.start()
