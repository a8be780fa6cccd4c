"""The check that proves recorded answers: silent on sound instances, and exact about what is wrong."""

from pathlib import Path

import pytest

from agenthard.ace import reference_format
from agenthard.ace.checks import AceProof
from agenthard.ace.generator import Parameters, generate
from agenthard.ace.instance import Instance
from agenthard.ace.source import AceBench
from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.registry import detector
from agenthard.audit.evidence import failure
from agenthard.audit.sources.base import Quarantine
from agenthard.flows.demo.ace_flaws import ACE_FLAWS, AceFlaw
from agenthard.taxonomy import AgentTask, Severity
from tests.builders import make_task

SUITE = Parameters(
    rows=4, cols=4, hidden_slots=(5,), decoy_budgets=(2,), candidates=8, per_cell=2, domains=("course",), seed=7
)
PROVED = {flaw.apply.__name__.strip("_"): flaw for flaw in ACE_FLAWS if flaw.check == "ace-proof"}


@pytest.fixture(scope="module")
def sound() -> Instance:
    return list(generate(SUITE))[1]


def as_task(instance: Instance, folder: Path) -> AgentTask:
    reference_format.write(folder / "one.json", SUITE.header("course"), [instance], 1)
    (task,) = AceBench(folder).tasks(Quarantine())
    return task


def hits_of(task: AgentTask) -> list[Hit]:
    assert AceProof().not_applicable(task) is None
    hits = list(AceProof().inspect(task))
    for hit in hits:
        assert [failure(item, task, {}) for item in hit.evidence] == [None] * len(hit.evidence)
    return hits


def test_it_is_registered() -> None:
    assert isinstance(detector("ace-proof"), AceProof)


def test_tasks_without_an_instance_are_not_checked() -> None:
    assert AceProof().not_applicable(make_task()) == "the task carries no ACE-Bench instance"


def test_a_sound_instance_has_no_hit(sound: Instance, tmp_path: Path) -> None:
    assert hits_of(as_task(sound, tmp_path)) == []


@pytest.mark.parametrize("flaw", PROVED.values(), ids=PROVED.keys())
def test_every_flaw_of_the_demo_is_found(flaw: AceFlaw, sound: Instance, tmp_path: Path) -> None:
    hits = hits_of(as_task(flaw.apply(sound), tmp_path))
    assert flaw.category in {hit.category or AceProof.category for hit in hits}


@pytest.mark.parametrize(
    ("name", "severity", "claim"),
    [
        ("tight_grid", None, "The recorded solution is not allowed: the grid breaks"),
        ("second_solution", None, "The puzzle has more than one solution."),
        ("missing_item", None, "No items have the ids"),
        ("filter_meets_rules", Severity.MAY_AFFECT_SCORE, "meets the rules of its slot."),
        ("other_text", Severity.MAY_AFFECT_SCORE, "The task text does not say what the rules are."),
        ("false_stage", Severity.COSMETIC, "preference level 1 is recorded"),
    ],
)
def test_severity_follows_what_is_wrong(
    name: str, severity: Severity | None, claim: str, sound: Instance, tmp_path: Path
) -> None:
    hits = hits_of(as_task(PROVED[name].apply(sound), tmp_path))
    assert [hit.severity for hit in hits if claim in hit.claim] == [severity]


@pytest.mark.long
@pytest.mark.corpora
def test_the_released_instances_have_one_false_level_and_nothing_else(corpora: Path) -> None:
    tasks = list(AceBench(corpora / "ace_reference" / "5x5_released").tasks(Quarantine()))
    hits = [(task.id, hit) for task in tasks for hit in hits_of(task)]
    assert len(tasks) == 210
    assert [(task_id, hit.severity) for task_id, hit in hits] == [("shopping_r5_c5_h15_b19", Severity.COSMETIC)]
