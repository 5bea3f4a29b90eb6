"""A transaction whose BEGIN and COMMIT travel with its statements is one all the same."""

import pytest
from django.db import DataError, connection, transaction

from senselab import pipeline

# A setting is undone with the transaction that made it.
SAY, SAID = "SELECT set_config('senselab.said', %s, false)", "SELECT current_setting('senselab.said', true)"
FAULT = ("SELECT 1 / %s::int", [0])


def said() -> str | None:
    ((found,),) = pipeline.fetch((SAID, []))[0]
    return found


@pytest.fixture(autouse=True)
def silence(lasting):
    pipeline.fetch((SAY, ["nothing"]))


def test_what_was_begun_and_finished_is_committed_at_once():
    with pipeline.begun((SAY, ["first"])) as begun:
        assert begun.found == [[("first",)]]
        assert begun.finish((SAY, ["last"])) == [[("last",)]]
        assert connection.connection.info.transaction_status.name == "IDLE"
    assert said() == "last"


def test_what_was_begun_and_left_is_committed():
    with pipeline.begun((SAY, ["first"])):
        assert connection.connection.info.transaction_status.name == "INTRANS"
    assert said() == "first"


def test_a_fault_of_ours_undoes_what_came_with_the_first_statements():
    with pytest.raises(ValueError, match="ours"), pipeline.begun((SAY, ["first"])):
        raise ValueError("ours")
    assert said() == "nothing"


def test_a_fault_of_a_first_statement_undoes_all():
    with pytest.raises(DataError), pipeline.begun((SAY, ["first"]), FAULT):
        pass
    assert said() == "nothing"


def test_a_fault_of_a_last_statement_undoes_all():
    with pytest.raises(DataError), pipeline.begun((SAY, ["first"])) as begun:
        begun.finish((SAY, ["last"]), FAULT)
    assert said() == "nothing"


def test_within_a_callers_transaction_nothing_is_committed():
    with transaction.atomic():
        with pipeline.begun((SAY, ["first"])) as begun:
            begun.finish((SAY, ["last"]))
        assert said() == "last"
        transaction.set_rollback(True)
    assert said() == "nothing"


def passenger(*, brings: str) -> pipeline.Passenger:
    """Somebody who travels to see whether a setting is as it was."""

    def arrived(rows: pipeline.Rows) -> None:
        if rows != [(brings,)]:
            raise LookupError("it is not as it was")

    return pipeline.Passenger((SAID, []), arrived)


def test_who_travels_arrives_with_the_first_read_or_at_the_end():
    for asks in (lambda: pipeline.read((SAID, [])), lambda: pipeline.fetch((SAID, [])), lambda: None):
        one = passenger(brings="nothing")
        with pipeline.carrying(one):
            asks()
        assert not one.is_waiting


@pytest.mark.parametrize("do", [pipeline.fetch, lambda query: connection.cursor().execute(*query)])
def test_before_what_may_do_more_than_read_who_travels_has_arrived(do):
    with pytest.raises(LookupError), pipeline.carrying(passenger(brings="something else")):
        do((SAY, ["stored"]))
    assert said() == "nothing"


def test_what_a_transaction_began_with_is_undone_when_the_arrival_raises():
    with (
        pytest.raises(LookupError),
        pipeline.carrying(passenger(brings="something else")),
        pipeline.begun((SAY, ["stored"])),
    ):
        pass
    assert said() == "nothing"


def test_who_travels_with_a_read_that_fails_goes_on_waiting():
    one = passenger(brings="nothing")
    with pipeline.carrying(one):
        with pytest.raises(DataError):
            pipeline.read(FAULT)
        assert one.is_waiting
    assert not one.is_waiting
