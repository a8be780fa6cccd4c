"""Models whose runs are partly missing: scores on own, common and all tasks; whether hard tasks are missing."""

from agenthard.audit.statistics import Estimate, MissingOutcomes, Result, ScoreMatrix, Undefined, missing_outcomes
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.splits import Split, SplitName
from agenthard.reports.kit.text import amount, plural, result_text
from agenthard.taxonomy.record import Record

MISSING_COLUMNS = (
    "model",
    "scored",
    "own tasks",
    "common tasks",
    "modelled, all tasks",
    "if missing fail–pass",
    "misses",
)


class SplitMissing(Record):
    """Missing outcomes on one split, for all models of the experiment, the ones that are not comparable included."""

    split: SplitName
    """Which split."""
    split_id: str
    """Its id."""
    found: MissingOutcomes | Undefined
    """Scores and the pattern of missing cells; undefined where nothing is missing."""
    sentence: str
    """How much is missing, where, and what no figure can tell."""


def split_missing(split: Split, matrix: ScoreMatrix, settings: AnalysisSettings) -> SplitMissing:
    """Describe what is missing on a split.

    Args:
        split: which split.
        matrix: scores of all models of the experiment on it.
        settings: level, draws and seed.
    """
    found = missing_outcomes(matrix, level=settings.level, draws=settings.draws, seed=settings.seed)
    return SplitMissing(
        split=split.name, split_id=split.split_id, found=found, sentence=_sentence(found, 1 - settings.level)
    )


def _sentence(found: MissingOutcomes | Undefined, alpha: float) -> str:
    if isinstance(found, Undefined):
        return f"Scores for missing runs are {found.reason}."
    worst = max(found.models, key=lambda row: row.of - row.scored)
    partly = sum(row.scored < row.of for row in found.models)
    text = (
        f"{amount(found.missing / found.of, 'share')} of the scores are missing ({found.missing:,} of {found.of:,}, in "
        f"{plural(partly, 'model')}; most in {worst.model}, which has {worst.scored:,} of {worst.of:,}); every model "
        f"has a score on {found.complete:,} of {found.tasks:,} tasks"
    )
    if isinstance(found.harder, Estimate) and found.p is not None:
        gap = found.harder.value
        side = "harder" if gap > 0 else "easier"
        if found.p.high <= alpha:
            text += (
                f". Not missing at random: their tasks are {side} than the average, by {100 * abs(gap):.1f} points of "
                f"the other models' scores (p ≤ {alpha:.2g}), so scores on own tasks do not compare"
            )
        else:
            text += ". Their tasks are not shown to be harder or easier than the others"
    return (
        f"{text}. The modelled score takes runs as missing at random given the outcomes of the task; if they are "
        "missing because they would have failed, only the bounds hold."
    )


def missing_cells(found: MissingOutcomes) -> list[tuple[str, ...]]:
    """Write the rows of models that miss something, in the order of ``MISSING_COLUMNS``."""
    return [
        (
            row.model,
            f"{row.scored:,}/{row.of:,}",
            *(_short(each) for each in (row.available, row.complete)),
            result_text(row.modelled, "share"),
            f"{100 * row.least:.1f}–{100 * row.most:.1f} %",
            _misses(row.easier),
        )
        for row in found.models
        if row.scored < row.of
    ]


def _short(result: Result) -> str:
    return amount(result.value, "share") if isinstance(result, Estimate) else "–"


def _misses(easier: Result) -> str:
    if isinstance(easier, Undefined):
        return "–"
    side = "easier" if easier.value > 0 else "harder"
    return f"{side} tasks ({100 * abs(easier.value):.1f} points)"
