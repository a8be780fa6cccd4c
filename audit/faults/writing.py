"""Writing a planted benchmark as native JSON Lines, which keep the name of each task's own benchmark.

Because of that name the checks that execute ground truths still find the benchmark's environment.
"""

import json
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agenthard.audit.faults.key import ANSWER_KEY, BENCHMARK, MANIFEST
from agenthard.audit.faults.planting import Planted
from agenthard.audit.sources.formats.native_files import ENVIRONMENTS, RUNS, TASKS
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec


def write_planted(planted: Planted, out: Path, seed: int, origin: str) -> dict[str, Any]:
    """Write benchmark, answer key and manifest; equal arguments give equal bytes.

    Args:
        planted: what to write.
        out: folder; files of an earlier call are replaced.
        seed: the seed, for the manifest.
        origin: where the sound tasks come from and why they count as sound, for the manifest.

    Returns:
        The manifest.
    """
    benchmark = out / BENCHMARK
    benchmark.mkdir(parents=True, exist_ok=True)
    names: dict[int, str] = {}
    environments: list[EnvironmentSpec] = []
    for task in planted.tasks:
        if id(task.environment) not in names:
            names[id(task.environment)] = f"environment-{len(environments)}"
            environments.append(task.environment)
    _write(benchmark / ENVIRONMENTS, ({"name": names[id(each)], **_data(each)} for each in environments))
    _write(benchmark / TASKS, (_task(task, names[id(task.environment)]) for task in planted.tasks))
    (benchmark / RUNS).unlink(missing_ok=True)
    if planted.runs:
        _write(benchmark / RUNS, map(_data, planted.runs))
    _write(out / ANSWER_KEY, map(_data, planted.key))
    manifest = _manifest(planted, seed, origin)
    (out / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8", newline="\n")
    return manifest


def _manifest(planted: Planted, seed: int, origin: str) -> dict[str, Any]:
    touched = {task_id for entry in planted.key for task_id in entry.task_ids}
    untouched = Counter(task.benchmark for task in planted.tasks if task.id not in touched)
    return {
        "agenthard": version("agenthard"),
        "seed": seed,
        "sound_tasks_from": origin,
        "tasks": len(planted.tasks),
        "untouched": dict(sorted(untouched.items())),
        "runs": len(planted.runs),
        "planted": len(planted.key),
        "by_category": dict(sorted(Counter(entry.category for entry in planted.key).items())),
        "by_operator": dict(sorted(Counter(entry.operator for entry in planted.key).items())),
        "applied_to_of_tried": dict(planted.applicable),
    }


def _task(task: AgentTask, environment: str) -> dict[str, Any]:
    data = _data(task.model_copy(update={"environment": EnvironmentSpec(), "origins": {}}))
    return {**data, "traits": sorted(task.traits), "environment": {"$ref": environment}}


def _data(record: BaseModel) -> dict[str, Any]:
    return record.model_dump(mode="json", exclude_defaults=True)


def _write(path: Path, documents: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for document in documents:
            stream.write(json.dumps(document, ensure_ascii=False) + "\n")
