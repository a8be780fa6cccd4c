"""Our own suite: its records are complete, each clause is a sentence of its task, and each solution has its score."""

import json
import random
from pathlib import Path

import pytest

from agenthard.agency.scenario import undecided
from agenthard.agency.suite.catalogue import (
    COMMANDS,
    NOTHING,
    REFERENCE,
    Play,
    apply,
    expected,
    grade_solution,
    grade_work,
    load,
    load_all,
    prepare,
    solutions,
)
from agenthard.agency.suite.mutation import equivalents, mutants, survey
from agenthard.agency.suite.research.papers import covers
from agenthard.agency.suite.research.questions import ASKED
from agenthard.agency.workspace import SnapshotStore

PLAYS = load_all()
SCORES = expected()
CHEATS = ("cheat_echo", "cheat_empty", "cheat_grader_inputs", "cheat_self_report")
QUICK = "research"
"""The scenario without programs: its tests are quick."""
CASES = [
    pytest.param(play, at, name, id=f"{task.id}-{name}", marks=() if play.name == QUICK else pytest.mark.long)
    for play in PLAYS
    for at, task in enumerate(play.scenario.tasks)
    for name in solutions(play, task)
]
TASKS = [pytest.param(play, at, id=task.id) for play in PLAYS for at, task in enumerate(play.scenario.tasks)]


def test_there_is_one_scenario_for_each_capability() -> None:
    found = {play.scenario.capability for play in PLAYS}
    assert found == {"Game", "Frontend", "Backend", "Code", "Research", "MCP"} and len(PLAYS) == 6
    assert all(3 <= len(play.scenario.tasks) <= 5 for play in PLAYS)


@pytest.mark.parametrize(("play", "at"), TASKS)
def test_each_clause_is_a_sentence_of_its_task_and_has_a_check_of_its_own(play: Play, at: int) -> None:
    task = play.scenario.tasks[at]
    names = [str(criterion.check) for criterion in task.criteria]
    assert undecided([play.scenario]) == [] and len(set(names)) == len(names)
    assert all(criterion.text in task.query for criterion in task.criteria)
    assert {name for name in play.checks if name.startswith(f"{task.id}.")} == set(names)


@pytest.mark.parametrize(("play", "at"), TASKS)
def test_each_task_has_all_kinds_of_solutions_with_stated_scores(play: Play, at: int) -> None:
    task = play.scenario.tasks[at]
    names = solutions(play, task)
    assert set(names) == {REFERENCE, NOTHING, "partial", *CHEATS}
    stated = {name: SCORES[task.id, name] for name in names}
    assert stated[REFERENCE] >= 9 and all(stated[name] <= 2 for name in (NOTHING, *CHEATS))
    assert 2 < stated["partial"] < 9


@pytest.mark.parametrize(("play", "at", "name"), CASES)
def test_a_solution_has_its_score(play: Play, at: int, name: str, tmp_path: Path) -> None:
    task = play.scenario.tasks[at]
    found = grade_solution(play, task, name, tmp_path)
    assert found.score == pytest.approx(SCORES[task.id, name], abs=1e-6), found.judgement().reason


@pytest.mark.long
def test_a_page_of_any_length_is_looked_at(tmp_path: Path) -> None:
    play, work = load("frontend"), tmp_path / "work"
    task = play.scenario.tasks[2]
    prepare(play, task, work)
    apply(play, task, REFERENCE, work)
    page = work / "index.html"
    page.write_text(page.read_text().replace("</body>", f"<!--{'long ' * 40_000}--></body>"))
    (work / "case0.html").symlink_to("/etc/passwd")
    assert grade_work(play, task, work, tmp_path).score == pytest.approx(SCORES[task.id, REFERENCE])


def test_seeds_are_the_same_each_time(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "store")
    for play in PLAYS:
        taken = []
        for turn in "ab":
            work = tmp_path / turn / play.name
            work.mkdir(parents=True)
            play.seed(work)
            taken.append(store.take(work).id)
        assert taken[0] == taken[1]


def test_a_workspace_holds_no_gold(tmp_path: Path) -> None:
    for play in PLAYS:
        for task in play.scenario.tasks:
            prepare(play, task, tmp_path / task.id)
            names = {path.name for path in (tmp_path / task.id).rglob("*")}
            assert not names & {COMMANDS, "solutions", "model.py", "rules.py"}


