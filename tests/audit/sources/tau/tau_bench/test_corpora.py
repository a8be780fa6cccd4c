from collections import defaultdict
from pathlib import Path

import pytest

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy.trajectory import Trajectory

pytestmark = pytest.mark.corpora

PASSES = {
    "o3-high": 113,
    "claude-4-sonnet-thinking-on-10k": 110,
    "gpt-4.1": 106,
    "grok-4": 106,
    "o4-mini-high": 105,
    "Kimi-K2-Instruct": 103,
    "gpt-4o-20240806": 98,
    "claude-4-sonnet-thinking-off": 97,
    "DeepSeek-V3-0324": 96,
    "Qwen3-235B-A22B-Thinking-2507-FP8": 92,
    "Qwen3-235B-A22B-FP8": 75,
    "gpt-4o-mini": 72,
    "Qwen3-235B-A22B-Instruct-2507-FP8": 67,
}
"""Passes in 165 tasks with crashed runs counted as failures, as the score table beside the runs has them."""


@pytest.fixture(scope="module")
def source(corpora: Path) -> TauBench:
    return TauBench(corpora / "tau-bench_59a200c")


def test_all_tasks_are_read(source: TauBench) -> None:
    quarantine = Quarantine()
    tasks = list(source.tasks(quarantine))
    assert quarantine.items == []
    assert [sum(task.subtask == domain for task in tasks) for domain in ("airline", "retail")] == [50, 115]
    assert len({id(task.environment) for task in tasks}) == 2
    assert source.version().label == "59a200c"
    writes = {tool.name for tool in tasks[0].environment.tools if tool.effect == "write"}
    assert len(writes) == 6 and "send_certificate" in writes


def test_other_splits_of_retail_are_read_when_named(corpora: Path) -> None:
    quarantine = Quarantine()
    tasks = list(TauBench(corpora / "tau-bench_59a200c", ["retail-dev", "retail-train"]).tasks(quarantine))
    assert (len(tasks), quarantine.items) == (520, [])


@pytest.mark.long
def test_all_runs_are_read_and_the_published_accuracies_come_out(source: TauBench, corpora: Path) -> None:
    quarantine = Quarantine()
    ids = set()
    count = crashed = 0
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for run in source.runs(corpora / "trajectories", quarantine):
        count += 1
        ids.add(run.id)
        crashed += run.status == "infrastructure_error"
        if run.protocol == "paper_run":
            scores[run.model][run.task_id] = run.score or 0.0
    assert (count, len(ids), crashed, quarantine.items) == (1550 + 2647, 1550 + 2647, 23 + 73, [])
    complete = {model: sum(by_task.values()) for model, by_task in scores.items() if len(by_task) == 165}
    assert complete == PASSES


@pytest.mark.long
def test_the_score_table_agrees_with_the_runs(source: TauBench, corpora: Path) -> None:
    def key(run: Trajectory) -> tuple[str, str]:
        return run.model, run.task_id

    table = {key(r): r for r in source.runs(corpora / "trajectories" / "tau1_paper_reward_matrix.json", Quarantine())}
    assert len(table) == 15 * 50 + 16 * 115
    compared = 0
    for run in source.runs(corpora / "trajectories", Quarantine()):
        if run.protocol == "paper_run":
            compared += 1
            assert table[key(run)].score == run.score
    assert compared == 750 + 1610


def test_a_split_of_the_real_files_is_byte_identical(source: TauBench, corpora: Path, tmp_path: Path) -> None:
    keep = [task.id for task in source.tasks(Quarantine())][::2]
    source.write_split(keep, tmp_path)
    kept = list(TauBench(tmp_path).tasks(Quarantine()))
    originals = {task.id: task for task in source.tasks(Quarantine())}
    assert [task.ground_truth for task in kept] == [originals[task_id].ground_truth for task_id in keep]
    before = (corpora / "tau-bench_59a200c" / "airline" / "tasks.json").read_bytes()
    assert before[3:400] in (tmp_path / "airline" / "tasks.json").read_bytes()
