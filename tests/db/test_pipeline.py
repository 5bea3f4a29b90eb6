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
