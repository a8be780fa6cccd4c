"""Planting flaws into sound tasks, and writing the planted benchmark as native JSON Lines.

Each task keeps the name of its own benchmark, so that the checks that execute ground truths find its environment.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel

from agenthard.audit.faults.answer_key import ANSWER_KEY, BENCHMARK, MANIFEST, PlantedFault
from agenthard.audit.faults.operator import Fault, Operator, Sound
from agenthard.audit.sources.formats.native_files import ENVIRONMENTS, RUNS, TASKS
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec
from agenthard.taxonomy.trajectory import Trajectory

RESERVED = 4
"""Of the tasks of each benchmark, one in this many stays untouched, to see false alarms of every kind of task."""
TRIED = 20
"""Tasks per benchmark on which an operator is tried, to see how many it applies to."""


@dataclass(frozen=True)
class Planted:
    """A benchmark with planted flaws."""

    tasks: tuple[AgentTask, ...]
    """All tasks: flawed and untouched."""
    runs: tuple[Trajectory, ...]
    """Their runs."""
    key: tuple[PlantedFault, ...]
    """The flaws."""
    applicable: Mapping[str, str]
    """By operator, on how many of the tasks that it was tried it applied, as k/n."""


def with_runs(tasks: Sequence[AgentTask], runs: Sequence[Trajectory]) -> list[Sound]:
    """Put tasks and runs together, and tell how strong each model is."""
    by_task: dict[str, list[Trajectory]] = defaultdict(list)
    scores: dict[str, list[bool]] = defaultdict(list)
    for run in runs:
        by_task[run.task_id].append(run)
        if run.passed is not None:
            scores[run.model].append(run.passed)
    strength = {model: sum(passed) / len(passed) for model, passed in scores.items()}
    return [Sound(task=task, runs=tuple(by_task[task.id]), strength=strength) for task in tasks]


def plant(pool: Sequence[Sound], operators: Sequence[Operator], seed: int, per_category: int) -> Planted:
    """Plant flaws into tasks of the pool, at most one per task.

    At first every operator plants one flaw, those first that apply to the fewest tasks. Then one category after the
    other is filled up, those first that apply to the fewest tasks, until it has as many as asked for or no task is left
    that its operators apply to; they take turns. So do the tasks of all benchmarks in the pool.

    Args:
        pool: sound tasks.
        operators: what to plant.
        seed: seed of all chance.
        per_category: flaws per category.
    """
    order = _in_turns(pool, Random(f"{seed}/order"))
    scarce = {each.id: _applicable(each, order, seed) for each in operators}
    # An operator continues in the pool where it stopped: a task that it does not apply to is not tried again.
    waiting: dict[str, Iterator[Sound]] = {each.id: iter(order) for each in operators}
    faults: dict[str, tuple[Operator, Fault]] = {}
    count: dict[str, int] = defaultdict(int)

    def one_each(active: Sequence[Operator]) -> list[Operator]:
        going = []
        for each in active:
            if count[each.category] >= per_category:
                continue
            for sound in waiting[each.id]:
                if sound.task.id in faults:
                    continue
                fault = each.plant(sound, _chance(seed, each, sound))
                if fault is not None:
                    faults[sound.task.id] = each, fault
                    count[each.category] += 1
                    going.append(each)
                    break
        return going

    share = {each.id: scarce[each.id][0] / max(1, scarce[each.id][1]) for each in operators}
    active = one_each(sorted(operators, key=lambda each: (share[each.id], each.id)))
    by_category: dict[str, list[Operator]] = defaultdict(list)
    for each in active:
        by_category[each.category].append(each)
    for _, going in sorted(by_category.items(), key=lambda item: (max(share[each.id] for each in item[1]), item[0])):
        while going:
            going = one_each(going)
    return _assembled(pool, faults, {name: f"{k}/{n}" for name, (k, n) in sorted(scarce.items())})


def _chance(seed: int, operator: Operator, sound: Sound) -> Random:
    return Random(f"{seed}/{operator.id}/{sound.task.id}")


def _in_turns(pool: Sequence[Sound], rng: Random) -> list[Sound]:
    by_benchmark: dict[str, list[Sound]] = defaultdict(list)
    for sound in rng.sample(pool, len(pool)):
        by_benchmark[sound.task.benchmark].append(sound)
    usable = {name: found[len(found) // RESERVED :] for name, found in by_benchmark.items()}
    rounds = zip_longest(*(usable[name] for name in sorted(usable)))
    return [sound for each in rounds for sound in each if sound is not None]


def _applicable(operator: Operator, order: Sequence[Sound], seed: int) -> tuple[int, int]:
    tried: dict[str, int] = defaultdict(int)
    found = 0
    for sound in order:
        if tried[sound.task.benchmark] < TRIED:
            tried[sound.task.benchmark] += 1
            found += operator.plant(sound, _chance(seed, operator, sound)) is not None
    return found, sum(tried.values())


def _assembled(
    pool: Sequence[Sound], faults: Mapping[str, tuple[Operator, Fault]], applicable: Mapping[str, str]
) -> Planted:
    tasks: list[AgentTask] = []
    runs: list[Trajectory] = []
    key: list[PlantedFault] = []
    for sound in pool:
        if sound.task.id not in faults:
            tasks.append(sound.task)
            runs += sound.runs
            continue
        operator, fault = faults[sound.task.id]
        mine = [fault.task] if fault.copy_of is None else [fault.copy_of, fault.task]
        tasks += mine
        runs += sound.runs if fault.runs is None else fault.runs
        key.append(
            PlantedFault(
                task_ids=tuple(task.id for task in reversed(mine)),
                category=operator.category,
                also=operator.also,
                operator=operator.id,
                decided_by=operator.decided_by,
                because=operator.because,
                rule_known=operator.rule_known,
                pointer=fault.pointer,
                before=fault.before,
                after=fault.after,
                says=fault.claim,
            )
        )
    return Planted(tuple(tasks), tuple(runs), tuple(key), applicable)


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