def test_commands_of_a_solution_run_in_the_workspace_and_see_no_solutions(tmp_path: Path) -> None:
    play = load("backend")
    task = play.scenario.tasks[0]
    play.seed(tmp_path)
    apply(play, task, "cheat_grader_inputs", tmp_path)
    assert (tmp_path / "service.py").is_file() and not (tmp_path / COMMANDS).exists()
    assert json.loads((tmp_path / "lockers.json").read_text()) == []


@pytest.mark.long
def test_ten_runs_in_random_order_give_the_same_scores(tmp_path: Path) -> None:
    draw = random.Random(7)
    cases = [(play, task, name) for play in PLAYS for task in play.scenario.tasks for name in (REFERENCE, "partial")]
    few = [case for case in cases if case[1].number == 1 and case[0].name in ("game", "code", "research", "mcp")]
    for turn in range(10):
        draw.shuffle(few)
        for play, task, name in few:
            found = grade_solution(play, task, name, tmp_path / f"{turn}-{task.id}-{name}")
            assert found.score == pytest.approx(SCORES[task.id, name], abs=1e-6)


def test_mutants_are_the_same_each_time_and_differ_in_one_place(tmp_path: Path) -> None:
    for play in PLAYS:
        for task in play.scenario.tasks:
            before = tmp_path / task.id
            prepare(play, task, before)
            drawn = mutants(play, task, before)
            assert drawn == mutants(play, task, before)
            assert len(drawn) >= 20 and len({each.id for each in drawn}) == len(drawn)
            for mutant in drawn:
                original = (play.solutions / REFERENCE / task.id / mutant.path).read_text()
                assert mutant.text != original
            assert set(equivalents().get(task.id, {})) <= {each.id for each in mutants(play, task, before, 10**6)}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_few_mutants_score_as_high_as_the_original(number: int, tmp_path: Path) -> None:
    play = load(QUICK)
    found = survey(play, play.scenario.tasks[number - 1], tmp_path)
    assert found.mutants >= 20 and len(found.survivors) <= 0.05 * found.mutants
    assert set(found.clauses) == {each.id for each in play.scenario.tasks[number - 1].criteria}


@pytest.mark.long
def test_few_mutants_of_a_program_score_as_high_as_the_original(tmp_path: Path) -> None:
    play = load("code")
    found = survey(play, play.scenario.tasks[0], tmp_path)
    assert found.mutants >= 20 and len(found.survivors) <= 0.05 * found.mutants


def test_evidence_may_be_any_lines_that_together_show_an_answer_with_their_headings_and_corrected_lines() -> None:
    def accepted(number: int, *lines: tuple[str, int]) -> bool:
        return covers(lines, ASKED[number - 1].needed, ASKED[number - 1].also)

    assert accepted(1, ("errata.txt", 3)) and accepted(1, ("errata.txt", 3), ("board-minutes.txt", 8))
    assert accepted(3, ("board-minutes.txt", 4), ("board-minutes.txt", 3), ("board-minutes.txt", 9))
    assert not accepted(1, ("board-minutes.txt", 8)) and not accepted(1, ("errata.txt", 3), ("errata.txt", 4))
    assert accepted(5, ("guidebook-1926.txt", 8), ("board-minutes.txt", 5))
    assert not accepted(5, ("guidebook-1926.txt", 8))
    assert accepted(8, ("guidebook-1926.txt", 4), ("guidebook-1926.txt", 5))


def test_the_last_tasks_of_research_and_mcp_need_what_the_tasks_before_left(tmp_path: Path) -> None:
    play = load(QUICK)
    task = play.scenario.tasks[2]
    prepare(play, task, tmp_path / "work")
    apply(play, task, REFERENCE, tmp_path / "work")
    (tmp_path / "work" / "answers.json").write_text("{}")
    met = {each.criterion: each.share for each in grade_work(play, task, tmp_path / "work", tmp_path).criteria}
    assert met.pop("index") == 0 and set(met.values()) == {1}
    assert any("inventory.py" in each.text for each in load("mcp").scenario.tasks[2].criteria)
