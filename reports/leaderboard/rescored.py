"""The repaired split with the recorded runs as the evaluator judged them again."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agenthard.audit.repair.rescoring import RescoredRun
from agenthard.reports.cleaning.inputs import experiments_of, load_runs
from agenthard.reports.leaderboard.scored import NotRescored, RepairedRuns, Rescoring
from agenthard.taxonomy.trajectory import Trajectory


def repaired_runs(
    folder: Path, tasks: Sequence[str], kept: Sequence[str], repaired: Sequence[str], judged: Sequence[RescoredRun]
) -> RepairedRuns:
    """Replace the recorded verdicts on repaired tasks.

    A run that could not be judged again has no verdict: it is neither a failure nor the recorded one.

    Args:
        folder: run folder of the audit.
        tasks: all its tasks, in the benchmark's order.
        kept: tasks of the repaired split.
        repaired: tasks of it whose record changed.
        judged: what the evaluator said of their runs.

    Raises:
        RunTablesError: when the folder holds no finished audit of a known layout.
    """
    found = {each.run_id: each for each in judged}
    runs = []
    for run in load_runs(folder):
        runs.append(_with_verdict(run, found[run.id]) if run.id in found else run)
    wanted = set(kept)
    return RepairedRuns(
        task_ids=tuple(task for task in tasks if task in wanted),
        experiments=experiments_of(runs, tasks),
        rescoring=rescoring_of(repaired, judged),
    )


def _with_verdict(run: Trajectory, judged: RescoredRun) -> Trajectory:
    if judged.after is None:
        return run.model_copy(
            update={"passed": None, "status": "judge_error", "status_reason": f"not re-scored: {judged.reason}"}
        )
    return run.model_copy(update={"passed": judged.after})


def rescoring_of(repaired: Sequence[str], judged: Sequence[RescoredRun]) -> Rescoring:
    """Add up what the evaluator said."""
    with_verdict = [each for each in judged if each.after is not None]
    reasons: dict[str, list[RescoredRun]] = {}
    for each in judged:
        if each.after is None:
            reasons.setdefault(each.reason, []).append(each)
    return Rescoring(
        repaired=tuple(repaired),
        runs=len(judged),
        rescored=len(with_verdict),
        now_pass=sum(not each.before and bool(each.after) for each in with_verdict),
        now_fail=sum(each.before and not each.after for each in with_verdict),
        not_rescored=tuple(_group(reasons)),
        evaluator=", ".join(sorted({each.evaluator for each in with_verdict if each.evaluator})),
    )


def _group(reasons: Mapping[str, Sequence[RescoredRun]]) -> list[NotRescored]:
    return [
        NotRescored(reason=reason, runs=len(runs), tasks=tuple(dict.fromkeys(run.task_id for run in runs)))
        for reason, runs in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
