"""The errands made from the library's tables are sound tasks of their own, with runs that their own score fits."""

from pathlib import Path

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.native import Native
from agenthard.flows.demo import write_demo
from agenthard.flows.demo.models import MODELS
from agenthard.flows.fault_planting import generated


def test_errands_stand_beside_the_demo_and_are_no_copies_of_its_tasks(tmp_path: Path) -> None:
    plain = write_demo(tmp_path / "plain", flawed=False)
    more = write_demo(tmp_path / "more", flawed=False, more=True)
    quarantine = Quarantine()
    tasks = list(Native(more.root).tasks(quarantine))
    runs = list(Native(more.root).runs(more.root, quarantine))
    assert not quarantine.items and len(tasks) == more.tasks == len({task.id for task in tasks})
    errands = tasks[plain.tasks :]
    assert len(errands) > 80 and more.runs - plain.runs == len(errands) * len(MODELS)
    assert {task.user.kind for task in errands} == {"simulated"}
    keys = [(str(task.ground_truth.turns), task.ground_truth.outputs) for task in tasks]
    assert len(set(keys[plain.tasks :]) - set(keys[: plain.tasks])) == len(errands)
    names = {task.id for task in errands}
    verdicts = {run.passed for run in runs if run.task_id in names}
    assert verdicts == {True, False, None} or verdicts == {True, False}


def test_some_generated_instances_have_been_played_by_the_agents_without_a_model() -> None:
    pool = generated(100, seed=2)
    played = [sound for sound in pool if sound.task.benchmark == "ace" and sound.runs]
    assert 40 <= len(played) <= 60
    assert all(len({run.model for run in sound.runs}) == len(sound.runs) for sound in played)
    assert pool == generated(100, seed=2)
