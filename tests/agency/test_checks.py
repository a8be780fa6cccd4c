"""The checks of scenarios: each fault is planted into a copy of a suite, and found; sound suites are not flagged."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from agenthard.agency import packs as installed
from agenthard.agency.checks import SolutionScore, UnmatchedClause
from agenthard.agency.judges import Check, Outcome
from agenthard.agency.packs import pack_of, packs
from agenthard.agency.scenario import Scenario
from agenthard.agency.source import AgencySuite
from agenthard.agency.suite_files import write_suite
from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.registry import detector
from agenthard.audit.evidence import failure
from agenthard.audit.execution.context import Execution
from agenthard.audit.proof import prove_hit
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask
from tests.agency import tiny

Plant = Callable[..., Path]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Plant]:
    """Install a copy of the tiny scenario with other parts, and return a suite of it."""

    def planted(
        scenario: Scenario = tiny.SCENARIO,
        checks: dict[str, Check] | None = None,
        seed: Callable[[Path], None] = tiny.seed,
        change: Callable[[Path], object] = lambda _: None,
    ) -> Path:
        folder = tmp_path / "planted"
        shutil.copytree(Path(str(tiny.__file__)).parent, folder)
        change(folder / "solutions" / "reference")
        module = ModuleType("tests.agency.planted")
        module.__file__ = str(folder / "__init__.py")
        vars(module).update(SCENARIO=scenario, seed=seed, CHECKS=checks or tiny.CHECKS)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(installed, "_targets", lambda: iter([module.__name__]))
        packs.cache_clear()
        write_suite([pack_of(module)], tmp_path / "suite")
        return tmp_path / "suite"

    yield planted
    packs.cache_clear()


def tasks(suite: Path) -> list[AgentTask]:
    return list(AgencySuite(suite).read_tasks()[0])


def hits(check: TaskDetector, suite: Path) -> list[Hit]:
    """Return what a check finds in all tasks, with quotes that hold and proofs that were carried out."""
    found = []
    with Execution() as execution, execution.active():
        for task in tasks(suite):
            assert check.not_applicable(task) is None
            for hit in check.inspect(task):
                assert [failure(item, task, {}) for item in hit.evidence] == [None] * len(hit.evidence)
                found.append(prove_hit(check, hit, task))
    return found


def changed(task: int, clause: int, **changes: object) -> Scenario:
    """Return the scenario with another clause."""
    document = tiny.SCENARIO.model_dump()
    document["tasks"][task]["criteria"][clause].update(changes)
    return Scenario.model_validate(document)


def test_both_are_registered_under_their_ids() -> None:
    assert isinstance(detector("unmatched-clause"), UnmatchedClause)
    assert isinstance(detector("solution-score"), SolutionScore)


def test_tasks_of_other_benchmarks_are_not_checked() -> None:
    task = AgentTask.model_validate({"id": "t", "native_id": "t", "benchmark": "bfcl"} | OTHER)
    assert UnmatchedClause().not_applicable(task) and SolutionScore().not_applicable(task)


OTHER = {
    "user": {"kind": "scripted", "turns": [[{"role": "user", "content": "Hello"}]]},
    "environment": {"tools": []},
    "evaluation": {"checks": []},
    "ground_truth": {"semantics": "reference_path", "turns": [[]]},
}


def test_a_clause_without_a_check_is_found(plant: Plant) -> None:
    (hit,) = hits(UnmatchedClause(), plant(changed(0, 1, check=None), seed=tiny.seed))[:1]
    assert "'note'" in hit.claim and "no check, no judge" in hit.claim
    assert hit.evidence[0].quote == "A file note.txt names the author."


def test_a_clause_whose_check_the_package_lacks_is_found(plant: Plant) -> None:
    (hit,) = [each for each in hits(UnmatchedClause(), plant(changed(0, 0, check="gone"))) if "lacks" in each.claim]
    assert "'gone'" in hit.claim


def test_a_clause_that_a_model_judges_is_no_flaw(plant: Plant) -> None:
    suite = plant(changed(0, 1, check=None, judge="text"), {k: v for k, v in tiny.CHECKS.items() if k != "note"})
    assert not [hit for hit in hits(UnmatchedClause(), suite) if hit.tier is not Tier.SUSPECTED]
    with Execution() as execution, execution.active():
        assert SolutionScore().not_applicable(tasks(suite)[0]) == "a model judges a clause, or nothing does"


def test_a_check_that_no_sentence_asks_for_is_found(plant: Plant) -> None:
    checks = {**tiny.CHECKS, "Code/tiny/two.spelling": lambda probe: Outcome(1.0)}
    hidden, unnamed = hits(UnmatchedClause(), plant(checks=checks))
    assert "'report' is scored and hidden" in hidden.claim and hidden.category == "too-strict"
    assert "'Code/tiny/two.spelling'" in unnamed.claim and unnamed.evidence[0].task_id == "Code/tiny/two"


def test_a_hidden_clause_that_the_query_states_is_no_flaw(plant: Plant) -> None:
    said = "report.json with the sum under the key total"
    assert hits(UnmatchedClause(), plant(changed(1, 0, text=said))) == []


def test_a_sound_scenario_has_no_score_that_it_should_not_have(plant: Plant) -> None:
    assert hits(SolutionScore(), plant()) == []


def test_a_reference_that_fails_is_confirmed_by_its_run(plant: Plant) -> None:
    suite = plant(change=lambda reference: (reference / "one/sum.sh").write_text("echo 1\n"))
    hit = hits(SolutionScore(), suite)[0]
    assert "earns 2.5 of 10 points" in hit.claim and "'sum' (0% met)" in hit.claim
    assert hit.severity is Severity.AFFECTS_SCORE and hit.proof is not None and not hit.proof.passes
    assert "rule judge" in hit.proof.evaluator


def test_a_reference_that_passes_with_few_points_is_found(plant: Plant) -> None:
    (hit,) = hits(SolutionScore(), plant(change=lambda reference: (reference / "one/note.txt").unlink()))
    assert "earns 7.5 of 10 points" in hit.claim and "'note' (0% met)" in hit.claim
    assert hit.proof is None and hit.tier is None and hit.severity is None


def _begun(folder: Path) -> None:
    tiny.seed(folder)
    (folder / "note.txt").write_text("Ada\n")


def _done(folder: Path) -> None:
    _begun(folder)
    (folder / "sum.sh").write_text("echo 70123\n")


def test_points_for_doing_nothing_are_found(plant: Plant) -> None:
    (hit,) = hits(SolutionScore(), plant(seed=_begun))
    assert "does nothing earns 2.5 of 10 points" in hit.claim and hit.category == "too-lenient" and hit.proof is None


def test_a_task_that_passes_without_a_call_is_confirmed_by_its_run(plant: Plant) -> None:
    (hit,) = hits(SolutionScore(), plant(seed=_done))
    assert "earns 10 of 10 points" in hit.claim
    assert hit.severity is Severity.AFFECTS_SCORE and hit.proof is not None and hit.proof.passes


def test_what_cannot_be_carried_out_is_not_checked(plant: Plant) -> None:
    suite = plant()
    place = suite / "Code-tiny" / "scenario.json"
    place.write_text(place.read_text().replace('"weight": 3', '"weight": 30'))
    with Execution() as execution, execution.active():
        assert "another version" in (SolutionScore().not_applicable(tasks(suite)[0]) or "")
