"""Filling the stage table: what every stage leaves, against the original and against random subsets of equal size."""

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from reports.cleaning.inputs import AnalysisSettings
from reports.cleaning.nulls import Measure, measure
from reports.cleaning.prompts import PromptSpace
from reports.cleaning.splits import split_id
from reports.cleaning.stages import Stage, StageName
from reports.statistics import (
    NullDistribution,
    Result,
    ScoreMatrix,
    Undefined,
    chance_corrected_agreement,
    compression,
    macro_compression,
    matrix_null,
    model_agreement,
    separability,
)
from reports.statistics.result import undefined

STAGES: dict[StageName, str] = {
    "initial": "initial",
    "rules": "rule-based filtering",
    "execution": "execution of ground truth and evaluator",
    "judge": "LLM judge",
    "difficulty": "difficulty curation",
}
SELECTED_ON_OUTCOMES = (
    "The outcomes behind agreement and separability also selected these tasks: leaving out what nearly all models "
    "solve lowers the agreement by construction."
)
SEPARABILITY_DRAWS = 200
"""Random subsets behind the null of the separability, each with a bootstrap of its own."""


class StageStatistics:
    """The statistics of a split that need the initial benchmark as their null.

    Args:
        tasks: all task ids, in the benchmark's order.
        prompts: one text per task.
        matrix: scores of the comparable models on all tasks, or why there are none.
        clusters: cluster by task id; None for independent tasks.
        settings: parameters.
    """

    def __init__(
        self,
        tasks: Sequence[str],
        prompts: Sequence[str],
        matrix: ScoreMatrix | Undefined,
        clusters: Mapping[str, str] | None,
        settings: AnalysisSettings,
    ) -> None:
        self._place = {task: i for i, task in enumerate(tasks)}
        self._prompts = PromptSpace(prompts, settings.embedder)
        self._matrix = matrix if isinstance(matrix, Undefined) else matrix.complete_tasks()
        self._clusters = clusters
        self._settings = settings

    def separability(self, matrix: ScoreMatrix) -> Result:
        """Separability of any matrix over tasks of the benchmark."""
        clusters = None if self._clusters is None else [self._clusters[task] for task in matrix.tasks]
        return separability(
            matrix,
            level=self._settings.level,
            resamples=self._settings.resamples,
            seed=self._settings.seed,
            clusters=clusters,
        )

    def of_split(self, kept: Collection[str]) -> tuple[Measure, ...]:
        """Compute every measure of a split.

        Args:
            kept: ids of its tasks.

        Returns:
            agreement, agreement_corrected, separability, diversity, nearest_neighbour.
        """
        draws = self._settings.draws
        scores: list[tuple[str, str, str, Callable[[ScoreMatrix], Result], int]] = [
            ("agreement", "Model agreement", "share", model_agreement, draws),
            ("agreement_corrected", "Chance-corrected agreement", "agreement", chance_corrected_agreement, draws),
            ("separability", "Separability with confidence", "%", self.separability, SEPARABILITY_DRAWS),
        ]
        measures = [self._of_scores(*row, kept) for row in scores]
        positions = np.sort(np.array([self._place[task] for task in kept], dtype=np.intp))
        everything = np.arange(len(self._place))
        space, seed = self._prompts, self._settings.seed
        for name, title, statistic, null in (
            ("diversity", "Diversity (mean pairwise distance of prompts)", space.pairwise, space.pairwise_null),
            ("nearest_neighbour", "Distance to the nearest prompt", space.nearest, space.nearest_null),
        ):
            observed = statistic(positions) if len(positions) else undefined("no task is left", 0, "tasks")
            band = null(len(positions), draws, seed) if len(positions) else undefined("no task is left", 0, "tasks")
            measures.append(measure(name, title, "distance", observed, band, statistic(everything)))
        return tuple(measures)

    def _of_scores(
        self,
        name: str,
        title: str,
        unit: str,
        statistic: Callable[[ScoreMatrix], Result],
        draws: int,
        kept: Collection[str],
    ) -> Measure:
        if isinstance(self._matrix, Undefined):
            return measure(name, title, unit, self._matrix, self._matrix, self._matrix)
        here = self._matrix.keep(set(kept) & set(self._matrix.tasks))
        null: NullDistribution | Undefined = undefined("no task is left", 0, "tasks")
        if here.tasks:
            null = matrix_null(self._matrix, statistic, keep=len(here.tasks), draws=draws, seed=self._settings.seed)
        return measure(name, title, unit, statistic(here), null, statistic(self._matrix))


def stage_table(
    categories: Mapping[str, str],
    left: Mapping[StageName, Collection[str] | str],
    statistics: StageStatistics,
) -> tuple[Stage, ...]:
    """Fill the table.

    Args:
        categories: category by task id, for all tasks.
        left: for each stage in order, the ids that it leaves, or the reason why it was not run.
        statistics: computes the measures.

    Returns:
        One row per stage.
    """
    rows, before = [], set(categories)
    for name, tasks in left.items():
        if isinstance(tasks, str):
            why = undefined(f"the stage was not run: {tasks}")
            rows.append(
                Stage(
                    name=name,
                    title=STAGES[name],
                    ran=False,
                    reason=f"not run: {tasks}",
                    from_original=why,
                    from_previous=why,
                    macro_compression=why,
                )
            )
            continue
        kept = set(tasks)
        rows.append(
            Stage(
                name=name,
                title=STAGES[name],
                ran=True,
                note=SELECTED_ON_OUTCOMES if name == "difficulty" else "",
                split_id=split_id(kept),
                n=len(kept),
                removed=len(before) - len(kept),
                from_original=compression(len(kept), len(categories)),
                from_previous=compression(len(kept), len(before)) if rows else undefined("no stage comes before it"),
                macro_compression=_macro(categories, kept),
                measures=statistics.of_split([task for task in categories if task in kept]),
            )
        )
        before = kept
    return tuple(rows)


def _macro(categories: Mapping[str, str], kept: set[str]) -> Result:
    sizes: dict[str, tuple[int, int]] = {}
    for task, category in categories.items():
        left, there = sizes.get(category, (0, 0))
        sizes[category] = left + (task in kept), there + 1
    result = macro_compression(sizes)
    if isinstance(result, Undefined):
        return result
    return result.model_copy(update={"unit": "categories", "method": "mean over categories of 1 − kept / original"})
