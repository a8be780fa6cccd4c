"""The one record behind the page of a survey, its JSON twin and its tables."""

from agenthard.audit.statistics import Undefined
from agenthard.reports.cleaning.inputs import AuditIdentity
from agenthard.reports.kit.text import plural
from agenthard.reports.leaderboard.scored import PagePart
from agenthard.reports.survey.audits import Rate
from agenthard.reports.survey.categories import CategoryCount
from agenthard.reports.survey.evaluators import EvaluatorTest
from agenthard.reports.survey.history import History
from agenthard.reports.survey.points import ModelPoints
from agenthard.taxonomy.record import Record


class Unseen(Record):
    """What an audit did not read or did not check."""

    there: int
    """Tasks that are there, as far as their number is known: read, not readable, not read and left out."""
    read: int
    """Tasks that could be read."""
    quarantined: int
    """Records of tasks that could not be read."""
    not_read: int
    """Tasks in the benchmark's folder that were not read."""
    unknown: int
    """Places with an unknown number of tasks that were not read."""
    left_out: int
    """Tasks that the user's choice of domains or the benchmark's own default leaves out."""
    checked: int
    """Tasks on which at least one check ran."""
    undecided: int
    """Tasks without a finding on which no deciding check could run: nothing shows that they are sound."""
    check_errors: int
    """Pairs of a task and a check that ended in an error."""
    checks: int
    """Checks that were asked to run."""
    idle: tuple[str, ...]
    """Checks among them that could run on no task."""
    not_asked: tuple[str, ...]
    """Checks that the user's choice left out."""
    suppressed: int
    """Findings that the user has accepted, or that people have rejected; they count nowhere."""
    runs: int
    """Recorded runs of models."""
    runs_without_verdict: int
    """Of them, runs that could not be scored."""
    quarantined_runs: int
    """Records of runs that could not be read."""
    code: str
    """Whose code was executed, and how it was contained."""
    places: tuple[str, ...]
    """What was not read and why, one line each."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is missing, in a few words each; empty when nothing is."""
        idle, unchecked = len(self.idle), self.read - self.checked
        counts = (
            (self.quarantined, f"{plural(self.quarantined, 'task record')} not readable"),
            (self.not_read, f"{plural(self.not_read, 'task')} not read"),
            (self.unknown, f"{plural(self.unknown, 'place')} not read, with an unknown number of tasks"),
            (self.left_out, f"{plural(self.left_out, 'task')} left out on purpose"),
            (unchecked, f"{plural(unchecked, 'task')} not checked"),
            (self.undecided, f"{plural(self.undecided, 'task')} unchecked by any deciding check"),
            (self.check_errors, f"{plural(self.check_errors, 'check')} of a task ended in an error"),
            (idle, f"{idle:,} of {plural(self.checks, 'check')} could run on no task"),
            (len(self.not_asked), f"{plural(len(self.not_asked), 'check')} not asked to run"),
            (self.suppressed, f"{plural(self.suppressed, 'finding')} suppressed"),
            (self.quarantined_runs, f"{plural(self.quarantined_runs, 'run record')} not readable"),
            (
                self.runs_without_verdict,
                f"{self.runs_without_verdict:,} of {plural(self.runs, 'run')} without a verdict",
            ),
        )
        runs = () if self.runs else ("no recorded model runs",)
        return (*(words for count, words in counts if count), *runs)


class SurveyedBenchmark(PagePart):
    """One audited benchmark."""

    title: str
    """Name of the benchmark for people."""
    audit: AuditIdentity
    """Versions and hashes."""
    domains: tuple[str, ...]
    """Domains that were read; empty for all."""
    differences: tuple[str, ...]
    """In which ways it was audited differently from most here: its counts may not be compared with theirs."""
    unseen: Unseen
    """What was not read or not checked."""
    flagged: Rate
    """Tasks that a confirmed or suspected finding touches, of those that a check looked at."""
    dropped: Rate
    """Tasks that the policy drops, of those that a check looked at."""
    review: Rate
    """Tasks that wait for a person, of those that a check looked at."""
    tickets: int
    """Causes that tasks share; they drop no task by themselves."""
    categories: tuple[CategoryCount, ...]
    """Flaws by category, in the order of the taxonomy."""
    evaluator: tuple[EvaluatorTest, ...]
    """What the evaluator did when it was put to the test."""
    runs: str
    """Which recorded runs were used, or that there are none."""
    points: tuple[ModelPoints, ...] | Undefined
    """What flawed tasks contribute to the recorded scores."""
    board: str
    """Why no model is ranked; empty when models are."""
    stability: str
    """Whether the ranking moves more than by deleting as many random tasks; empty without a ranking."""


class Survey(Record):
    """Several audits side by side."""

    schema_version: str = "1"
    """Version of this layout."""
    title: str
    """Title of the page."""
    agenthard: str
    """Version of AgentHard that made the survey."""
    level: float
    """Coverage of every interval."""
    seed: int
    """Seed of every draw."""
    resamples: int
    """Bootstrap resamples behind every interval of a rank."""
    draws: int
    """Random subsets behind every null."""
    reference: str
    """Run folder whose way of auditing the others are compared with."""
    benchmarks: tuple[SurveyedBenchmark, ...]
    """Audits in the order in which they were given."""
    histories: tuple[History, ...]
    """Benchmarks of which several versions were given."""
