"""Takes the room that a process needs for its figures while there is some.

prometheus_client keeps them in files that are mapped into memory and have holes; to a write into a hole for which the
disk has no room left, the kernel answers by ending the process. So they are written whole before it opens them.
"""

import logging
import os
from pathlib import Path

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
KINDS = ("counter", "histogram")
# Some 200 routes with 15 figures each, and half as many counts by status, take a third of it.
BYTES = 2 * 1024 * 1024

log = logging.getLogger(__name__)


def take() -> None:
    """Write this process's files; where there is no room, it counts in its own memory and nobody reads that."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return
    files = [Path(folder) / f"{kind}_{os.getpid()}.db" for kind in KINDS]
    try:
        for file in files:
            file.write_bytes(bytes(BYTES))
    except OSError as error:
        for file in files:
            file.unlink(missing_ok=True)
        del os.environ[FOLDER]
        log.warning("there is no room for figures (%s): this process counts for itself", error.strerror)
