"""Tasks that the same model passes in one trial and fails in the next."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.score_matrix import quote_verdict
from agenthard.audit.statistics.intervals import clustered_wilson
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

MIN_MODELS = 3
"""Fewer models with repeated trials cannot show that it is the task."""
MIN_BOTH = 2
"""Models with both verdicts: the pairs of one model alone do not make the task."""


class FlakyTrials(SuiteDetector):
    """Tasks on which trials of one model differ more than the same models' trials do elsewhere.

    Rule: a model with n scored trials of a task, c of them passed, has n(n − 1)/2 pairs of trials, of which c(n − c)
    disagree. The task's rate is the share of pairs that disagree, over all models with at least two trials with one
    simulator, with its 95 % Wilson interval, clustered by model. The expected rate is the same models' rate on their
    other tasks. At least three models, two of them with both verdicts; flagged when the interval lies above the
    expected rate.

    A coin flip has a rate of 50 %. The finding also gives the mean entropy of a trial's verdict (1 bit for a coin flip)
    and how many models have both verdicts.

    Flagged: five models pass one of two trials each, where elsewhere one pair in five disagrees.
    Not flagged: a task that some models always pass and others always fail; one model with one pass in four trials.

    When it is wrong: a task at the edge of the models' abilities is passed by luck as well; so are tasks whose
    simulated user differs from trial to trial. It is a signal for the review queue and removes nothing.
    """

    id = "flaky-trials"
    title = "The same model passes and fails it"
    version = "1"
    category = "suspicious-score-pattern"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SIGNAL
    why = "A verdict that changes from trial to trial measures the dice, or the simulated user, and not the model."
    needs_runs = True

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Count the trials of each model with each simulator, and quote one pass and one failure."""
        trials: dict[str, list[bool]] = defaultdict(list)
        quotes: dict[tuple[str, bool], Evidence] = {}
        for run in runs:
            if run.passed is not None:
                key = f"{run.model} / {run.user_model or 'unnamed'}"
                trials[key].append(run.passed)
                quotes.setdefault((key, run.passed), quote_verdict(run))
        for key, verdicts in sorted(trials.items()):
            both = {True, False} <= set(verdicts)
            evidence = (quotes[key, True], quotes[key, False]) if both else ()
            value = {"trials": len(verdicts), "passed": sum(verdicts)}
            yield Observation(task_id=task.id, key=key, value=value, evidence=evidence)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one signal per task with more disagreement than its models show elsewhere."""
        repeated = [item for item in observations if item.value["trials"] > 1]
        tasks: dict[str, list[Observation]] = {item.task_id: [] for item in observations}
        models: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for item in repeated:
            tasks[item.task_id].append(item)
            disagreeing, pairs = _pairs(item)
            models[item.key][0] += disagreeing
            models[item.key][1] += pairs
        few = tuple(task for task, items in tasks.items() if len(items) < MIN_MODELS)
        if few:
            yield Undecided(task_ids=few, reason=f"fewer than {MIN_MODELS} models with repeated scored trials")
        for task, items in tasks.items():
            expected = _expected(items, models)
            if len(items) >= MIN_MODELS and expected is not None:
                hit = _hit(task, items, expected)
                if hit is not None:
                    yield Conclusion(task_ids=(task,), hit=hit)


def _pairs(item: Observation) -> tuple[int, int]:
    trials, passed = item.value["trials"], item.value["passed"]
    return passed * (trials - passed), trials * (trials - 1) // 2


def _expected(items: Sequence[Observation], models: dict[str, list[int]]) -> float | None:
    """Share of disagreeing pairs of the same models elsewhere, weighted by their pairs here; None without any."""
    weighted, weight = 0.0, 0
    for item in items:
        disagreeing, pairs = _pairs(item)
        others = models[item.key][1] - pairs
        if others:
            weighted += pairs * (models[item.key][0] - disagreeing) / others
            weight += pairs
    return weighted / weight if weight else None


def _hit(task: str, items: Sequence[Observation], expected: float) -> Hit | None:
    counts = [_pairs(item) for item in items]
    disagreeing, pairs = (sum(column) for column in zip(*counts, strict=True))
    low, high = clustered_wilson(counts)
    both = [item for item in items if item.evidence]
    if low <= expected or len(both) < MIN_BOTH:
        return None
    rates = [item.value["passed"] / item.value["trials"] for item in items]
    return Hit(
        claim=f"Trials of one model disagree on task {task} in {disagreeing} of {pairs} pairs "
        f"({disagreeing / pairs:.0%}, 95 % interval {low:.0%} to {high:.0%}), where {expected:.0%} are expected from "
        f"the same models' other tasks; {len(both)} of {len(items)} models both pass and fail it.",
        fix="Read a pass and a failure of one model: does the simulated user, a tool or the evaluator differ?",
        cause=f"task {task}",
        evidence=both[0].evidence,
        measures={
            "models": len(items),
            "models_with_both": len(both),
            "pairs": pairs,
            "disagreeing": disagreeing,
            "rate": disagreeing / pairs,
            "low": low,
            "high": high,
            "expected": expected,
            "entropy": math.fsum(map(_entropy, rates)) / len(rates),
        },
    )


def _entropy(rate: float) -> float:
    return -math.fsum(p * math.log2(p) for p in (rate, 1 - rate) if p > 0)
