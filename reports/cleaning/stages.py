"""The stage table of the audit paper: what each stage of the cleaning leaves, and how the statistics change."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
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
from agenthard.audit.statistics.nulls import why_no_null
from agenthard.audit.statistics.rank_nulls import named
from agenthard.audit.statistics.result import undefined
from agenthard.audit.statistics.score_nulls import Null, agreement_nulls, separability_null
from agenthard.audit.statistics.subsets import matching_subsets
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.measures import Measure, judged, measure
from agenthard.reports.cleaning.splits import split_id
from agenthard.reports.cleaning.stability import SELECTED, Groups
from agenthard.taxonomy.record import Record

StageName = Literal["initial", "rules", "execution", "judge", "people", "difficulty"]


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
    """Tasks that the stage removes, below 0 where people put tasks back; None when it was not run."""
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
    "people": "verdicts of people",
    "difficulty": "difficulty curation",
}
SELECTED_ON_OUTCOMES = (
    "The outcomes behind agreement and separability also selected these tasks: leaving out what nearly all models "
    "solve lowers the agreement by construction."
)


class ScoreStatistics:
    """Agreement and separability of a split, each against the initial benchmark and random subsets of equal size.

    Args:
        matrix: scores of the comparable models on all tasks, or why there are none.
        groups: clusters and domains of tasks.
        settings: parameters.
    """

    def __init__(self, matrix: ScoreMatrix | Undefined, groups: Groups, settings: AnalysisSettings) -> None:
        self._matrix = matrix if isinstance(matrix, Undefined) else matrix.complete_tasks()
        self._groups = groups
        self._settings = settings

    def of_split(self, kept: Collection[str], *, selected: bool = False) -> tuple[Measure, ...]:
        """Compute agreement, agreement_corrected and separability on these tasks.

        Args:
            kept: the tasks.
            selected: whether these outcomes selected them, so that deleting random tasks is not a null.
        """
        matrix = self._matrix
        here = matrix if isinstance(matrix, Undefined) else matrix.keep(set(kept) & set(matrix.tasks))
        if isinstance(matrix, Undefined) or isinstance(here, Undefined):
            assert isinstance(matrix, Undefined)
            nulls: tuple[Null, Null, Null] = matrix, matrix, matrix
        else:
            nulls = self._nulls(matrix, here, selected)

        def row(name: str, title: str, unit: str, statistic: Callable[[ScoreMatrix], Result], null: Null) -> Measure:
            observed, original = (part if isinstance(part, Undefined) else statistic(part) for part in (here, matrix))
            return measure(name, title, unit, observed, null, original)

        return (
            row("agreement", "Model agreement", "share", model_agreement, nulls[0]),
            row("agreement_corrected", "Chance-corrected agreement", "agreement", chance_corrected_agreement, nulls[1]),
            row("separability", "Separability with confidence", "%", self._separability, nulls[2]),
        )

    def _nulls(self, matrix: ScoreMatrix, here: ScoreMatrix, selected: bool) -> tuple[Null, Null, Null]:
        settings, n = self._settings, len(here.tasks)
        reason = SELECTED if selected else why_no_null(len(matrix.tasks), n, settings.draws)
        if reason:
            why = undefined(reason, n, "tasks")
            return why, why, why
        left, clusters = set(here.tasks), named(matrix.tasks, self._groups.clusters)
        subsets = matching_subsets(
            np.array([task in left for task in matrix.tasks]),
            clusters=clusters,
            strata=named(matrix.tasks, self._groups.strata),
            draws=settings.draws,
            seed=settings.seed,
        )
        separable = separability_null(
            matrix,
            subsets,
            level=settings.level,
            resamples=settings.resamples,
            seed=settings.seed,
            clusters=clusters,
        )
        return (*agreement_nulls(matrix, subsets), separable)

    def _separability(self, matrix: ScoreMatrix) -> Result:
        return separability(
            matrix,
            level=self._settings.level,
            resamples=self._settings.resamples,
            seed=self._settings.seed,
            clusters=named(matrix.tasks, self._groups.clusters),
        )


class PromptStatistics:
    """How much the prompts of a split differ, against the initial benchmark and random subsets of equal size.

    Args:
        prompts: prompt by task id, for all tasks in the benchmark's order.
        groups: clusters and domains of tasks.
        settings: embedder, draws and seed.
        vectors: file that keeps the vectors of a model; None keeps none.
    """

    def __init__(
        self, prompts: Mapping[str, str], groups: Groups, settings: AnalysisSettings, vectors: Path | None = None
    ) -> None:
        self._tasks = tuple(prompts)
        self._space = PromptSpace(list(prompts.values()), settings.embedder, vectors)
        self._groups = groups
        self._settings = settings

    def of_split(self, kept: Collection[str]) -> tuple[Measure, ...]:
        """Compute diversity and nearest_neighbour on these tasks."""
        there = set(kept)
        holds = np.array([task in there for task in self._tasks], dtype=np.bool_)
        positions, everything = np.flatnonzero(holds), np.arange(len(self._tasks))
        space, settings = self._space, self._settings
        reason = why_no_null(len(everything), len(positions), settings.draws)
        subsets = None
        if not reason:
            subsets = matching_subsets(
                holds,
                clusters=named(self._tasks, self._groups.clusters),
                strata=named(self._tasks, self._groups.strata),
                draws=settings.draws,
                seed=settings.seed,
            )
        measures = []
        for name, title, statistic, null in (
            ("diversity", "Diversity (mean pairwise distance of prompts)", space.pairwise, space.pairwise_null),
            ("nearest_neighbour", "Distance to the nearest prompt", space.nearest, space.nearest_null),
        ):
            observed = statistic(positions) if len(positions) else undefined("no task is left", 0, "tasks")
            band = undefined(reason or "no task is left", 0, "tasks") if subsets is None else null(subsets)
            measures.append(measure(name, title, "distance", observed, band, statistic(everything)))
        return tuple(measures)


def stage_table(
    categories: Mapping[str, str],
    left: Mapping[StageName, Collection[str] | str],
    scores: ScoreStatistics,
    prompts: PromptStatistics,
    alpha: float = 0.05,
    notes: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Stage, ...]:
    """Fill the table.

    Args:
        categories: category by task id, for all tasks.
        left: for each stage in order, the ids that it leaves, or the reason why it was not run.
        scores: measures of scores.
        prompts: measures of prompts.
        alpha: family-wise error rate of the figures of one stage.
        notes: what a reader must know about a stage, by its name.

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
                note=SELECTED_ON_OUTCOMES if name == "difficulty" else notes.get(name, ""),
                split_id=split_id(kept),
                n=len(kept),
                removed=len(before) - len(kept),
                from_original=compression(len(kept), len(categories)),
                from_previous=_from_previous(kept, before) if rows else undefined("no stage comes before it"),
                macro_compression=_macro(categories, kept),
                measures=judged(
                    (*scores.of_split(ordered, selected=name == "difficulty"), *prompts.of_split(ordered)), alpha
                ),
            )
        )
        before = kept
    return tuple(rows)


def _from_previous(kept: set[str], before: set[str]) -> Result:
    if kept - before:
        return undefined(f"it puts {len(kept - before)} task(s) back", len(kept), "tasks")
    return compression(len(kept), len(before))


def _macro(categories: Mapping[str, str], kept: set[str]) -> Result:
    sizes: dict[str, tuple[int, int]] = {}
    for task, category in categories.items():
        left, there = sizes.get(category, (0, 0))
        sizes[category] = left + (task in kept), there + 1
    result = macro_compression(sizes)
    if isinstance(result, Undefined):
        return result
    return result.model_copy(update={"unit": "categories", "method": "mean over categories of 1 − kept / original"})
