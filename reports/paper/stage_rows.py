"""Tables 10 to 15: what each stage leaves, and what it does to agreement, separability and diversity."""

from collections.abc import Sequence
from typing import Any

from agenthard.audit.statistics import (
    Estimate,
    NullBand,
    Result,
    Undefined,
    arena_hard_separability,
)
from agenthard.reports.cleaning.measures import Measure
from agenthard.reports.cleaning.stages import Stage
from agenthard.reports.paper.material import RunMaterial
from agenthard.reports.paper.record import PaperTable

MEASURES = ("agreement", "agreement_corrected", "separability", "diversity", "nearest_neighbour")


def plain(name: str, result: Result | None) -> dict[str, Any]:
    """Spread a result over a column with its number and one with the reason why there is none."""
    return {
        name: result.value if isinstance(result, Estimate) else None,
        f"{name}_why": result.reason if isinstance(result, Undefined) else None,
    }


def stage_tables(runs: Sequence[RunMaterial]) -> tuple[PaperTable, ...]:
    """Lay out the stages of every audit, one table each.

    Args:
        runs: the audits.
    """
    return tuple(_table(run) for run in runs)


def _table(run: RunMaterial) -> PaperTable:
    left = run.left_by_stage()
    rows = [_row(run, stage, left.get(stage.name)) for stage in run.analysis.stages]
    tau = run.found.audit.source == "tau-bench"
    notes = [f"{stage.title}: {stage.note}" for stage in run.analysis.stages if stage.note]
    return PaperTable(
        name=f"stages-{run.name}",
        paper="Table 10" if tau else "one of Tables 11–15",
        ours="report.html, Stages; tables/stages.csv and tables/stage_measures.csv",
        title=f"{run.found.title} ({run.name}): stage-wise rows",
        note=" ".join(
            [
                "Every row is decided again from the findings of its stage and of those before it. Agreement and",
                "separability are on tasks with a verdict of every compared model; separability is exact at 95 %, next",
                "to the parity mode of Arena-Hard's code (90 %, 100 unpaired rounds). The null of each figure is that",
                "of random subsets of equal size. Tasks to review stay until a person decides; the paper's pipeline",
                "drops what its judge flags.",
                *notes,
            ]
        ),
        rows=tuple(rows),
    )


def _row(run: RunMaterial, stage: Stage, left: Sequence[str] | None) -> dict[str, Any]:
    review: dict[str, int] = {each.stage: each.review for each in run.found.stages if each.kept is not None}
    row: dict[str, Any] = {
        "stage": stage.title,
        "ran": stage.ran,
        "why_not": stage.reason or None,
        "split_id": stage.split_id,
        "tasks": stage.n,
        "removed": stage.removed,
        "to_review": review.get(stage.name),
        **plain("compression", stage.from_original),
        **plain("compression_in_stage", stage.from_previous),
    }
    measures = {measure.id: measure for measure in stage.measures}
    for name in MEASURES:
        row |= _measure(name, measures.get(name))
        if name == "separability":
            row |= plain("separability_arena_hard", _parity(run, left))
    return row


def _measure(name: str, measure: Measure | None) -> dict[str, Any]:
    null = measure.null if measure and isinstance(measure.null, NullBand) else None
    return {
        **plain(name, measure.observed if measure else None),
        f"{name}_random_low": null.low if null else None,
        f"{name}_random_high": null.high if null else None,
        f"{name}_verdict": measure.verdict if measure else None,
    }


def _parity(run: RunMaterial, left: Sequence[str] | None) -> Result | None:
    if left is None or isinstance(run.runs, Undefined):
        return None
    complete = run.runs.missing.complete_tasks()
    part = complete.keep(set(left) & set(complete.tasks))
    return arena_hard_separability(part, seed=run.analysis.provenance.seed)
