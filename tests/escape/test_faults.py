"""Planted flaws of rooms are real, and the proof or the execution of an audit finds each kind."""

from random import Random

import pytest

from agenthard.audit.faults import Operator, Sound
from agenthard.escape.audit_task import INSTANCE, task_of
from agenthard.escape.checks import EscapeProof
from agenthard.escape.faults import OPERATORS
from agenthard.escape.proof import verify
from agenthard.escape.storage import from_data
from tests.builders import make_task
from tests.escape.made import rooms

SOUND = [Sound(task=task_of("escape", room.id, room, {})) for room in rooms()]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.id)
def test_every_planted_flaw_is_found_under_its_category(operator: Operator) -> None:
    drawn = (operator.plant(sound, Random(f"{seed}/{sound.task.id}")) for seed in range(3) for sound in SOUND)
    planted = [fault for fault in drawn if fault is not None]
    assert len(planted) >= 12
    for fault in planted:
        hits = list(EscapeProof().inspect(fault.task))
        categories = {hit.category or EscapeProof.category for hit in hits}
        assert categories & {operator.category, *operator.also}, fault.claim


def test_nothing_is_planted_where_there_is_no_room() -> None:
    assert not any(operator.plant(Sound(task=make_task()), Random(0)) for operator in OPERATORS)


def test_the_lenient_exit_opens_without_anything_solved() -> None:
    lenient = next(each for each in OPERATORS if each.id == "room-lenient-exit")
    fault = next(found for sound in SOUND if (found := lenient.plant(sound, Random(1))))
    instance = from_data(fault.task.metadata[INSTANCE])
    assert not instance.feeds(instance.exit)
    assert {problem.kind for problem in verify(instance).problems} == {"structure"}
