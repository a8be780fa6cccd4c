"""What cleaning does to a leaderboard: the one record behind the report, its JSON twin, its tables and its figures."""

from agenthard.audit.decisions.difficulty import DifficultyRule
from agenthard.audit.statistics import CategoryRetention, Result, ScoreBounds, Undefined
from agenthard.reports.cleaning.boards import Board
from agenthard.reports.cleaning.experiments import RunsUsed
from agenthard.reports.cleaning.figures import AgreementMap, ComponentShare, ItemMap, SeparabilityCurve
from agenthard.reports.cleaning.hard import HardSelection
from agenthard.reports.cleaning.inputs import AuditIdentity, LedgerEntry
from agenthard.reports.cleaning.splits import Split, SplitName
from agenthard.reports.cleaning.stability import RankingStability
from agenthard.reports.cleaning.stages import Stage
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
    """Thirty seconds: one sentence, five numbers, three findings."""

    sentence: str
    """What was checked, what was flagged, and whether cleaning moved the ranking more than chance would."""
    checked: int
    """Tasks on which at least one check ran."""
    tasks: int
    """Tasks there are; ``checked`` is "k of N" of these."""
    flagged: int
    """Tasks that a confirmed or suspected finding touches."""
    new: int | None
    """Findings (confirmed or suspected) that the earlier audit lacks; None when none was given to compare with."""
    undecided: int
    """Tasks that wait for a person."""
    cost: float
    """US dollars spent on models: 0, because rules and statistics call none."""
    top: tuple[TopFinding, ...]
    """Up to three findings, new ones first when an earlier audit was given, then worst severity and surest tier."""


class Retention(Record):
    """How much of each category a split keeps."""

    split: SplitName
    """Which split."""
    split_id: str
    """Its id."""
    safeguard: float
    """Least share of each category that should stay, 0..1."""
    coverage: Result
    """Share of categories that still have a task."""
    rows: tuple[CategoryRetention, ...]
    """One per category, in alphabetical order."""
    sentence: str
    """Which categories fall below the safeguard, or that none does."""


class Undecided(Record):
    """What the tasks under review could do to the scores of the issue-cleaned split."""

    n: int
    """Tasks under review."""
    bounds: tuple[ScoreBounds, ...] | Undefined
    """Per model, in the order of the cleaned leaderboard: kept, dropped, least, most."""
    sentence: str
    """The largest movement of a score, and whether the top model could change."""


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
    provenance: Provenance
    """Versions, hashes, seeds, policy."""
    glossary: tuple[Term, ...]
    """What the words mean."""
