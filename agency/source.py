"""Suites of scenarios as a source of audits: each task of a chain becomes one task."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from agenthard.agency.scaffolds.script import ScriptError
from agenthard.agency.scenario import SCENARIO_KEY, ScenarioTask
from agenthard.agency.suite_files import (
    FORMAT,
    HEAD,
    SCENARIO,
    VERSION,
    StoredScenario,
    SuiteError,
    files_below,
    is_suite,
    read_scenario,
    scenario_folders,
)
from agenthard.agency.tools import TOOLS
from agenthard.audit.sources.base import Quarantine, Source, SourceError, Version, hash_files
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    ToolSpec,
    UserSpec,
)
from agenthard.taxonomy.trajectory import Trajectory

REFERENCE = "reference"
"""Name of the solution that is taken for the ground truth."""
_ENVIRONMENT = EnvironmentSpec(
    tools=tuple(
        ToolSpec(
            name=each.tool.name,
            description=each.tool.description,
            parameters=each.tool.parameters,
            effect="write" if each.changes else "read",
            group=each.group,
        )
        for each in TOOLS.values()
    )
)


class AgencySuite(Source):
    """Reader of suites of scenarios."""

    name: ClassVar[str] = "agency"
    title: ClassVar[str] = "AgencyBench (own scenarios)"
    layout: ClassVar[str] = (
        f"a suite that `agenthard agency scenarios --out` wrote ({HEAD} and folders with {SCENARIO})"
    )

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a suite; ``domains`` are capabilities such as Game."""
        super().__init__(root, domains)
        try:
            self._folders = scenario_folders(root)
        except SuiteError as error:
            raise SourceError(f"{error}; expected {self.layout}, see docs/sources/agency.md") from error

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether there is a suite of scenarios here."""
        return is_suite(root)

    def version(self) -> Version:
        """Identify the files by their content."""
        files = [path for folder in self._folders for path in files_below(folder)]
        return hash_files(self.root, [self.root / HEAD, *files], f"{FORMAT} {VERSION}")

    def instances(self, quarantine: Quarantine) -> Iterator[tuple[str, StoredScenario]]:
        """Stream the scenarios, each with its id."""
        used: set[str] = set()
        for folder in self._folders:
            try:
                found = read_scenario(folder)
            except SuiteError as error:
                quarantine.add(f"{folder.name}/{SCENARIO}", str(error))
                continue
            if found.scenario.id in used:
                quarantine.add(f"{folder.name}/{SCENARIO}", f"the id {found.scenario.id!r} was used already")
            elif not self.domains or found.scenario.capability in self.domains:
                yield found.scenario.id, found
            used.add(found.scenario.id)

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks, scenario by scenario."""
        for _, stored in self.instances(quarantine):
            try:
                script = stored.script(REFERENCE)
            except ScriptError as error:
                quarantine.add(f"{stored.folder.name}/solutions/{REFERENCE}", str(error))
                continue
            for index, task in enumerate(stored.scenario.tasks):
                calls = [ToolCall(name=c.name, arguments=c.arguments) for c in script.calls(task.id, 0) or ()]
                yield _task(stored, index, task, calls)

    def known_files(self) -> list[Path]:
        """Return the scenarios."""
        return [self.root / HEAD, *self._folders]

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Refuse: suites define no file of runs.

        Raises:
            SourceError: always; it says what can be read instead.
        """
        raise SourceError(f"{path}: suites of scenarios define no file of runs; give trajectories of `evaluate agency`")

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write the scenarios of which every task is kept, byte by byte: a chain without a task is another chain."""
        wanted, names, written = set(keep), [], list[Path]()
        for _, stored in self.instances(Quarantine()):
            if all(task.id in wanted for task in stored.scenario.tasks):
                names.append(stored.folder.name)
                for path in files_below(stored.folder):
                    target = out / path.relative_to(self.root)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(path.read_bytes())
                    target.chmod(path.stat().st_mode & 0o777)
                    written.append(target)
        head = {"format": FORMAT, "version": VERSION, "scenarios": names}
        (out / HEAD).write_text(json.dumps(head, indent=2) + "\n", encoding="utf-8")
        return [out / HEAD, *written]


def _task(stored: StoredScenario, index: int, task: ScenarioTask, calls: list[ToolCall]) -> AgentTask:
    scenario = stored.scenario
    file = f"{stored.folder.name}/{SCENARIO}"
    metadata: dict[str, Any] = {
        "scenario": scenario.id,
        "number": task.number,
        "position": index + 1,
        "deliverables": [each.text for each in task.deliverables],
        "criteria": [each.text for each in task.criteria],
        SCENARIO_KEY: scenario.model_dump(mode="json"),
    }
    checks = [
        Check(kind="rubric", scored=each.decided, expected=each.text, note=each.check or each.judge or "")
        for each in task.criteria
    ]
    return AgentTask(
        id=task.id,
        native_id=task.id,
        benchmark=AgencySuite.name,
        subtask=scenario.capability,
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=task.query),),)),
        environment=_ENVIRONMENT,
        evaluation=EvaluationSpec(checks=tuple(checks)),
        ground_truth=GroundTruth(semantics="reference_path", turns=(tuple(calls),), call_matching="state"),
        traits=frozenset({"redundant_calls_free"}),
        metadata=metadata,
        origins={
            "": Origin(file=file, pointer=f"/tasks/{index}"),
            "/user/turns/0/0/content": Origin(file=file, pointer=f"/tasks/{index}/query"),
            f"/metadata/{SCENARIO_KEY}": Origin(file=file, pointer=""),
        },
    )
