"""Runs that are scored otherwise when they are carried out again."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.recorded_runs import answered, replayed_verdict
from agenthard.audit.evidence import quote_run
from agenthard.audit.execution.context import current_execution
from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.finding import Evidence, Level, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

EXEMPLARS = 5
"""Most runs that a finding quotes."""
_FEWEST_TASKS = 3
_SOUND = 0.1
"""Largest share of differing verdicts of a log whose harness is taken to be sound."""
_NOTHING = ""


class ReplayedVerdict(SuiteDetector):
    """Logged verdicts that the run's own replay does not bear out.

    Rule: the calls of a recorded run are carried out again from the task's initial state, in our own environment of the
    benchmark, and its end and its replies are judged by the ground truth and the evaluator as they are now. Compared
    are runs with a verdict that came to their end and whose tools all answer now as they did then, text for text; so a
    verdict that differs comes from another ground truth or another evaluator, and not from the tools.

    What differs is named by its cause. A log (one model in one experiment) in which at least a tenth of the verdicts
    differ, on three tasks or more, was scored differently throughout: one finding for the log, with its tasks named in
    it. What differs in other logs points at the task: one finding for each, suspected where two logs or more differ,
    and a signal for a single one.

    Flagged: a log in which 25 of 44 passed runs leave another state than the ground truth's, some of them without
    a call that changes anything; a task on which two models passed whose final state the ground truth excludes.
    Not flagged: a run that was cut off at a limit; a run of an older release, whose tools answered otherwise.

    When it is wrong: the log leaves out calls that were made; the evaluator counts something that is not in the files.
    """

    id = "replayed-verdict"
    title = "Logged verdict differs from the replay's"
    version = "1"
    category = "suspicious-score-pattern"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    level = Level.SUITE
    deciding = "execution"
    why = "Scores that were not given by this ground truth cannot be compared with those that were."
    needs_runs = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why runs of the task cannot be carried out again, or None."""
        return (
            None
            if current_execution().environment_for_runs(task)
            else "no environment of our own can carry its runs out again"
        )

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Count, per log, the runs that can be compared and the verdicts that differ."""
        compared: dict[str, int] = defaultdict(int)
        differing: dict[str, list[tuple[Trajectory, Any]]] = defaultdict(list)
        for run in runs:
            verdict = replayed_verdict(task, run)
            if verdict is not None:
                log = f"{run.model} ({run.protocol})" if run.protocol else run.model
                compared[log] += 1
                if verdict.passed != run.passed:
                    differing[log].append((run, verdict.parts))
        for log, number in sorted(compared.items()):
            wrong = differing[log]
            value = {
                "compared": number,
                "passed": sum(bool(run.passed) for run, _ in wrong),
                "failed": sum(not run.passed for run, _ in wrong),
                "idle": sum(bool(run.passed) and not _changes(task, run) for run, _ in wrong),
            }
            evidence = tuple(chain.from_iterable(_quotes(run, parts) for run, parts in wrong[:1]))
            yield Observation(task_id=task.id, key=log, value=value, evidence=evidence)
        if not compared:
            yield Observation(task_id=task.id, key=_NOTHING)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one finding per log that was scored in another way, and one per task on which other logs differ."""
        nothing = tuple(item.task_id for item in observations if item.key == _NOTHING)
        if nothing:
            yield Undecided(task_ids=nothing, reason="no run with a verdict that can be carried out again as it was")
        logs: dict[str, list[Observation]] = defaultdict(list)
        for item in observations:
            if item.key != _NOTHING:
                logs[item.key].append(item)
        tasks: dict[str, list[Observation]] = defaultdict(list)
        for log, items in sorted(logs.items()):
            wrong = [item for item in items if _differing(item)]
            share = sum(map(_differing, wrong)) / sum(item.value["compared"] for item in items)
            if len(wrong) >= _FEWEST_TASKS and share >= _SOUND:
                touched = tuple(item.task_id for item in wrong)
                yield Conclusion(
                    task_ids=(), also_in=touched, hit=_hit(f"the log of {log}", items, Tier.SUSPECTED, Level.SUITE)
                )
            else:
                for item in wrong:
                    tasks[item.task_id].append(item)
        for task_id, wrong in sorted(tasks.items()):
            tier = Tier.SUSPECTED if len(wrong) > 1 else Tier.SIGNAL
            here = [item for item in observations if item.task_id == task_id and item.key in {w.key for w in wrong}]
            yield Conclusion(task_ids=(task_id,), hit=_hit(f"runs of {task_id}", here, tier, Level.TASK))


def _hit(what: str, items: Sequence[Observation], tier: Tier, level: Level) -> Hit:
    compared, passed, failed, idle = (
        sum(item.value[name] for item in items) for name in ("compared", "passed", "failed", "idle")
    )
    low, high = wilson(passed + failed, compared)
    wrong = [item for item in items if _differing(item)]
    return Hit(
        claim=f"Carried out again, {passed + failed} of the {compared} runs that can be compared in {what} are scored "
        f"otherwise: {passed} were logged as passed and fail ({idle} of them change nothing), {failed} were logged as "
        "failed and pass.",
        fix="Find out which ground truth and evaluator scored the runs, and score them again by these.",
        cause=f"replayed verdicts: {what}",
        level=level,
        evidence=tuple(
            chain.from_iterable(item.evidence for item in wrong[:: max(1, len(wrong) // EXEMPLARS)][:EXEMPLARS])
        ),
        tier=tier,
        measures={
            "compared": compared,
            "logged_as_passed": passed,
            "logged_as_failed": failed,
            "idle": idle,
            "rate": (passed + failed) / compared,
            "low": low,
            "high": high,
        },
    )


def _differing(item: Observation) -> int:
    return int(item.value["passed"] + item.value["failed"])


def _changes(task: AgentTask, run: Trajectory) -> bool:
    tools = (task.tool(now.call.name, now.call.requestor) for now in answered(run.messages))
    return any(tool is not None and tool.effect != "read" for tool in tools)


def _quotes(run: Trajectory, parts: dict[str, bool]) -> Iterator[Evidence]:
    failing = ", ".join(sorted(name for name, passed in parts.items() if not passed)) or "nothing"
    yield quote_run(run, "/passed", note=f"{run.model}, the logged verdict; of its replay fails: {failing}")
    calls = [now for now in answered(run.messages) if now.call.requestor == "assistant"]
    if calls:
        yield quote_run(run, calls[-1].place, note="the last call that was carried out")
