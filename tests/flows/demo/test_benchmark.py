"""The demo benchmark: sound without its flaws, and each flaw found by the check that should find it."""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.native import TASKS, Native
from agenthard.flows.demo import ANSWER_KEY, DemoBenchmark, write_demo, write_sound_demo
from agenthard.flows.fault_planting import generated
from agenthard.taxonomy import AgentTask, Coverage, Finding, Status, Tier, Trajectory
from agenthard.taxonomy.categories import COMPONENT_TITLES, builtin_taxonomy

MODELS, TRIALS, SOUND = 8, 2, 58
"""Models and trials of each of the sound tasks that the demo puts flaws into."""


@dataclass(frozen=True)
class Audited:
    tasks: list[AgentTask]
    runs: list[Trajectory]
    findings: list[Finding]
    coverage: list[Coverage]
    quarantine: Quarantine


def audited(folder: Path) -> Audited:
    quarantine, source = Quarantine(), Native(folder)
    tasks, runs = list(source.tasks(quarantine)), list(source.runs(folder, quarantine))
    by_task: dict[str, list[Trajectory]] = defaultdict(list)
    for run in runs:
        by_task[run.task_id].append(run)
    shard = check_shard(tasks, by_task, detectors())
    findings, coverage = conclude("demo", [task.id for task in tasks], [shard], detectors())
    return Audited(tasks, runs, findings, coverage, quarantine)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoBenchmark:
    return write_demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def flawed(demo: DemoBenchmark) -> Audited:
    return audited(demo.root)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    return audited(write_sound_demo(tmp_path_factory.mktemp("sound")))


@pytest.mark.long
def test_everything_is_read_back(demo: DemoBenchmark, flawed: Audited, sound: Audited) -> None:
    assert flawed.quarantine.items == sound.quarantine.items == []
    assert (len(flawed.tasks), len(flawed.runs)) == (demo.tasks, demo.runs) == (60, 60 * MODELS * TRIALS)
    assert len(sound.tasks) == len({task.id for task in sound.tasks}) == 159
    assert len(sound.runs) == MODELS * (SOUND * TRIALS + 159 - SOUND)
    for audit in (flawed, sound):
        assert len({run.model for run in audit.runs}) == MODELS
        assert {task.user.kind for task in audit.tasks} == {"scripted", "simulated"}
        assert len({id(task.environment) for task in audit.tasks}) == 4, "tasks of one setting share its environment"


def test_an_earlier_demo_is_replaced(demo: DemoBenchmark, tmp_path: Path) -> None:
    (tmp_path / TASKS).write_text("not a task\n")
    write_demo(tmp_path)
    for file in demo.root.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_the_answer_key_is_not_part_of_the_benchmark(tmp_path: Path) -> None:
    demo = write_demo(tmp_path)
    assert demo.answer_key == tmp_path / ANSWER_KEY
    version = Native(tmp_path).version()
    entries = [json.loads(line) for line in demo.answer_key.read_text(encoding="utf-8").splitlines()]
    assert [entry["check"] for entry in entries] == [flaw.check for flaw in demo.seeded]
    demo.answer_key.unlink()
    assert Native(tmp_path).version() == version
    assert "change" not in json.loads((tmp_path / TASKS).read_text(encoding="utf-8").splitlines()[0])


def test_labels_and_scores_follow_from_the_key_and_the_runs(demo: DemoBenchmark, flawed: Audited) -> None:
    affected = {task_id for flaw in demo.seeded for task_id in flaw.task_ids}
    labels = [json.loads(line) for line in (demo.root / "labels.jsonl").read_text().splitlines()]
    assert {label["task_id"]: label["flawed"] for label in labels} == {t.id: t.id in affected for t in flawed.tasks}
    header, *rows = (demo.root / "scores.csv").read_text().splitlines()
    assert header == "model,task_id,trial,score"
    scores = {True: "1", False: "0", None: ""}
    assert rows == [f"{run.model},{run.task_id},{run.trial},{scores[run.passed]}" for run in flawed.runs]


