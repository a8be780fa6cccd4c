"""Scenarios behind the interface of environments: tools act on a workspace, and the rule judge grades what is left."""

import asyncio
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar

from agenthard.agency.conditions import AgencyConditions, isolation_here
from agenthard.agency.imported import obstacles
from agenthard.agency.judges import Grade, grade
from agenthard.agency.packs import Pack, packs
from agenthard.agency.scaffolds.script import Script, solution_script
from agenthard.agency.scenario import SCENARIO_KEY, Scenario, ScenarioTask
from agenthard.agency.source import REFERENCE
from agenthard.agency.tools import CallResult, Desk, Toolset
from agenthard.agency.workspace import LocalJobs, Snapshot, SnapshotStore, Workspace, open_eval_space
from agenthard.agency.workspace.programs import programs_for
from agenthard.agency.workspace.store import SnapshotError
from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.environment import (
    Attempt,
    Environment,
    ExecutionError,
    ToolResponse,
    UnavailableError,
    Verdict,
)
from agenthard.containment import JobError
from agenthard.play.journal import MemoryJournal, Steps
from agenthard.taxonomy.task import AgentTask, ToolCall


class AgencyEnvironment(Environment):
    """Plays tasks of installed scenarios. A task begins on what the reference solutions of those before it leave."""

    name: ClassVar[str] = "agency scenarios"

    def __init__(self) -> None:
        """Start without a task."""
        self._conditions = AgencyConditions()
        self._folder: Path | None = None
        self._toolset: Toolset | None = None
        self._starts: dict[str, Snapshot] = {}

    def version(self) -> str:
        """Name what runs the commands."""
        return "agency scenarios: tools on a workspace, rule judge"

    def supports(self, task: AgentTask) -> str | None:
        """Say why a task cannot be executed here."""
        try:
            scenario, _, _ = _found(task)
        except UnavailableError as error:
            return str(error)
        here = isolation_here(False)
        found = [here] if here.startswith("none: ") else []
        return "; ".join([*found, *obstacles(scenario)]) or None

    def reset(self, task: AgentTask) -> None:
        """Make the workspace what it is when the task begins.

        Raises:
            UnavailableError: the scenario is not installed, or commands cannot be contained here.
            ExecutionError: a reference solution of a task before it cannot be carried out.
        """
        scenario, pack, here = _found(task)
        current_execution().note(f"commands of scenarios: {isolation_here(False)}")
        if here.id not in self._starts:
            self._starts[here.id] = self._start(scenario, pack, here)
        self._toolset = self._fresh(pack)
        self._toolset.desk.workspace.go_to(self._starts[here.id])

    def call(self, call: ToolCall) -> ToolResponse:
        """Carry out one call."""
        result = self._carried_out(call)
        return ToolResponse(text=result.output, error=result.output if result.trouble else None)

    def snapshot(self) -> Any:
        """Return the tree of the workspace: kind, permissions and hash of everything in it."""
        entries = self._running().desk.workspace.snapshot.entries
        return {path: [entry.kind, entry.mode, entry.content] for path, entry in entries.items()}

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Carry an attempt out from the start of the task, and grade what is left by the rules.

        Raises:
            UnavailableError: the scenario is not installed, or commands cannot be contained here.
            ExecutionError: it cannot be graded.
        """
        found = self.grade(task, attempt)
        parts = {each.criterion: each.share >= 1 for each in found.criteria}
        return Verdict(passed=found.passed, parts=parts, reason=found.judgement().reason)

    def grade(self, task: AgentTask, attempt: Attempt) -> Grade:
        """Carry an attempt out from the start of the task, and return its grade by the rules, with its points.

        Raises:
            UnavailableError: the scenario is not installed, or commands cannot be contained here.
            ExecutionError: it cannot be graded.
        """
        self.reset(task)
        for turn in attempt.turns:
            for call in turn:
                self._carried_out(call)
        _, pack, here = _found(task)
        workspace, limits = self._running().desk.workspace, self._conditions.job_limits
        try:
            place, hidden = self._place() / "eval", [pack.hidden]
            with open_eval_space(self._store(), workspace.snapshot, pack.gold, place, hidden) as space:
                return grade(here, pack.checks, space, limits)
        except (JobError, SnapshotError, ValueError) as error:
            raise ExecutionError(f"{task.id} cannot be graded: {error}") from error

    def close(self) -> None:
        """Remove the folder of the workspace."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder, self._toolset, self._starts = None, None, {}

    def _start(self, scenario: Scenario, pack: Pack, here: ScenarioTask) -> Snapshot:
        """Carry out the reference solutions of the tasks before one."""
        seed = self._place() / "seed"
        seed.mkdir()
        try:
            pack.seed(seed)
            toolset = self._fresh(pack)
            toolset.desk.workspace.go_to(self._store().take(seed))
        finally:
            shutil.rmtree(seed, ignore_errors=True)
        before = [task for task in scenario.tasks if task.number < here.number]
        script = _reference(pack, scenario)
        for task in before:
            for each in script.calls(task.id, 0) or ():
                asyncio.run(_call(toolset, each.name, json.dumps(each.arguments)))
        return toolset.desk.workspace.snapshot

    def _fresh(self, pack: Pack) -> Toolset:
        place, limits = self._place(), self._conditions.job_limits
        workspace = Workspace(
            place / "workspace",
            self._store(),
            limits=limits,
            runner=LocalJobs(hidden=[pack.hidden, place], programs=programs_for(pack.scenario.needs)),
        )
        return Toolset(Desk(workspace), Steps(MemoryJournal()), time.monotonic)

    def _store(self) -> SnapshotStore:
        return SnapshotStore(self._place() / "snapshots")

    def _place(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="agenthard-agency-"))
        return self._folder

    def _running(self) -> Toolset:
        if self._toolset is None:
            raise UnavailableError("no task was started: call reset first")
        return self._toolset

    def _carried_out(self, call: ToolCall) -> CallResult:
        arguments = call.text if call.text is not None else json.dumps(call.arguments, ensure_ascii=False)
        return asyncio.run(_call(self._running(), call.name, arguments))


async def _call(toolset: Toolset, name: str, arguments: str) -> CallResult:
    try:
        return await toolset.call(name, arguments)
    except JobError as error:
        raise UnavailableError(f"commands cannot be contained here: {error}") from error
    except SnapshotError as error:
        raise ExecutionError(f"the workspace cannot be read: {error}") from error


def _reference(pack: Pack, scenario: Scenario) -> Script:
    if pack.solutions is None:
        return Script(tasks={})
    return solution_script(pack.solutions / REFERENCE, [task.id for task in scenario.tasks])


def _found(task: AgentTask) -> tuple[Scenario, Pack, ScenarioTask]:
    """Return the scenario of a task, its pack, and its place in the chain.

    Raises:
        UnavailableError: it has none, or another version of it is installed.
    """
    data = task.metadata.get(SCENARIO_KEY)
    if data is None:
        raise UnavailableError("the task carries no scenario")
    scenario = Scenario.model_validate(data)
    pack = packs().get(scenario.id)
    if pack is None:
        raise UnavailableError(f"no installed package has the graders of {scenario.id}")
    if pack.scenario != scenario:
        raise UnavailableError(f"the installed package has another version of {scenario.id}; write the suite again")
    return scenario, pack, next(each for each in scenario.tasks if each.id == task.native_id)
