from collections import defaultdict
from pathlib import Path

import pytest

from agenthard.audit.detectors.base import Conclusion
from agenthard.audit.detectors.runs.crash_signature import CrashSignature
from agenthard.audit.detectors.runs.dead_attempt import DeadAttempt
from agenthard.audit.detectors.runs.infrastructure_error_scored import InfrastructureErrorScored
from agenthard.audit.detectors.runs.non_monotone_retry import NonMonotoneRetry
from agenthard.audit.detectors.runs.verdict_without_evidence import VerdictWithoutEvidence
from agenthard.audit.detectors.support.run_tallies import RunTally
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask, Trajectory

pytestmark = pytest.mark.corpora


def affected(check: RunTally, tasks: list[AgentTask], runs: dict[str, list[Trajectory]]) -> dict[str, tuple[int, int]]:
    """Cases affected and looked at, by group."""
    observed = [item for task in tasks if task.id in runs for item in check.observe(task, iter(runs[task.id]))]
    found = [item.hit for item in check.conclude(observed) if isinstance(item, Conclusion)]
    return {str(hit.cause): (int(hit.measures["affected"]), int(hit.measures["looked"])) for hit in found}


def read(source: str, root: Path, runs: Path) -> tuple[list[AgentTask], dict[str, list[Trajectory]]]:
    opened = open_source(source, root)
    by_task: dict[str, list[Trajectory]] = defaultdict(list)
    for run in opened.runs(runs, Quarantine()):
        by_task[run.task_id].append(run)
    return list(opened.tasks(Quarantine())), by_task


def test_the_released_run_of_agencybench(corpora: Path) -> None:
    tasks, runs = read("agencybench", corpora / "agencybench", corpora / "agencybench")
    assert affected(DeadAttempt(), tasks, runs) == {
        "runs of claude-4.5-opus": (88, 185),
        "runs of claude-4.5-sonnet": (7, 10),
    }
    assert affected(InfrastructureErrorScored(), tasks, runs) == {"runs of claude-4.5-opus": (12, 204)}
    assert affected(NonMonotoneRetry(), tasks, runs) == {"runs of claude-4.5-opus": (3, 71)}
    judge = "runs of qwen3-vl-235 judging claude-4.5-opus"
    assert affected(VerdictWithoutEvidence(), tasks, runs) == {judge: (11, 62)}
    assert affected(CrashSignature(), tasks, runs) == {"runs of claude-4.5-opus": (55, 204)}


def test_crashed_runs_of_tau_bench(corpora: Path) -> None:
    log = corpora / "trajectories" / "tau1_airline.jsonl.gz"
    tasks, runs = read("tau-bench", corpora / "tau-bench_59a200c", log)
    assert affected(DeadAttempt(), tasks, runs) == {}
    assert sum(found for found, _ in affected(InfrastructureErrorScored(), tasks, runs).values()) == 23
