"""Runs of an evaluation with a page of their own: for each agent and difficulty one solved and one unsolved."""

import gzip
from collections.abc import Iterator
from typing import TypeAlias

from agenthard.flows.evaluation.benchmark import Benchmark, ShowsRuns
from agenthard.flows.evaluation.settings import EvaluationFolder
from agenthard.reports.evaluation.page import ShownRun
from agenthard.reports.run_pages import MOST, RunPages
from agenthard.taxonomy.trajectory import Trajectory

_Key: TypeAlias = tuple[str, tuple[int, ...], bool]
"""Agent, levels in the order of the factors, and whether it is unsolved."""


def shown_runs(folder: EvaluationFolder, benchmark: Benchmark) -> list[ShownRun]:
    """Write the pages next to the report.

    Args:
        folder: The run folder, with its trajectories.
        benchmark: The benchmark.

    Returns:
        The runs by agent, difficulty and outcome, each the first of its kind; none where the benchmark shows no runs.
    """
    names = [factor.name for factor in benchmark.declared.factors]
    levels = {
        task.id: tuple(int(task.facts[name]) for name in names)
        for task in benchmark.tasks()
        if isinstance(task, ShowsRuns)
    }
    chosen: dict[_Key, Trajectory] = {}
    for run in _runs(folder) if levels else ():
        if run.passed is not None and run.task_id in levels and len(chosen) < MOST:
            chosen.setdefault((run.model, levels[run.task_id], not run.passed), run)
    by_task: dict[str, list[tuple[_Key, Trajectory]]] = {}
    for key in sorted(chosen):
        by_task.setdefault(chosen[key].task_id, []).append((key, chosen[key]))
    pages, shown = RunPages(folder.report / "evaluation.html"), dict[_Key, ShownRun]()
    for task in benchmark.tasks() if by_task else ():
        for key, run in by_task.get(task.id, ()):
            page = task.run_page(run) if isinstance(task, ShowsRuns) else None
            if page is not None:
                shown[key] = ShownRun(
                    agent=run.model,
                    task_id=run.task_id,
                    levels=dict(zip(names, key[1], strict=True)),
                    trial=run.trial,
                    passed=not key[2],
                    page=pages.add(page, run),
                )
    return [shown[key] for key in sorted(shown)]


def _runs(folder: EvaluationFolder) -> Iterator[Trajectory]:
    with gzip.open(folder.trajectories, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield Trajectory.model_validate_json(line)
