import pytest

from agenthard.audit.detectors.user import WrongStepReference
from tests.audit.detectors.evaluation.open_tasks import open_task
from tests.builders import make_task


@pytest.mark.parametrize("said", ["Extend Subtask 2 with tags.", "Build on subtask3.", "Upgrade the subtask 2 shell."])
def test_a_step_that_is_not_done(said: str) -> None:
    assert len(list(WrongStepReference().inspect(open_task(said, task_id="lab/s1/subtask2")))) == 1


@pytest.mark.parametrize("said", ["Extend Subtask 1 with tags.", "Implement Subtask 2.", "Do not extend subtask 5."])
def test_an_earlier_step_or_no_building(said: str) -> None:
    assert list(WrongStepReference().inspect(open_task(said, task_id="lab/s1/subtask2"))) == []


def test_only_numbered_steps() -> None:
    assert WrongStepReference().not_applicable(make_task("agent_multi_step_0"))
