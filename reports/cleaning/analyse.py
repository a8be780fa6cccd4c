"""The analysis: from tasks, decisions, findings and runs to everything that the report says about a leaderboard."""

from collections.abc import Collection, Sequence

from agenthard.audit.statistics import Undefined
from agenthard.audit.statistics.result import PREFIX
from agenthard.reports.cleaning.analysis import CleaningAnalysis, Provenance
from agenthard.reports.cleaning.choice import ChosenRuns, choose_runs, require_comparable
from agenthard.reports.cleaning.components import component_shares
from agenthard.reports.cleaning.glossary import GLOSSARY
from agenthard.reports.cleaning.hard import HardSplit, select_hard_split
from agenthard.reports.cleaning.headline import headline
from agenthard.reports.cleaning.inputs import AnalysisSettings, CleaningInput
from agenthard.reports.cleaning.models_part import ModelsPart, analyse_models
from agenthard.reports.cleaning.panels import retention_of
from agenthard.reports.cleaning.splits import Split, SplitName, describe_split
from agenthard.reports.cleaning.stage_table import PromptStatistics, ScoreStatistics, stage_table
from agenthard.reports.cleaning.stages import StageName

TOGETHER = "by itself; its findings are decided together with those of the rules, and the row of rules holds both"


def analyse(
    found: CleaningInput, settings: AnalysisSettings | None = None, experiment: str | None = None
) -> CleaningAnalysis:
    """Analyse what cleaning does.

    Args:
        found: tasks, decisions, findings, runs.
        settings: parameters; the defaults when None.
        experiment: which runs; None = those of the experiment with most comparable models.

    Returns:
        The analysis. Without a comparable model everything about models is undefined with its reason, and the rest is
        there.

    Raises:
        AnalysisError: when there is no such experiment.
    """
    settings = settings or AnalysisSettings()
    chosen = choose_runs(
        found.experiments,
        found.categories,
        experiment,
        clustered=found.clusters is not None,
        min_verdicts=settings.min_verdicts,
    )
    runs = require_comparable(chosen, found.experiments, found.categories)
    kept = found.with_action("keep", "unchecked", "review")
    hard = _hard(found, kept, runs, settings)
    splits = _splits(found, kept, hard, runs)
    part = (
        ModelsPart.without_runs(runs)
        if isinstance(runs, Undefined)
        else analyse_models(found, runs, splits, hard, settings)
    )
    left: dict[StageName, Collection[str] | str] = {
        "initial": splits[0].task_ids,
        "rules": kept,
        "execution": TOGETHER,
        "judge": TOGETHER,
        "difficulty": hard.reason.removeprefix(PREFIX) if isinstance(hard, Undefined) else hard.record.selected,
    }
    matrix = runs if isinstance(runs, Undefined) else runs.missing
    return CleaningAnalysis(
        title=found.title,
        headline=headline(found, splits, runs if isinstance(runs, Undefined) else part.stability),
        ledger=tuple(found.ledger),
        runs=chosen if isinstance(chosen, Undefined) else chosen.used,
        splits=splits,
        hard=hard if isinstance(hard, Undefined) else hard.record,
        stages=stage_table(
            found.categories,
            left,
            ScoreStatistics(matrix, found.clusters, settings),
            PromptStatistics({task.id: task.prompt for task in found.tasks}, settings),
        ),
        leaderboards=part.leaderboards,
        stability=part.stability,
        retention=tuple(
            retention_of(split, found.categories, settings.difficulty.min_category_share) for split in splits[1:]
        ),
        undecided=part.undecided,
        agreement=part.agreement,
        separability_curve=part.separability_curve,
        components=component_shares(found.findings, found.components),
        items=part.items,
        provenance=Provenance(
            **found.audit.model_dump(),
            seed=settings.seed,
            draws=settings.draws,
            resamples=settings.resamples,
            level=settings.level,
            difficulty=settings.difficulty,
            min_verdicts=settings.min_verdicts,
            embedder=settings.embedder,
        ),
        glossary=GLOSSARY,
    )


def _hard(
    found: CleaningInput, kept: Sequence[str], runs: ChosenRuns | Undefined, settings: AnalysisSettings
) -> HardSplit | Undefined:
    if isinstance(runs, Undefined):
        return runs
    categories = {task: found.categories[task] for task in kept}
    return select_hard_split(categories, runs.missing.keep(kept), settings.difficulty)


def _splits(
    found: CleaningInput, kept: tuple[str, ...], hard: HardSplit | Undefined, runs: ChosenRuns | Undefined
) -> tuple[Split, ...]:
    review = set(found.with_action("review"))

    def split(name: SplitName, tasks: Sequence[str]) -> Split:
        return describe_split(
            name,
            tasks,
            review=len(review.intersection(tasks)),
            initial=len(found.tasks),
            matrix=runs if isinstance(runs, Undefined) else runs.missing.keep(tasks),
        )

    initial, cleaned = split("initial", tuple(found.categories)), split("cleaned", kept)
    if isinstance(hard, Undefined):
        return initial, cleaned
    return initial, cleaned, split("hard", hard.record.selected)
