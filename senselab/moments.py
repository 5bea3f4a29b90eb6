"""Moments from the database, read by psycopg's own loader, C where it can be: Django's is Python and takes six times
as long."""

import datetime
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import adapters
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.postgres import types
from psycopg.pq import Format

OID = types["timestamptz"].oid
FAST = adapters.get_loader(OID, Format.TEXT)


class Moments(Loader):
    """Reads a timestamptz in the zone of the session, which for Django is UTC."""

    # By this Django sees that a cursor needs no loader of its own.
    timezone = datetime.UTC

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        # Held instead of derived from, which it forbids.
        self._read = FAST(oid, context).load  # type: ignore[misc]

    def load(self, data: Buffer) -> datetime.datetime:
        """Return the moment that a text of the database stands for."""
        return self._read(data)


def read_fast(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Let a new connection read moments so."""
    if connection.timezone is datetime.UTC:
        connection.connection.adapters.register_loader("timestamptz", Moments)
