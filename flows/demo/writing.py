"""Writing the demo benchmark as native JSON Lines, with its answer key beside it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel

from agenthard.audit.sources.formats.native_files import ENVIRONMENTS, RUNS, TASKS
from agenthard.flows.demo.errands import errands
from agenthard.flows.demo.library_desk import EVENING, LIBRARY
from agenthard.flows.demo.models import MODELS, SIMULATORS, simulate
from agenthard.flows.demo.parcel_service import NIGHT, PARCELS
from agenthard.flows.demo.scenario import Scenario, load_scenarios
from agenthard.flows.demo.seeding import KeyEntry, seed_flaws
from agenthard.taxonomy import EnvironmentSpec, Trajectory
from agenthard.taxonomy.pointer import join

ANSWER_KEY = "answer_key.jsonl"
LABELS = "labels.jsonl"
SCORES = "scores.csv"


@dataclass(frozen=True)
class DemoBenchmark:
    """What was written."""

    root: Path
    """Folder of the benchmark, in the native format."""
    answer_key: Path
    """File of the seeded flaws; no audit reads it."""
    seeded: tuple[KeyEntry, ...]
    """The seeded flaws."""
    tasks: int
    """Number of tasks."""
    runs: int
    """Number of runs."""


def write_demo(out: Path, seed: int = 7, flawed: bool = True, more: bool = False) -> DemoBenchmark:
    """Write the demo benchmark; the same arguments give the same bytes on every machine.

    Args:
        out: folder to write into; it is made when it is absent, and files of an earlier demo are replaced.
        seed: decides what the simulated models do.
        flawed: False writes the sound tasks, without any seeded flaw.
        more: True adds the plain errands that are made from the library's tables, each with one run per model.
    """
    scenarios, key = _sound_scenarios(), list[KeyEntry]()
    if flawed:
        scenarios, key = seed_flaws(scenarios)
    runs = _runs(scenarios, seed)
    if more:
        further = errands([scenario for scenario in scenarios if scenario.setting.domain == LIBRARY.domain])
        runs += _runs(further, seed, trials=1)
        scenarios = [*scenarios, *further]
    out.mkdir(parents=True, exist_ok=True)
    _write(out / ENVIRONMENTS, _environments(scenarios))
    _write(out / TASKS, (_task(scenario) for scenario in scenarios))
    _write(out / RUNS, (_data(run) for run in runs))
    _write(out / ANSWER_KEY, (_data(entry) for entry in key))
    (out / SCORES).write_text(_score_table(runs), encoding="utf-8")
    flawed_ids = {task_id for entry in key for task_id in entry.task_ids}
    _write(out / LABELS, ({"task_id": s.task.id, "flawed": s.task.id in flawed_ids} for s in scenarios))
    return DemoBenchmark(out, out / ANSWER_KEY, tuple(key), len(scenarios), len(runs))


def _sound_scenarios() -> list[Scenario]:
    return [
        *load_scenarios("library_tasks.yaml", (LIBRARY, EVENING)),
        *load_scenarios("parcel_tasks.yaml", (PARCELS, NIGHT)),
    ]


def _runs(scenarios: Sequence[Scenario], seed: int, trials: int = len(SIMULATORS)) -> list[Trajectory]:
    return [
        simulate(scenario, model, trial, Random(f"{seed}/{model}/{scenario.task.id}/{trial}"))
        for model in MODELS
        for scenario in scenarios
        for trial in range(trials)
    ]


def _score_table(runs: Sequence[Trajectory]) -> str:
    rows = (f"{r.model},{r.task_id},{r.trial},{'' if r.passed is None else int(r.passed)}\n" for r in runs)
    return "model,task_id,trial,score\n" + "".join(rows)


def _environments(scenarios: Sequence[Scenario]) -> Iterable[dict[str, Any]]:
    settings = {scenario.setting.name: scenario.setting.environment for scenario in scenarios}
    for line, (name, environment) in enumerate(settings.items(), start=1):
        yield {"name": name, **_data(_with_places(environment, line))}


def _with_places(environment: EnvironmentSpec, line: int) -> EnvironmentSpec:
    """Say of each implementation that it stands on this line, which is where a reader of the files finds it."""
    tools = []
    for i, tool in enumerate(environment.tools):
        code = tool.implementation
        if code is not None:
            place = code.origin.model_copy(update={"line": line, "pointer": join("/tools", i, "implementation")})
            tool = tool.model_copy(update={"implementation": code.model_copy(update={"origin": place})})
        tools.append(tool)
    return environment.model_copy(update={"tools": tuple(tools)})


def _task(scenario: Scenario) -> dict[str, Any]:
    task = scenario.task.model_copy(update={"environment": EnvironmentSpec()})
    return {**_data(task), "traits": sorted(task.traits), "environment": {"$ref": scenario.setting.name}}


def _data(record: BaseModel) -> dict[str, Any]:
    return record.model_dump(mode="json", exclude_defaults=True)


def _write(path: Path, documents: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for document in documents:
            stream.write(json.dumps(document, ensure_ascii=False) + "\n")
