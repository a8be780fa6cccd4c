"""Planting: one flaw per task, as many as asked for, the same bytes, and readable again."""

import json
from pathlib import Path
from random import Random

import pytest

from agenthard.audit.faults import (
    Fault,
    Operator,
    Sound,
    operators,
    plant,
    read_key,
    sound_tasks,
    with_runs,
    write_planted,
)
from agenthard.audit.faults.planting import RESERVED
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.native import Native
from agenthard.taxonomy import Check, EvaluationSpec, Message, UserSpec
from tests.builders import LEND, make_run, make_task


def tasks(count: int, benchmark: str = "library") -> list[Sound]:
    def asked(number: int) -> UserSpec:
        return UserSpec(kind="scripted", turns=((Message(role="user", content=f"Lend book 7 to Ada, {number}."),),))

    return with_runs([make_task(f"{benchmark}/{i}", benchmark=benchmark, user=asked(i)) for i in range(count)], [])


def marks(name: str, category: str, only: str = "") -> Operator:
    """An operator that writes its name into the policy."""

    def mark(sound: Sound, rng: Random) -> Fault | None:
        if only and sound.task.benchmark != only:
            return None
        policy = f"{name} {rng.random()}"
        environment = sound.task.environment.model_copy(update={"policy": policy})
        task = sound.task.model_copy(update={"environment": environment})
        return Fault(task=task, pointer="/environment/policy", after=policy, claim=name)

    return Operator(name, category, "rules", "a test", False, (), mark)


def test_at_most_one_flaw_per_task_and_as_many_as_asked_for() -> None:
    result = plant(tasks(40), [marks("a", "too-strict"), marks("b", "too-strict"), marks("c", "too-lenient")], 1, 6)
    touched = [task_id for entry in result.key for task_id in entry.task_ids]
    assert len(touched) == len(set(touched)) == 12
    assert {name: sum(e.operator == name for e in result.key) for name in "abc"} == {"a": 3, "b": 3, "c": 6}
    assert len(result.tasks) == 40


def test_some_tasks_of_every_benchmark_stay_untouched() -> None:
    result = plant([*tasks(8), *tasks(8, "desk")], [marks("a", "too-strict")], 1, 99)
    untouched = {t.id for t in result.tasks} - {task_id for entry in result.key for task_id in entry.task_ids}
    assert sum(name.startswith("desk") for name in untouched) == sum(name.startswith("lib") for name in untouched)
    assert len(untouched) == 2 * 8 // RESERVED


def test_the_operator_with_the_fewest_tasks_goes_first() -> None:
    pool = [*tasks(4, "rare"), *tasks(40)]
    result = plant(pool, [marks("everywhere", "too-lenient"), marks("here", "too-strict", only="rare")], 1, 3)
    assert sum(entry.operator == "here" for entry in result.key) == 3


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b", "c")]
    for folder, seed in zip(folders, (4, 4, 5), strict=True):
        write_planted(plant(tasks(30), operators(), seed, 2), folder, seed, "a test")
    files = [{path.relative_to(f): path.read_bytes() for path in sorted(f.rglob("*.json*"))} for f in folders]
    assert files[0] == files[1] != files[2]
    assert len(files[0]) == 4


def test_what_is_written_is_read_again_by_the_native_source(tmp_path: Path) -> None:
    pool = [Sound(task=sound.task, runs=(make_run(sound.task.id),)) for sound in tasks(60)]
    planted = plant(pool, operators(), 9, 2)
    manifest = write_planted(planted, tmp_path, 9, "a test")
    quarantine = Quarantine()
    source = Native(tmp_path / "benchmark")
    read = list(source.tasks(quarantine))
    assert not quarantine.items
    assert [task.model_copy(update={"origins": {}}) for task in read] == [
        task.model_copy(update={"origins": {}, "environment": got.environment})
        for task, got in zip(planted.tasks, read, strict=True)
    ]
    assert [task.environment.policy for task in read] == [task.environment.policy for task in planted.tasks]
    assert len(list(source.runs(tmp_path / "benchmark", quarantine))) == manifest["runs"]
    key = read_key(tmp_path / "answer_key.jsonl")
    assert tuple(key) == planted.key and manifest["planted"] == len(key) == sum(manifest["by_operator"].values())
    copies = [entry for entry in key if entry.category == "duplicate-or-conflicting-task"]
    assert copies and all(len(set(entry.task_ids)) == 2 for entry in copies)
    assert json.loads((tmp_path / "manifest.json").read_text())["seed"] == 9


def test_a_line_that_is_no_entry_is_named(tmp_path: Path) -> None:
    (tmp_path / "key.jsonl").write_text('{"task_ids": []}\n')
    with pytest.raises(ValueError, match="line 1"):
        read_key(tmp_path / "key.jsonl")


def test_a_task_in_which_something_is_found_is_not_sound() -> None:
    good, bad = make_task("lib/1"), make_task("lib/2", environment=make_task().environment)
    text = (Message(role="user", content="Lend book 8 to Bo, please."),)
    bad = bad.model_copy(
        update={
            "user": UserSpec(kind="scripted", turns=(text,)),
            "evaluation": EvaluationSpec(checks=(Check(kind="tool_calls", scored=False),)),
        }
    )
    assert LEND in good.environment.tools
    assert [task.id for task in sound_tasks([good, bad])] == ["lib/1"]
