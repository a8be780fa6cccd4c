"""Tasks on which all models agree; the base of the checks all-fail and all-pass."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.responses.matrix import ScoreMatrix, mean_elsewhere, observe_runs
from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.finding import Evidence, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

MIN_MODELS = 5
"""From five models on, agreement by chance is below 5 % for models that pass half of the time (1/2⁵ = 3 %)."""
EXEMPLARS = 3
"""Runs quoted per task, each of another model."""


class Unanimous(SuiteDetector):
    """Flags a task when every scored run of at least five models has the same verdict.

    Models are what is counted: trials of one model depend on each other. ``chance`` is the probability that
    independent models agree so, each passing with its rate on its other tasks; the smaller it is, the more does the
    task stand out. A model without other tasks leaves it unchanged.
    """

    passed: ClassVar[bool]
    """The verdict that all runs share."""

    version = "1"
    category = "suspicious-score-pattern"
    tier = Tier.SIGNAL
    needs_runs = True
    fix: ClassVar[str]
    """What to look at."""

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note the verdict of each run and quote a few."""
        return observe_runs(runs, self.passed, EXEMPLARS)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one signal per task on which all models agree."""
        matrix = ScoreMatrix.build(observations)
        rates = mean_elsewhere(matrix.scores)
        quotes: dict[str, list[Evidence]] = defaultdict(list)
        for item in observations:
            quotes[item.task_id].extend(item.evidence)
        unscored: dict[str, int] = defaultdict(int)
        for (_, task), statuses in matrix.unscored.items():
            unscored[task] += len(statuses)
        few: dict[int, list[str]] = defaultdict(list)
        for column, task in enumerate(matrix.tasks):
            seen = matrix.runs[:, column] > 0
            models = int(seen.sum())
            if models < MIN_MODELS:
                few[models].append(task)
            elif bool((matrix.scores[seen, column] == self.passed).all()):
                elsewhere = rates[seen, column]
                agreeing = elsewhere if self.passed else 1 - elsewhere
                low, high = wilson(models if self.passed else 0, models)
                measures = {
                    "models": models,
                    "runs": int(matrix.runs[:, column].sum()),
                    "unscored_runs": unscored[task],
                    "low": low,
                    "high": high,
                    "chance": float(np.nanprod(agreeing)),
                }
                yield Conclusion(task_ids=(task,), hit=self._hit(task, measures, tuple(quotes[task])))
        for models, tasks in sorted(few.items()):
            reason = f"{models} models with a scored run; at least {MIN_MODELS} are needed"
            yield Undecided(task_ids=tuple(tasks), reason=reason)

    def _hit(self, task: str, measures: dict[str, float], evidence: tuple[Evidence, ...]) -> Hit:
        verb = "pass" if self.passed else "fail"
        return Hit(
            claim=f"All {measures['models']:.0f} models {verb} task {task} in all {measures['runs']:.0f} runs (95 % "
            f"interval of the pass rate over models: {measures['low']:.1%} to {measures['high']:.1%}).",
            fix=self.fix,
            cause=f"task {task}",
            evidence=evidence,
            measures=measures,
        )
