"""Readings carried out at the library desk."""

from collections.abc import Sequence

import pytest

from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.state_diff import Difference
from agenthard.audit.readings.records import Reading, shown_trial
from agenthard.audit.readings.trial import gold_reading, try_reading, why_no_trial
from agenthard.taxonomy import AgentTask, ToolCall
from tests.library import call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


def reading(*calls: ToolCall, says: Sequence[str] = (), right: bool = True) -> Reading:
    return Reading(name="A", meaning="another book", turns=(calls,), says=tuple(says), right=right)


def test_a_reading_is_replayed_and_judged() -> None:
    found = try_reading(desk_task(lend("b7")), reading(lend("b8")))
    assert found.changes == (Difference(pointer="/books/b8/lent_to", before=None, after="ada"),)
    assert (found.defect, found.passed, found.parts) == ("", False, {"state": False, "outputs": True})
    assert shown_trial(found) == (
        'Reading A (another book): lend_book({"book": "b8", "kind": "short", "member": "ada"}). Changes: '
        '/books/b8/lent_to: null → "ada". The evaluator rejects it (state).'
    )


def test_the_ground_truth_is_a_reading_that_passes() -> None:
    task = desk_task(lend("b7"), outputs=("lent until Friday",))
    found = try_reading(task, gold_reading(task))
    assert found.passed and not found.defect and not found.says_required


@pytest.mark.parametrize(
    ("calls", "defect"),
    [
        ((lend("b9", "bea"),), "the replay refuses: lend_book"),
        ((call("lend_book", book="b7", member="ada"),), "cannot be called as documented: the call of 'lend_book' "),
        ((call("burn_book", book="b7"),), "cannot be called as documented: "),
        ((lend("b7", kind="eternal"),), "cannot be called as documented: "),
    ],
)
def test_what_is_found_against_a_reading(calls: tuple[ToolCall, ...], defect: str) -> None:
    assert try_reading(desk_task(lend("b7")), reading(*calls)).defect.startswith(defect)


def test_a_read_that_fails_is_no_defect() -> None:
    assert not try_reading(desk_task(lend("b7")), reading(call("find_book", book="b0"), lend("b8"))).defect


def test_required_texts_are_put_into_the_mouth_of_a_reading_without_words() -> None:
    task = desk_task(lend("b7"), outputs=("until Friday",))
    silent, careless = reading(lend("b7")), reading(lend("b7"), right=False)
    assert (try_reading(task, silent).passed, try_reading(task, silent).says_required) == (True, True)
    assert not try_reading(task, reading(lend("b7"), says=["Bye."])).passed
    assert not try_reading(task, careless).passed


def test_without_an_environment_nothing_is_tried() -> None:
    elsewhere: AgentTask = desk_task(lend("b7"), benchmark="elsewhere")
    assert why_no_trial(elsewhere) == "no environment is registered for elsewhere"
    with pytest.raises(UnavailableError):
        try_reading(elsewhere, reading(lend("b8")))
