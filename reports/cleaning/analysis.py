"""The cleaning analysis: from tasks, decisions, findings and runs to the record behind the report."""

from collections.abc import Collection, Sequence

from agenthard.audit.statistics import Undefined
from agenthard.audit.statistics.resampling import one_thread
from agenthard.audit.statistics.result import PREFIX
from agenthard.reports.cleaning.difficulty import HardSplit, select_hard_split
from agenthard.reports.cleaning.figure_data import component_shares
from agenthard.reports.cleaning.information import information_curves
from agenthard.reports.cleaning.inputs import AnalysisSettings, CleaningInput
from agenthard.reports.cleaning.models import ModelsPart, analyse_models
from agenthard.reports.cleaning.record import GLOSSARY, CleaningAnalysis, Headline, Provenance, TopFinding
from agenthard.reports.cleaning.runs import ChosenRuns, choose_runs, require_comparable
from agenthard.reports.cleaning.splits import Split, SplitName, describe_split, retention_of
from agenthard.reports.cleaning.stability import Groups, RankingStability
from agenthard.reports.cleaning.stages import PromptStatistics, ScoreStatistics, StageName, stage_table
from agenthard.reports.cleaning.unseen import UnseenModels, judge_on_unseen
from agenthard.taxonomy.finding import Severity, Tier

UNKNOWN_STAGES = "its findings are not known apart from those of the rules, and the row of rules holds both"


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
        AnalysisError: when the experiment does not exist.
    """
    with one_thread():  # small products, for which waking a second thread costs more than it saves
        return _analysed(found, settings or AnalysisSettings(), experiment)


def _analysed(found: CleaningInput, settings: AnalysisSettings, experiment: str | None) -> CleaningAnalysis:
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
        **_decided_stages(found, kept),
        "difficulty": hard.reason.removeprefix(PREFIX) if isinstance(hard, Undefined) else hard.record.selected,
    }
    matrix = runs if isinstance(runs, Undefined) else runs.missing
    groups = Groups(found.clusters, found.categories)
    stages = stage_table(  # before the headline, which has what the vectors of the prompts cost
        found.categories,
        left,
        ScoreStatistics(matrix, groups, settings),
        PromptStatistics({task.id: task.prompt for task in found.tasks}, groups, settings, found.vectors),
        1 - settings.level,
        notes={each.stage: each.note for each in found.stages},
    )
    return CleaningAnalysis(
        title=found.title,
        headline=headline(found, splits, runs if isinstance(runs, Undefined) else part.stability),
        ledger=tuple(found.ledger),
        runs=chosen if isinstance(chosen, Undefined) else chosen.used,
        splits=splits,
        hard=hard if isinstance(hard, Undefined) else hard.record,
        unseen=_unseen(found, kept, hard, runs, settings),
        information=matrix
        if isinstance(matrix, Undefined)
        else information_curves(matrix, splits, settings.difficulty),
        stages=stages,
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
        missing=part.missing,
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


def _decided_stages(found: CleaningInput, kept: Sequence[str]) -> dict[StageName, Collection[str] | str]:
    """Return what each deciding stage leaves, or why it checked nothing."""
    if not found.stages:
        return {"rules": kept, "execution": UNKNOWN_STAGES, "judge": UNKNOWN_STAGES}
    return {each.stage: each.reason if each.kept is None else each.kept for each in found.stages}


def _hard(
    found: CleaningInput, kept: Sequence[str], runs: ChosenRuns | Undefined, settings: AnalysisSettings
) -> HardSplit | Undefined:
    if isinstance(runs, Undefined):
        return runs
    categories = {task: found.categories[task] for task in kept}
    return select_hard_split(categories, runs.missing.keep(kept), settings.difficulty)


def _unseen(
    found: CleaningInput,
    kept: Sequence[str],
    hard: HardSplit | Undefined,
    runs: ChosenRuns | Undefined,
    settings: AnalysisSettings,
) -> UnseenModels | Undefined:
    if isinstance(runs, Undefined):
        return runs
    if isinstance(hard, Undefined):
        return hard
    categories = {task: found.categories[task] for task in kept}
    return judge_on_unseen(categories, runs.missing.keep(kept), found.clusters, settings)


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


TOP = 3
_SEVERITY = list(Severity)
_TIER = list(Tier)


def headline(
    found: CleaningInput, splits: tuple[Split, ...], stability: tuple[RankingStability, ...] | Undefined
) -> Headline:
    """Summarise the outcome.

    Args:
        found: tasks, decisions and findings.
        splits: the splits there are.
        stability: ranking stability, the default reading first; or why no model can be compared.

    Returns:
        The headline.
    """
    counted = [finding for finding in found.findings if finding.tier is not Tier.SIGNAL]
    fresh = None if found.known is None else [finding for finding in counted if finding.id not in found.known]
    ordered = sorted(
        counted,
        key=lambda f: (
            found.known is not None and f.id in found.known,
            _TIER.index(f.tier),
            _SEVERITY.index(f.severity),
            -len(f.task_ids),
            f.id,
        ),
    )
    review = len(found.with_action("review"))
    return Headline(
        sentence=_sentence(found, splits, stability, review),
        checked=found.checked,
        tasks=len(found.tasks),
        flagged=len(found.flagged),
        new=None if fresh is None else len(fresh),
        undecided=review,
        cost=found.spent(),
        top=tuple(
            TopFinding(
                id=finding.id,
                category=finding.category,
                tier=finding.tier.value,
                severity=finding.severity.value,
                claim=finding.claim,
                task_id=finding.task_ids[0] if finding.task_ids else "",
                tasks=len(finding.task_ids),
            )
            for finding in ordered[:TOP]
        ),
    )


def _sentence(
    found: CleaningInput, splits: tuple[Split, ...], stability: tuple[RankingStability, ...] | Undefined, review: int
) -> str:
    dropped = len(found.with_action("drop"))
    cleaned = next(split for split in splits if split.name == "cleaned")
    text = (
        f"AgentHard checked {found.checked:,} of {len(found.tasks):,} tasks of {found.title} and flagged "
        f"{len(found.flagged):,}; the issue-cleaned split leaves out {dropped:,} and keeps {cleaned.n:,}, of which "
        f"{review:,} wait for a person"
    )
    if isinstance(stability, Undefined):
        return f"{text}. What that does to a leaderboard is {stability.reason}."
    return " ".join([f"{text}.", *(row.sentence for row in stability[:1])])
