"""The scenarios of the suite, their solutions, and the score that each solution must have."""

import csv
import importlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agenthard.agency.judges import Check, Grade, grade
from agenthard.agency.scenario import Scenario, ScenarioTask
from agenthard.agency.suite.kit import LIMITS
from agenthard.agency.workspace import SnapshotStore, open_eval_space
from agenthard.containment import run_job

NAMES = ("game", "frontend", "backend", "code", "research", "mcp")
HERE = Path(__file__).resolve().parent
REFERENCE, NOTHING = "reference", "do_nothing"
COMMANDS = "commands.json"


@dataclass(frozen=True)
class Play:
    """A scenario with what playing it needs."""

    name: str
    """Name of its package."""
    scenario: Scenario
    """Its record."""
    seed: Callable[[Path], None]
    """Writes the workspace that the first task begins on."""
    checks: Mapping[str, Check]
    """Its checks by the names that its criteria have."""

    @property
    def solutions(self) -> Path:
        """Folder of its solutions."""
        return HERE / self.name / "solutions"


def load(name: str) -> Play:
    """Return a scenario of the suite by the name of its package."""
    module = importlib.import_module(f"agenthard.agency.suite.{name}")
    return Play(name, module.SCENARIO, module.seed, module.CHECKS)


def load_all() -> list[Play]:
    """Return all scenarios of the suite."""
    return [load(name) for name in NAMES]


def expected() -> dict[tuple[str, str], float]:
    """Return the stated scores, by task and name of the solution."""
    with (HERE / "expected.csv").open(encoding="utf-8", newline="") as file:
        return {(row["task"], row["solution"]): float(row["score"]) for row in csv.DictReader(file)}


def solutions(play: Play, task: ScenarioTask) -> list[str]:
    """Return the names of the solutions of a task."""
    found = [folder.name for folder in play.solutions.iterdir() if (folder / task.id).is_dir()]
    return [NOTHING, *sorted(found)]


def apply(play: Play, task: ScenarioTask, solution: str, work: Path) -> None:
    """Do to a workspace what a solution does: lay its files over it, then run its commands in jobs.

    Raises:
        JobError: this machine cannot contain the commands.
    """
    overlay = play.solutions / solution / task.id
    if overlay.is_dir():
        shutil.copytree(overlay, work, dirs_exist_ok=True, ignore=shutil.ignore_patterns(COMMANDS, "__pycache__"))
    commands = overlay / COMMANDS
    for command in json.loads(commands.read_text(encoding="utf-8")) if commands.is_file() else []:
        run_job(["/bin/sh", "-c", command], work, LIMITS, hidden=[HERE])


def prepare(play: Play, task: ScenarioTask, work: Path) -> None:
    """Make the workspace that a task begins on when the tasks before were solved by the reference."""
    work.mkdir(parents=True, exist_ok=True)
    play.seed(work)
    for before in play.scenario.tasks[: play.scenario.tasks.index(task)]:
        apply(play, before, REFERENCE, work)


def grade_work(play: Play, task: ScenarioTask, work: Path, parent: Path) -> Grade:
    """Grade a workspace.

    Args:
        play: the scenario.
        task: its task.
        work: the workspace; it is not changed.
        parent: folder for the store and the eval-space.
    """
    store = SnapshotStore(parent / "store")
    with open_eval_space(store, store.take(work), None, parent / "spaces") as space:
        return grade(task, play.checks, space)


def grade_solution(play: Play, task: ScenarioTask, solution: str, parent: Path) -> Grade:
    """Grade a solution of a task, on what the reference left of the tasks before.

    Args:
        play: the scenario.
        task: its task.
        solution: name of the solution.
        parent: an empty folder.
    """
    work = parent / "work"
    prepare(play, task, work)
    apply(play, task, solution, work)
    return grade_work(play, task, work, parent)
