"""The measures of AgencyBench over runs: scores in three weights, attempts, passes, efficiency, and place in the chain.

Scores are on the scale 0 to 100. Scenarios are what is drawn at random: the tasks of one are a chain and depend on each
other, so intervals resample whole scenarios.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import mean
from typing import Literal

import numpy as np

from agenthard.audit.sources.agencybench.figures import Attempt, ScenarioAttempts, gather, pass_at
from agenthard.audit.statistics.resampling import bootstrap_means, percentile_interval
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Trajectory

Weight = Literal["scenario", "task", "capability"]
Final = Literal["last", "best"]
PASS_PERCENT = 60.0
MILLION = 1e6
LEVEL = 0.95


class Position(Record):
    """The tasks at one place of their chains; a broken carry looks like difficulty here."""

    number: int
    """Place in the chain, from 1."""
    tasks: int
    """Tasks at this place."""
    score: float
    """Mean score of their last attempts."""
    after_failure: int
    """How many of them begin on what a task left that did not pass."""
    score_after_failure: float | None
    """Mean score of these; None when there are none."""


class Measures(Record):
    """The measures of one run over all scenarios."""

    weight: Weight
    """What S_avg gives equal weight to."""
    final: Final
    """Which attempt at a task counts."""
    scenarios: int
    """Scenarios."""
    tasks: int
    """Tasks."""
    attempts: int
    """Attempts."""
    s_avg: float
    """Mean score; attempts without a result count with the score that was written for them."""
    interval: tuple[float, float] | None
    """95 % percentile interval of S_avg; None by capability, which a resample may leave without a scenario."""
    s_avg_valid: float | None
    """S_avg over valid attempts and the tasks that have one; None when there is none."""
    valid_tasks: int
    """Tasks with a valid attempt."""
    failure_rate: float
    """Share of attempts that are not valid: dead, ended by an error, or not judged."""
    att: float
    """Attempts per task, mean over scenarios (equation 1)."""
    att_pooled: float
    """All attempts by all tasks."""
    pass_scenario: tuple[float, ...]
    """Share of scenarios whose mean is 60 % or more after 1, 2 … attempts: Pass@k as the paper's table has it."""
    pass_task: tuple[float, ...]
    """Share of tasks with an attempt of 60 % or more among the first 1, 2 …, mean over scenarios (equation 2)."""
    rise: float | None
    """(Pass@2 − Pass@1) / Pass@1 by scenario; None when nothing passes at once, or second attempts do not exist."""
    e_att: float
    """S_avg by attempts per task."""
    e_tok: float | None
    """S_avg by million tokens of the agent per scenario; None when the log counts none."""
    tokens: float | None
    """Tokens of the agent per scenario, prompts and replies; None when the log counts none."""
    positions: tuple[Position, ...]
    """Scores by place in the chain."""


def measures(
    runs: Iterable[Trajectory],
    *,
    weight: Weight = "scenario",
    final: Final = "last",
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, Measures]:
    """Compute the measures of each run folder.

    Args:
        runs: attempts in any order.
        weight: what S_avg gives equal weight to.
        final: which attempt at a task counts: the last, as in the published tables, or the best.
        resamples: resamples of the bootstrap.
        seed: seed of the bootstrap.

    Returns:
        The measures by the name of the run folder.
    """
    known = list(runs)
    tokens: dict[str, float] = defaultdict(float)
    for run in known:
        tokens[run.protocol or ""] += run.usage.get("prompt_tokens", 0) + run.usage.get("completion_tokens", 0)
    return {
        name: _measures(scenarios, weight, final, tokens[name] / len(scenarios), resamples, seed)
        for name, scenarios in gather(known).items()
    }


