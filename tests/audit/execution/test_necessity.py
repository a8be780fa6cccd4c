import pytest

from agenthard.audit.execution.gold import environment_of, gold_replay
from agenthard.audit.execution.necessity import order_dependent_calls, swapped, unneeded_calls, without
from agenthard.taxonomy import AgentTask
from tests.library import call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

FIND = call("find_book", book="b7")
SCORED_READS = frozenset({"redundant_calls_free", "unchecked_turns"})


def left_out(task: AgentTask) -> list[int]:
    return [step.index for step in unneeded_calls(environment_of(task), task, gold_replay(task))]


def test_a_change_that_is_changed_again_is_not_needed() -> None:
    task = desk_task(call("leave_note", text="one"), call("leave_note", text="two"))
    assert left_out(task) == [0]


def test_what_is_needed() -> None:
    assert left_out(desk_task(lend("b7"), lend("b8"))) == []


def test_a_repeated_read_counts_only_where_reads_are_scored() -> None:
    assert left_out(desk_task(FIND, FIND, lend())) == []
    assert left_out(desk_task(FIND, FIND, lend(), traits=SCORED_READS)) == [1]
    assert left_out(desk_task(FIND, lend(), FIND, traits=SCORED_READS)) == []


def test_failing_and_idle_writes_are_left_to_other_checks() -> None:
    assert left_out(desk_task(lend("b9", "bea"), lend("b9", "ada"), lend("b7"))) == []


def test_the_order_of_two_changes() -> None:
    fees = desk_task(call("pay_fee", member="ada", amount=1), call("pay_fee", member="ada", amount=2))
    [(one, two)] = order_dependent_calls(environment_of(fees), fees, gold_replay(fees))
    assert (one.index, two.index) == (0, 1)
    loans = desk_task(lend("b7"), lend("b8"))
    assert list(order_dependent_calls(environment_of(loans), loans, gold_replay(loans))) == []


def test_other_calls_stay_as_they_are() -> None:
    turns = ((lend("b7"), lend("b8")), (FIND,))
    assert without(turns, 0, 0) == ((lend("b8"),), (FIND,))
    assert swapped(turns, 0, 0) == ((lend("b8"), lend("b7")), (FIND,))
