"""The stage table of the audit paper: what each stage of the cleaning leaves, and how the statistics change."""

from collections.abc import Callable, Collection, Mapping
from typing import Literal

import numpy as np

from agenthard.audit.statistics import (
    PromptSpace,
    Result,
    ScoreMatrix,
    Undefined,
    chance_corrected_agreement,
    compression,
    macro_compression,
    model_agreement,
    separability,
)
from agenthard.audit.statistics.result import undefined
from agenthard.audit.statistics.score_nulls import Null, agreement_nulls, separability_null
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.measures import Measure, measure
from agenthard.reports.cleaning.splits import split_id
from agenthard.taxonomy.record import Record

StageName = Literal["initial", "rules", "execution", "judge", "difficulty"]


class Stage(Record):
    """One row of the stage table."""

    name: StageName
    """Which stage."""
    title: str
    """Name for people."""
    ran: bool
    """Whether the stage was run; a stage that was not has a reason, and no numbers of its own."""
    reason: str = ""
    """Why the stage was not run; empty when it was."""
    note: str = ""
    """What a reader must know about its numbers; empty when nothing."""
    split_id: str | None = None
    """Id of what the stage leaves; None when it was not run."""
    n: int | None = None
    """Tasks that the stage leaves; None when it was not run."""
    removed: int | None = None
    """Tasks that the stage removes; None when it was not run."""
    from_original: Result
    """Compression against the initial benchmark: 1 − n / n of the first stage."""
    from_previous: Result
    """Compression against the stage that ran before; undefined for the first stage."""
    macro_compression: Result
    """Mean over categories of the compression against the initial benchmark (``from_original`` is the pooled one)."""
    measures: tuple[Measure, ...] = ()
    """agreement, agreement_corrected, separability (%), diversity and nearest_neighbour (cosine distances of prompts),
    each against the original and against random subsets of equal size. Empty when the stage was not run; the first
    three are undefined, with the reason, without runs of models."""


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


class ScoreStatistics:
    """Agreement and separability of a split, each against the initial benchmark and random subsets of equal size.

    Args:
        matrix: scores of the comparable models on all tasks, or why there are none.
        clusters: cluster by task id; None for independent tasks.
        settings: parameters.
    """

    def __init__(
        self, matrix: ScoreMatrix | Undefined, clusters: Mapping[str, str] | None, settings: AnalysisSettings
    ) -> None:
        self._matrix = matrix if isinstance(matrix, Undefined) else matrix.complete_tasks()
        self._clusters = clusters
        self._settings = settings

    def of_split(self, kept: Collection[str]) -> tuple[Measure, ...]:
        """Compute agreement, agreement_corrected and separability on these tasks."""
        matrix, settings = self._matrix, self._settings
        agreement: Null = matrix if isinstance(matrix, Undefined) else undefined("no task is left", 0, "tasks")
        corrected = separable = agreement
        here = matrix if isinstance(matrix, Undefined) else matrix.keep(set(kept) & set(matrix.tasks))
        if not isinstance(matrix, Undefined) and not isinstance(here, Undefined) and here.tasks:
            n = len(here.tasks)
            agreement, corrected = agreement_nulls(matrix, keep=n, draws=settings.draws, seed=settings.seed)
            separable = separability_null(
                matrix,
                keep=n,
                draws=SEPARABILITY_DRAWS,
                seed=settings.seed,
                level=settings.level,
                resamples=settings.resamples,
                clusters=self._clusters,
            )

        def row(name: str, title: str, unit: str, statistic: Callable[[ScoreMatrix], Result], null: Null) -> Measure:
            observed, original = (part if isinstance(part, Undefined) else statistic(part) for part in (here, matrix))
            return measure(name, title, unit, observed, null, original)

        return (
            row("agreement", "Model agreement", "share", model_agreement, agreement),
            row(
                "agreement_corrected",
                "Chance-corrected agreement",
                "agreement",
                chance_corrected_agreement,
                corrected,
            ),
            row("separability", "Separability with confidence", "%", self._separability, separable),
        )

    def _separability(self, matrix: ScoreMatrix) -> Result:
        clusters = None if self._clusters is None else [self._clusters[task] for task in matrix.tasks]
        return separability(
            matrix,
            level=self._settings.level,
            resamples=self._settings.resamples,
            seed=self._settings.seed,
            clusters=clusters,
        )


class PromptStatistics:
    """How much the prompts of a split differ, against the initial benchmark and random subsets of equal size.

    Args:
        prompts: prompt by task id, for all tasks in the benchmark's order.
        settings: embedder, draws and seed.
    """

    def __init__(self, prompts: Mapping[str, str], settings: AnalysisSettings) -> None:
        self._place = {task: i for i, task in enumerate(prompts)}
        self._space = PromptSpace(list(prompts.values()), settings.embedder)
        self._settings = settings

    def of_split(self, kept: Collection[str]) -> tuple[Measure, ...]:
        """Compute diversity and nearest_neighbour on these tasks."""
        positions = np.sort(np.array([self._place[task] for task in kept], dtype=np.intp))
        everything = np.arange(len(self._place))
        space, draws, seed = self._space, self._settings.draws, self._settings.seed
        measures = []
        for name, title, statistic, null in (
            ("diversity", "Diversity (mean pairwise distance of prompts)", space.pairwise, space.pairwise_null),
            ("nearest_neighbour", "Distance to the nearest prompt", space.nearest, space.nearest_null),
        ):
            observed = statistic(positions) if len(positions) else undefined("no task is left", 0, "tasks")
            band = null(len(positions), draws, seed) if len(positions) else undefined("no task is left", 0, "tasks")
            measures.append(measure(name, title, "distance", observed, band, statistic(everything)))
        return tuple(measures)


def stage_table(
    categories: Mapping[str, str],
    left: Mapping[StageName, Collection[str] | str],
    scores: ScoreStatistics,
    prompts: PromptStatistics,
) -> tuple[Stage, ...]:
    """Fill the table.

    Args:
        categories: category by task id, for all tasks.
        left: for each stage in order, the ids that it leaves, or the reason why it was not run.
        scores: measures of scores.
        prompts: measures of prompts.

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
        ordered = [task for task in categories if task in kept]
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
                measures=(*scores.of_split(ordered), *prompts.of_split(ordered)),
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
