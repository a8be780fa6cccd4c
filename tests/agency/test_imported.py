"""The release's descriptions as scenarios: all of them, with what each needs; and the rules of the records."""

import shutil
from collections import Counter
from pathlib import Path

import pytest
from pydantic import ValidationError

from agenthard.agency.imported import UnknownScenarioError, obstacles, scenarios_of
from agenthard.agency.scenario import Criterion, Scenario, ScenarioTask, undecided
from agenthard.audit.sources.agencybench import AgencyBench
from tests.builders import make_task
from tests.corpora import tasks_of

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def scenarios(corpora: Path) -> dict[str, Scenario]:
    return {each.id: each for each in scenarios_of(tasks_of(AgencyBench, corpora / "agencybench"))}


def test_all_scenarios_and_tasks_become_records(scenarios: dict[str, Scenario]) -> None:
    assert len(scenarios) == 32 and sum(len(each.tasks) for each in scenarios.values()) == 138
    assert Counter(each.regime for each in scenarios.values()) == {
        "per_attempt": 21,
        "shared": 7,
        "git_reset": 2,
        "external_state": 2,
    }
    assert Counter(each.carry for each in scenarios.values()) == {"last": 13, "first": 19}
    assert undecided(scenarios.values()) == []
    assert all(Scenario.model_validate_json(each.model_dump_json()) == each for each in scenarios.values())


def test_what_can_be_played_without_browser_network_and_model(scenarios: dict[str, Scenario]) -> None:
    free = [
        each
        for each in scenarios.values()
        if not (each.needs.browser or each.needs.network or each.needs.model_judge or each.needs.account)
    ]
    assert {each.id for each in free} == {
        *(f"Backend/scenario{n}" for n in (1, 2, 3)),
        *(f"Code/scenario{n}" for n in (1, 6, 7, 8, 9)),
        "MCP/scenario2",
    }
    assert sum(len(each.tasks) for each in free) == 27 + 10
    assert sum(len(each.tasks) for each in scenarios.values() if each.needs.browser) == 65


def test_criteria_have_the_judges_of_the_release(scenarios: dict[str, Scenario]) -> None:
    first = scenarios["Game/scenario1"].tasks[0]
    assert {criterion.judge for criterion in first.criteria} == {"text", "vision"}
    assert all(criterion.visible for criterion in first.criteria)
    assert "index.html" in {deliverable.path for deliverable in first.deliverables}
    assert [each.id for each in scenarios["Code/scenario2"].tasks[0].criteria] == ["whole"]


def test_obstacles_are_said(scenarios: dict[str, Scenario], monkeypatch: pytest.MonkeyPatch) -> None:
    assert obstacles(scenarios["Backend/scenario3"]) == ()
    assert obstacles(scenarios["MCP/scenario1"]) == (
        "needs hosts on the internet, and jobs have no network",
        "needs a GitHub token and a repository",
    )
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert obstacles(scenarios["Backend/scenario1"]) == (
        "needs the program g++, which is not installed",
        "needs the program make, which is not installed",
    )
    assert obstacles(scenarios["Game/scenario1"])[0].startswith("needs a browser: no browser")


def test_the_records_refuse_contradictions() -> None:
    with pytest.raises(ValidationError, match="has a check and a judge"):
        Criterion(id="1", text="It rings.", check="rings", judge="text")
    task = ScenarioTask(id="a/b/subtask2", number=2, query="Go on.")
    with pytest.raises(ValidationError, match="not in order of their numbers"):
        Scenario(id="a/b", capability="a", regime="shared", carry="last", tasks=(task, task))
    bare = Scenario(
        id="a/b",
        capability="a",
        regime="shared",
        carry="last",
        tasks=(task.model_copy(update={"criteria": (Criterion(id="1", text="It rings."),)}),),
    )
    assert undecided([bare]) == [("a/b/subtask2", "1")]
    with pytest.raises(UnknownScenarioError, match="names no scenario"):
        scenarios_of([make_task()])