def test_documentation_and_code_of_sound_tools_agree(sound: Audited) -> None:
    for tool in sound.tasks[0].environment.tools:
        assert tool.implementation is not None
        assert tuple(tool.parameters["properties"]) == tool.implementation.parameters
        assert tool.implementation.source.startswith(f"def {tool.name}(self, ")
        assert tool.implementation.source.endswith(":")
        assert tool.parameters["required"] == list(tool.implementation.required)


def test_the_sound_version_has_no_confirmed_finding(sound: Audited) -> None:
    assert [f.claim for f in sound.findings if f.tier is not Tier.SIGNAL] == []
    assert [row.reason for row in sound.coverage if row.status is Status.ERROR] == []


def test_each_seeded_flaw_is_found_by_its_check(demo: DemoBenchmark, flawed: Audited) -> None:
    missed = [
        f"{flaw.check} on {task_id}"
        for flaw in demo.seeded
        for task_id in flaw.task_ids
        if not any(task_id in finding.task_ids for finding in flawed.findings if finding.check == flaw.check)
    ]
    assert missed == []


def test_what_is_found_was_seeded(demo: DemoBenchmark, flawed: Audited) -> None:
    affected = {task_id for flaw in demo.seeded for task_id in flaw.task_ids}
    found = {task_id for finding in flawed.findings if finding.tier is not Tier.SIGNAL for task_id in finding.task_ids}
    assert found <= affected


def test_the_flaws_cover_all_four_components(demo: DemoBenchmark) -> None:
    taxonomy = builtin_taxonomy()
    components = {taxonomy[flaw.category].component for flaw in demo.seeded}
    assert components == set(COMPONENT_TITLES)
    assert len(demo.seeded) >= 12


def test_responses_belong_to_calls(flawed: Audited) -> None:
    for run in flawed.runs:
        if run.status != "ok":
            assert run.passed is None and run.status_reason
            continue
        assert run.score == float(bool(run.passed))
        made = [call.id for message in run.messages for call in message.tool_calls]
        answered = [message.tool_call_id for message in run.messages if message.role == "tool"]
        assert made == answered, run.id
        assert len(set(made)) == len(made), run.id


def test_a_flaw_changes_the_scores_of_its_task_alone(demo: DemoBenchmark, flawed: Audited, sound: Audited) -> None:
    """The models act the same with and without the flaws; only scoring, confused users and mix-ups differ."""
    names = {task.id for task in sound.tasks[:SOUND]}
    before = {run.id: run for run in sound.runs if run.task_id in names}
    after = {run.id: run for run in flawed.runs}
    seeded = {flaw.cause for flaw in demo.seeded} | {"library/4", "parcels/2"}
    for name, run in before.items():
        if run.task_id not in seeded:
            assert after[name].model_copy(update={"origin": run.origin}) == run
    falsely_failed = [run for run in before.values() if run.task_id == "parcels/11" and run.passed]
    assert falsely_failed
    assert not any(after[run.id].passed for run in falsely_failed)


def test_the_further_sound_tasks_differ_from_each_other(sound: Audited) -> None:
    keys = [(str(task.ground_truth.turns), task.ground_truth.outputs) for task in sound.tasks]
    further = sound.tasks[SOUND:]
    assert len(set(keys[SOUND:]) - set(keys[:SOUND])) == len(further) == 101
    assert {task.user.kind for task in further} == {"simulated"}
    names = {task.id for task in further}
    assert {run.passed for run in sound.runs if run.task_id in names} >= {True, False}


@pytest.mark.long
def test_some_generated_instances_have_been_played_by_the_agents_without_a_model() -> None:
    pool = generated(100, seed=2)
    played = [sound for sound in pool if sound.task.benchmark == "ace" and sound.runs]
    assert 40 <= len(played) <= 60
    assert all(len({run.model for run in sound.runs}) == len(sound.runs) for sound in played)
    assert pool == generated(100, seed=2)
