"""The demo benchmark: the same everywhere, sound without its flaws, and each flaw found by the check that should."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.native_files import RUNS, TASKS
from agenthard.audit.sources.native import Native
from agenthard.flows.demo import ANSWER_KEY, DemoBenchmark, write_demo
from agenthard.flows.demo.library_desk import EVENING, LIBRARY
from agenthard.flows.demo.models import MODELS
from agenthard.flows.demo.parcel_service import NIGHT, PARCELS
from agenthard.flows.demo.scoring import passes
from agenthard.flows.demo.writing import SCORES
from agenthard.taxonomy import AgentTask, Coverage, Finding, Message, Status, Tier, Trajectory
from agenthard.taxonomy.categories import COMPONENT_TITLES, builtin_taxonomy

WORLDS = {setting.environment.policy: setting.world for setting in (LIBRARY, EVENING, PARCELS, NIGHT)}


@dataclass(frozen=True)
class Audited:
    benchmark: DemoBenchmark
    tasks: list[AgentTask]
    runs: list[Trajectory]
    findings: list[Finding]
    coverage: list[Coverage]
    quarantine: Quarantine


def audited(out: Path, *, flawed: bool, seed: int = 7) -> Audited:
    benchmark = write_demo(out, seed=seed, flawed=flawed)
    quarantine, source = Quarantine(), Native(out)
    tasks, runs = list(source.tasks(quarantine)), list(source.runs(out, quarantine))
    by_task: dict[str, list[Trajectory]] = defaultdict(list)
    for run in runs:
        by_task[run.task_id].append(run)
    shard = check_shard(tasks, by_task, detectors())
    findings, coverage = conclude("demo", [task.id for task in tasks], [shard], detectors())
    return Audited(benchmark, tasks, runs, findings, coverage, quarantine)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    return audited(tmp_path_factory.mktemp("sound"), flawed=False)


@pytest.fixture(scope="module")
def flawed(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    return audited(tmp_path_factory.mktemp("flawed"), flawed=True)


def files(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.iterdir()}


def conversation(task: AgentTask, *, act: bool) -> list[Message]:
    """What an agent does that follows the ground truth and says every required text, or one that does nothing."""
    messages = []
    for calls in task.ground_truth.turns:
        messages.append(Message(role="user", content="Please."))
        if act:
            messages.append(Message(role="assistant", tool_calls=calls))
    said = " ".join(task.ground_truth.outputs) if act else ""
    return [*messages, Message(role="assistant", content=said)]


def test_the_same_bytes_in_another_process(flawed: Audited, tmp_path: Path) -> None:
    code = "import sys, pathlib; from agenthard.flows.demo import write_demo; write_demo(pathlib.Path(sys.argv[1]))"
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Pacific/Apia", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=environment)
    assert files(tmp_path) == files(flawed.benchmark.root)


def test_the_seed_changes_the_runs_alone(flawed: Audited, tmp_path: Path) -> None:
    write_demo(tmp_path, seed=8)
    here, there = files(flawed.benchmark.root), files(tmp_path)
    assert {name for name in here if here[name] != there[name]} == {RUNS, SCORES}


def test_everything_is_read_back(sound: Audited, flawed: Audited) -> None:
    for demo in (sound, flawed):
        assert demo.quarantine.items == []
        assert (len(demo.tasks), len(demo.runs)) == (demo.benchmark.tasks, demo.benchmark.runs)
        assert demo.benchmark.runs == demo.benchmark.tasks * len(MODELS) * 2
    assert len(sound.tasks) == 58
    assert {task.user.kind for task in sound.tasks} == {"scripted", "simulated"}
    assert len({id(task.environment) for task in flawed.tasks}) == 4, "tasks of one setting share its environment"


def test_the_answer_key_is_no_part_of_the_benchmark(tmp_path: Path) -> None:
    demo = write_demo(tmp_path)
    assert demo.answer_key == tmp_path / ANSWER_KEY
    version = Native(tmp_path).version()
    entries = [json.loads(line) for line in demo.answer_key.read_text(encoding="utf-8").splitlines()]
    assert [entry["check"] for entry in entries] == [flaw.check for flaw in demo.seeded]
    demo.answer_key.unlink()
    assert Native(tmp_path).version() == version
    assert "change" not in json.loads((tmp_path / TASKS).read_text(encoding="utf-8").splitlines()[0])


def test_a_sound_gold_runs_passes_and_is_needed(sound: Audited) -> None:
    for task in sound.tasks:
        world = WORLDS[task.environment.policy]
        desk = world()
        told = [task.environment.policy] + [
            json.dumps(desk.call(call.name, call.arguments), ensure_ascii=False) for _, call in task.gold_calls()
        ]
        assert not any('"error"' in text for text in told), task.id
        for output in task.ground_truth.outputs:
            assert any(output.lower() in text.lower() for text in told), f"{task.id}: nothing says {output}"
        assert passes(task, world, conversation(task, act=True)), task.id
        assert not passes(task, world, conversation(task, act=False)), task.id


def test_documentation_and_code_of_sound_tools_agree(sound: Audited) -> None:
    for tool in sound.tasks[0].environment.tools:
        assert tool.implementation is not None
        assert tuple(tool.parameters["properties"]) == tool.implementation.parameters
        assert tool.implementation.source.startswith(f"def {tool.name}(self, ")
        assert tool.implementation.source.endswith(":")
        assert tool.parameters["required"] == list(tool.implementation.required)


@pytest.mark.parametrize("seed", [7, 21])
def test_the_sound_version_has_no_confirmed_finding(tmp_path: Path, seed: int) -> None:
    demo = audited(tmp_path, flawed=False, seed=seed)
    assert demo.benchmark.seeded == ()
    assert [f.claim for f in demo.findings if f.tier is not Tier.SIGNAL] == []
    assert [row.reason for row in demo.coverage if row.status is Status.ERROR] == []


def test_each_seeded_flaw_is_found_by_its_check(flawed: Audited) -> None:
    missed = [
        f"{flaw.check} on {task_id}"
        for flaw in flawed.benchmark.seeded
        for task_id in flaw.task_ids
        if not any(task_id in finding.task_ids for finding in flawed.findings if finding.check == flaw.check)
    ]
    assert missed == []


def test_what_is_found_was_seeded(flawed: Audited) -> None:
    affected = {task_id for flaw in flawed.benchmark.seeded for task_id in flaw.task_ids}
    found = {task_id for finding in flawed.findings if finding.tier is not Tier.SIGNAL for task_id in finding.task_ids}
    assert found <= affected


def test_the_flaws_cover_all_four_components(flawed: Audited) -> None:
    taxonomy = builtin_taxonomy()
    components = {taxonomy[flaw.category].component for flaw in flawed.benchmark.seeded}
    assert components == set(COMPONENT_TITLES)
    assert len(flawed.benchmark.seeded) >= 12


def test_scores_follow_from_the_conversations(flawed: Audited) -> None:
    worlds = {setting.domain: setting.world for setting in (LIBRARY, PARCELS)}
    tasks = {task.id: task for task in flawed.tasks}
    for run in flawed.runs:
        task = tasks[run.task_id]
        if run.status == "ok":
            assert run.passed == passes(task, worlds[task.subtask], run.messages), run.id
            assert run.score == float(bool(run.passed))
        else:
            assert run.passed is None
            assert run.status_reason


def test_models_differ_and_a_few_runs_are_cut_off(sound: Audited) -> None:
    rates = {name: share_passed([run for run in sound.runs if run.model == name]) for name in MODELS}
    for name, strength in MODELS.items():
        assert rates[name] == pytest.approx(strength, abs=0.1), name  # 116 runs: two standard errors are about 0.09
    assert 3 <= sum(run.status == "infrastructure_error" for run in sound.runs) <= 25
    assert {run.user_model for run in sound.runs} == {None, "patron-sim-1", "patron-sim-2"}


def share_passed(runs: Sequence[Trajectory]) -> float:
    scored = [run.passed for run in runs if run.passed is not None]
    return sum(scored) / len(scored)


def test_responses_belong_to_calls(flawed: Audited) -> None:
    for run in flawed.runs:
        if run.status != "ok":
            continue
        made = [call.id for message in run.messages for call in message.tool_calls]
        answered = [message.tool_call_id for message in run.messages if message.role == "tool"]
        assert made == answered, run.id
        assert len(set(made)) == len(made), run.id


def test_a_flaw_changes_the_scores_of_its_task_alone(sound: Audited, flawed: Audited) -> None:
    """The models act the same with and without the flaws; only scoring, confused users and mix-ups differ."""
    before = {run.id: run for run in sound.runs}
    after = {run.id: run for run in flawed.runs}
    seeded = {flaw.cause for flaw in flawed.benchmark.seeded} | {"library/4", "parcels/2"}
    for name, run in before.items():
        if run.task_id not in seeded:
            assert after[name].model_copy(update={"origin": run.origin}) == run
    falsely_failed = [run for run in before.values() if run.task_id == "parcels/11" and run.passed]
    assert falsely_failed
    assert not any(after[run.id].passed for run in falsely_failed)
