"""The one record behind the cleaning report, its JSON twin, its tables and its figures, with its glossary."""

from agenthard.audit.decisions.difficulty import DifficultyRule
from agenthard.audit.statistics import Undefined
from agenthard.reports.cleaning.difficulty import HardSelection
from agenthard.reports.cleaning.figure_data import AgreementMap, ComponentShare, ItemMap, SeparabilityCurve
from agenthard.reports.cleaning.information import InformationCurves
from agenthard.reports.cleaning.inputs import AuditIdentity, LedgerEntry
from agenthard.reports.cleaning.leaderboard import Board
from agenthard.reports.cleaning.missing import SplitMissing
from agenthard.reports.cleaning.runs import RunsUsed
from agenthard.reports.cleaning.splits import Retention, Split, Undecided
from agenthard.reports.cleaning.stability import RankingStability
from agenthard.reports.cleaning.stages import Stage
from agenthard.reports.cleaning.unseen import UnseenModels
from agenthard.taxonomy.record import Record


class TopFinding(Record):
    """One of the findings to look at first."""

    id: str
    """Finding id, as in findings.json."""
    category: str
    """Category id."""
    tier: str
    """confirmed or suspected."""
    severity: str
    """What the flaw does to the score."""
    claim: str
    """What is wrong, in one sentence (benchmark text: escape it)."""
    task_id: str
    """First task it touches."""
    tasks: int
    """Tasks it touches."""


class Headline(Record):
    """The summary: one sentence, five numbers, three findings."""

    sentence: str
    """What was checked, what was flagged, and whether cleaning moved the ranking more than chance would."""
    checked: int
    """Tasks on which at least one check ran."""
    tasks: int
    """Tasks there are; ``checked`` is "k of N" of these."""
    flagged: int
    """Tasks that a confirmed or suspected finding touches."""
    new: int | None
    """Findings (confirmed or suspected) that are not in the earlier audit; None when none was given to compare with."""
    undecided: int
    """Tasks that wait for a person."""
    cost: float | None
    """US dollars spent on models, by judges and for vectors of prompts, as the ledgers of the run have it; None where
    they were not read, or a reply has no price."""
    top: tuple[TopFinding, ...]
    """Up to three findings, new ones first when an earlier audit was given, then worst severity and surest tier."""


class Provenance(AuditIdentity):
    """Everything that is needed to repeat the numbers."""

    seed: int
    """Seed of every draw."""
    draws: int
    """Random subsets behind every null."""
    resamples: int
    """Bootstrap resamples behind every interval."""
    level: float
    """Coverage of every interval."""
    difficulty: DifficultyRule
    """Parameters of the hard split."""
    min_verdicts: float = 0.8
    """Least share of the tasks on which a compared model has a verdict."""
    embedder: str
    """What turned prompts into vectors for the diversity."""


class Term(Record):
    """One entry of the glossary."""

    term: str
    """Word."""
    sentence: str
    """What it means."""


class CleaningAnalysis(Record):
    """The whole analysis. A number that does not exist is an ``Undefined`` with its reason, never NaN or 0."""

    schema_version: str = "1"
    """Version of this layout."""
    title: str
    """Name of the benchmark for people."""
    headline: Headline
    """Thirty seconds."""
    ledger: tuple[LedgerEntry, ...]
    """What each check did."""
    runs: RunsUsed | Undefined
    """The runs that were used; undefined without runs, and then everything about models is undefined or empty."""
    splits: tuple[Split, ...]
    """initial, cleaned, and hard where one could be selected."""
    hard: HardSelection | Undefined
    """How the hard split was selected, or why there is none."""
    unseen: UnseenModels | Undefined
    """What the hard split, and others to choose from, cost and gain on models that did not select them."""
    information: InformationCurves | Undefined
    """How precisely each split measures models, by ability."""
    stages: tuple[Stage, ...]
    """The paper's stages, in order."""
    leaderboards: tuple[Board, ...]
    """One per split with scores, in the order of ``splits``."""
    stability: tuple[RankingStability, ...]
    """initial → cleaned, cleaned → hard, initial → hard, as far as they exist; then the same with infrastructure errors
    read as failures, when there are any."""
    retention: tuple[Retention, ...]
    """One per split after the initial one."""
    undecided: Undecided | Undefined
    """Score bounds if the undecided tasks count either way."""
    agreement: tuple[AgreementMap, ...]
    """One per split with scores."""
    separability_curve: SeparabilityCurve | Undefined
    """Separability against n."""
    components: tuple[ComponentShare, ...]
    """Shares of the four components among the findings."""
    items: ItemMap | Undefined
    """Difficulty and discrimination of tasks."""
    missing: tuple[SplitMissing, ...] = ()
    """Models whose scores are partly missing, on the initial and the issue-cleaned split; empty where nothing is."""
    provenance: Provenance
    """Versions, hashes, seeds, policy."""
    glossary: tuple[Term, ...]
    """What the words mean."""


