import gc
import weakref
from pathlib import Path

import pytest

from agenthard.audit.execution import gold
from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.taxonomy import Check, EvaluationSpec, GroundTruth
from tests.builders import make_task
from tests.library import call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


def test_a_replay_is_kept_as_long_as_its_task() -> None:
    task = desk_task(lend(), call("find_book", book="b7"))
    found = gold.gold_replay(task)
    assert gold.gold_replay(task) is found
    assert [step.changed for step in found.steps] == [True, False]
    assert (found.environment, found.steps[0].pointer) == ("library desk 1", "/ground_truth/turns/0/0")
    kept = weakref.ref(found)
    del task, found
    gc.collect()
    assert kept() is None


def test_a_broken_environment_is_broken_for_every_check() -> None:
    task = desk_task(call("break_down"))
    for _ in range(2):
        with pytest.raises(ExecutionError, match="broke down"):
            gold.why_not_replayed(task)


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (desk_task(), "no call"),
        (desk_task(lend(), subtask="returns"), "only lending"),
        (desk_task(lend(), benchmark="museum"), "no environment is registered for museum"),
        (make_task(), "nothing executes them"),
    ],
    ids=["no call", "not supported", "no environment", "calls are compared"],
)
def test_what_is_not_replayed(task: gold.AgentTask, reason: str) -> None:
    assert reason in (gold.why_not_replayed(task) or "")


def test_what_is_not_evaluated() -> None:
    unscored = desk_task(lend()).model_copy(
        update={"evaluation": make_task().evaluation.model_copy(update={"checks": ()})}
    )
    assert gold.why_not_evaluated(unscored) == "no check is scored"
    assert gold.why_not_evaluated(desk_task()) is None
    judged = EvaluationSpec(checks=(Check(kind="judge", scored=True, expected="Be kind."),))
    assert gold.why_not_evaluated(desk_task(evaluation=judged)) == "there is no judge here"
    assert gold.why_not_mutated(desk_task()) is None
    assert "only lending" in (gold.why_not_mutated(desk_task(lend(), subtask="returns")) or "")
    with pytest.raises(UnavailableError):
        gold.environment_of(desk_task(benchmark="museum", ground_truth=GroundTruth(semantics="none")))


def test_the_command_that_reproduces(tmp_path: Path) -> None:
    assert gold.replay_command(desk_task(), "off-by-one:/x") == (
        "agenthard replay library '{benchmark}' lib/1 --mutant off-by-one:/x"
    )
    with Execution(tmp_path).active():
        assert gold.replay_command(desk_task(), "m").endswith("lib/1 --mutant m --checkout '{checkout}'")
