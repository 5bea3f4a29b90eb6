"""The door for web servers."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "senselab.settings")
application = get_wsgi_application()

# Only now are there models to import.
from memories.recalls import buffer  # noqa: E402

buffer.start()