GLOSSARY = tuple(
    Term(term=term, sentence=sentence)
    for term, sentence in {
        "initial split": "The benchmark as it was read, without tasks whose record could not be read.",
        "issue-cleaned split": "The initial split without the tasks that the policy drops; tasks under review stay in.",
        "hard split": "The issue-cleaned split without tasks that nearly all models solve and those that all fail.",
        "unseen model": "A model that had no part in selecting the tasks that it is measured on.",
        "χ² per 100 tasks": "(b − c)²/(b + c) − 1 of a pair of models, b and c being the tasks that only one of them "
        "passes: how much each task says about which is better, without the 1 that chance gives.",
        "information": "Fisher information about a model's ability; a standard error is one over its root.",
        "split id": "Hash of the task ids; scores may be compared only under one split id.",
        "under review": "A task with a suspected flaw, or one that was not fully checked, that waits for a person.",
        "comparable model": "A model that attempted at least 80 % of the tasks in the chosen experiment, "
        "with enough verdicts.",
        "infrastructure error": "A run that broke for reasons outside the model; it has no verdict "
        "and is not a failure.",
        "modelled score": "Score on all tasks where runs are missing: each missing run counts with the probability "
        "that a mixed logit gives it from the outcomes of all models on the task.",
        "reliability": "Share of the variance of scores that models would show again on other tasks of this kind "
        "(KR-20, generalizability coefficient); compare it before and after cleaning.",
        "null": "What the same figure does when as many tasks are deleted at random; without it a change means little.",
        "5–95 % band": "The middle 90 % of the null.",
        "p-value": "How often random draws give a figure as extreme; it has an error of its own, and where that "
        "straddles the bound the verdict is undecided.",
        "Holm's correction": "Raises the p-values of the figures of one claim so that all together give at most "
        "5 % false alarms.",
        "model agreement": "Mean share of tasks on which two models are both right or both wrong; low separates more.",
        "chance-corrected agreement": "Agreement between that of independent models (0) and the most possible (1), "
        "because raw agreement moves with the mean score alone.",
        "separability with confidence": "Share of pairs of models whose bootstrap intervals do not even touch.",
        "paired separability": "Share of pairs of models that differ in a paired test after Holm's correction.",
        "tied set": "Neighbouring ranks in which no pair of models differs significantly.",
        "rank interval": "The ranks that the tests of all pairs support: behind the models that are significantly "
        "better, ahead of those that are significantly worse; true for all models together with 95 % confidence.",
        "leads in resamples": "Share of bootstrap resamples of the tasks that the leading model leads, ties in part. "
        "Not the probability that it is the best model.",
        "ranking change rate": "Share of models whose ordinal rank differs; ties keep the initial order.",
        "average rank shift": "Mean of the absolute change of rank over all models.",
        "indistinguishable models": "Models within 0.01 of the first of their group, walking down the ranking (the "
        "audit paper's rule); the threshold means different things for different numbers of tasks.",
        "Kendall τ-b": "Rank correlation of two sets of scores that corrects for ties; 1 is the same order.",
        "minimum detectable difference": "Smallest difference of two models' scores that a split of this size finds "
        "with 95 % confidence in 80 % of cases.",
        "diversity": "Mean cosine distance between the prompts of two tasks.",
        "compression": "Share of tasks that a stage removes.",
        "retention": "Share of a category's tasks that a split keeps.",
        "cross-fitted": "Scored on the tasks that the other models selected, so that no outcome selects its own task.",
        "score bounds": "The lowest and highest score a model can get if the undecided tasks are kept or dropped.",
        "difficulty": "In a 2PL the log-odds that an average model fails the task.",
        "discrimination": "How sharply success rises with ability; below zero, weaker models do better.",
        "Wilson interval": "Interval of a rate that holds for small numbers and for rates of 0 and 1.",
        "clustered standard error": "Standard error that counts variants of one task, or repeated runs of it, as one.",
    }.items()
)


def sampling(analysis: CleaningAnalysis) -> str:
    """Describe how all random numbers of the analysis were drawn."""
    made = analysis.provenance
    return (
        f"Seed {made.seed}; {made.draws:,} random subsets behind every null; {100 * made.level:g} % intervals of "
        f"{made.resamples:,} bootstrap resamples."
    )