def average(scenarios: Sequence[ScenarioAttempts], weight: Weight, final: Final) -> float:
    """Average the scores of scenarios (S_avg) with a weight."""
    score = ScenarioAttempts.last if final == "last" else ScenarioAttempts.best
    if weight == "scenario":
        return mean(score(each) for each in scenarios)
    if weight == "task":
        return mean(_final(final)(task) for each in scenarios for task in each.tasks)
    groups: dict[str, list[float]] = defaultdict(list)
    for each in scenarios:
        groups[each.capability].append(score(each))
    return mean(mean(scores) for scores in groups.values())


def _measures(
    scenarios: Sequence[ScenarioAttempts], weight: Weight, final: Final, tokens: float, resamples: int, seed: int
) -> Measures:
    attempts = [attempt for each in scenarios for attempt in each.attempts]
    most = max(len(task) for each in scenarios for task in each.tasks)
    valid = [kept for each in scenarios if (kept := each.valid()) is not None]
    passed = tuple(pass_at(scenarios, k) / len(scenarios) for k in range(1, most + 1))
    s_avg, att = average(scenarios, weight, final), mean(each.per_task for each in scenarios)
    count = sum(len(each.tasks) for each in scenarios)
    return Measures(
        weight=weight,
        final=final,
        scenarios=len(scenarios),
        tasks=count,
        attempts=len(attempts),
        s_avg=s_avg,
        interval=_interval(scenarios, weight, final, resamples, seed),
        s_avg_valid=average(valid, weight, final) if valid else None,
        valid_tasks=sum(len(each.tasks) for each in valid),
        failure_rate=mean(not attempt.valid for attempt in attempts),
        att=att,
        att_pooled=len(attempts) / count,
        pass_scenario=passed,
        pass_task=tuple(_pass_task(scenarios, k) for k in range(1, most + 1)),
        rise=(passed[1] - passed[0]) / passed[0] if most > 1 and passed[0] else None,
        e_att=s_avg / att,
        e_tok=s_avg * MILLION / tokens if tokens else None,
        tokens=tokens or None,
        positions=_positions(scenarios, final),
    )


def _final(final: Final) -> Callable[[Sequence[Attempt]], float]:
    if final == "last":
        return lambda task: task[-1].score
    return lambda task: max(attempt.score for attempt in task)


def _pass_task(scenarios: Sequence[ScenarioAttempts], k: int) -> float:
    return mean(each.passed_tasks(k, lambda attempt: attempt.score) / len(each.tasks) for each in scenarios)


def _interval(
    scenarios: Sequence[ScenarioAttempts], weight: Weight, final: Final, resamples: int, seed: int
) -> tuple[float, float] | None:
    """Resample whole scenarios."""
    if weight == "capability":
        return None
    score = _final(final)
    rows = [(each.id, score(task)) for each in scenarios for task in each.tasks]
    if weight == "scenario":
        rows = [(each.id, average([each], "scenario", final)) for each in scenarios]
    values = np.asarray([[value] for _, value in rows])
    drawn = bootstrap_means(values, resamples=resamples, seed=seed, clusters=[name for name, _ in rows])
    found = percentile_interval(np.concatenate(list(drawn))[:, 0], LEVEL)
    return found["low"], found["high"]


def _positions(scenarios: Sequence[ScenarioAttempts], final: Final) -> tuple[Position, ...]:
    score = _final(final)
    places: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for each in scenarios:
        chain = sorted(each.tasks, key=lambda task: _number(task[0].task_id))
        before = PASS_PERCENT
        for task in chain:
            now = score(task)
            places[_number(task[0].task_id)].append((now, before < PASS_PERCENT))
            before = now
    found = []
    for number, tasks in sorted(places.items()):
        after = [value for value, failed in tasks if failed]
        found.append(
            Position(
                number=number,
                tasks=len(tasks),
                score=mean(value for value, _ in tasks),
                after_failure=len(after),
                score_after_failure=mean(after) if after else None,
            )
        )
    return tuple(found)


def _number(task_id: str) -> int:
    digits = task_id[len(task_id.rstrip("0123456789")) :]
    return int(digits) if digits else 0
