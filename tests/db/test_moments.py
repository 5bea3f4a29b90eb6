"""Moments as they come out of the database."""

import datetime

from django.db import connection

from senselab import moments


def test_moments_are_read_by_the_fast_loader_and_are_in_utc(db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT timestamptz '2026-03-02 12:34:56.789+01', timestamptz '1999-12-31 23:59:59.000001Z'")
        row = cursor.fetchone()
    assert row == (
        datetime.datetime(2026, 3, 2, 11, 34, 56, 789_000, tzinfo=datetime.UTC),
        datetime.datetime(1999, 12, 31, 23, 59, 59, 1, tzinfo=datetime.UTC),
    )
    assert {moment.tzinfo for moment in row} == {datetime.UTC}
    assert connection.connection.adapters.get_loader(moments.OID, 0) is moments.Moments


def test_no_cursor_registers_a_loader_of_its_own(db):
    with connection.cursor() as cursor:
        assert cursor.cursor.adapters.get_loader(moments.OID, 0) is moments.Moments
