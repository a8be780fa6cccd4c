"""The base classes of checks. A new check is one file with one class, exported by the package of its component.

The class docstring is the documentation of the check (``agenthard explain ID`` prints it). It states the rule, gives an
example that is flagged and one that is not, and says when the rule is wrong.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from agenthard.audit.execution.declared_evaluation import DeclaredEvaluation
from agenthard.taxonomy.finding import Evidence, Level, Proof, Severity, Tier
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, ToolSpec
from agenthard.taxonomy.trajectory import Trajectory

DecidingKind = Literal["schema", "execution", "judge"]
"""What a deciding check rests on: the documented schema of tools, execution, or a panel of judges."""


class Hit(Record):
    """One flaw as a detector sees it, before it becomes a Finding."""

    claim: str
    """What is wrong, in one self-contained sentence."""
    evidence: tuple[Evidence, ...] = Field(min_length=1)
    """Exact quotes; the pipeline re-checks each and drops the hit as a detector error when one fails."""
    why: str = ""
    """Why it matters for the score; the detector's default is used when empty."""
    fix: str = ""
    """Suggested minimal change."""
    cause: str | None = None
    """Same cause in several tasks = one finding; None = this task alone, located by the first evidence pointer."""
    severity: Severity | None = None
    """Overrides the detector's severity."""
    tier: Tier | None = None
    """Overrides the detector's tier."""
    category: str | None = None
    """Overrides the detector's category."""
    level: Level | None = None
    """Overrides the detector's level."""
    proof: Proof | None = None
    """A run that is scored wrongly; without one a hit that affects the score is suspected at most."""
    command: str = ""
    """Shell command that shows the flaw again."""
    decides: tuple[str, ...] = ()
    """Tasks whose score the cause decides in a recorded run."""
    patch: tuple[dict[str, Any], ...] = ()
    """Optional JSON Patch against the AgentTask record."""
    measures: dict[str, float] = Field(default_factory=dict)
    """Figures behind a statistical hit."""


class Detector(ABC):
    """Identity and documentation of a check. Detectors hold no state between calls."""

    id: ClassVar[str]
    """Stable kebab-case id."""
    title: ClassVar[str]
    """What it looks for, in a few words."""
    version: ClassVar[str]
    """Raised whenever a verdict can change."""
    category: ClassVar[str]
    """Taxonomy category of its findings."""
    severity: ClassVar[Severity]
    """Usual severity."""
    tier: ClassVar[Tier]
    """How sure it is."""
    why: ClassVar[str] = ""
    """Why such a flaw matters for the score."""
    level: ClassVar[Level] = Level.TASK
    """Where the causes it finds have to be fixed."""
    experimental: ClassVar[bool] = False
    """True while it has no true finding on a real benchmark: audits run it with ``--experimental`` only."""
    deciding: ClassVar[DecidingKind | None] = None
    """Kind of deciding check: only a task on which such a check ran can be called clean."""
    executes: ClassVar[bool] = False
    """Whether it executes tools or an evaluator; a deciding check of kind "execution" does so anyway."""
    about_values: ClassVar[bool] = False
    """Its hits say that a gold argument has a wrong value: what the evaluator never compares is cosmetic."""
    about_sources: ClassVar[bool] = False
    """Its hits say that nothing a reader finds leads to a gold value: tasks with ``computed_values`` are left out."""

    def why_left_out(self, task: AgentTask) -> str | None:
        """Return why this task is not checked, by a convention of its benchmark or by the check itself, or None."""
        if self.about_sources and "computed_values" in task.traits:
            return "its values are computed by tools from what others returned; the benchmark's own check proves them"
        return self.not_applicable(task)

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why this task cannot be checked (it becomes not_checked with that reason), or None."""
        return None


class TaskDetector(Detector):
    """Looks at one task at a time."""

    @abstractmethod
    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the flaws of ``task``."""


class ToolDetector(Detector):
    """Looks at one documented tool at a time; runs once per distinct tool, however many tasks offer it.

    Evidence pointers are relative to the ToolSpec ("/description"); the pipeline turns them into task pointers and
    sets ``task_id``, so leave ``task_id=""``.
    """

    level = Level.ENVIRONMENT

    def tool_not_applicable(self, tool: ToolSpec) -> str | None:
        """Return why this tool cannot be checked, or None. A task whose tools all cannot be is not_checked."""
        return None

    @abstractmethod
    def inspect_tool(self, tool: ToolSpec) -> Iterable[Hit]:
        """Yield the flaws of ``tool``."""


class Observation(Record):
    """What a suite detector notes about one task or run, to be compared with the others later. Plain JSON data."""

    task_id: str
    """Task observed."""
    key: str
    """What observations are grouped by."""
    value: Any = None
    """Any JSON value the conclusion needs."""
    evidence: tuple[Evidence, ...] = ()
    """Quotes for a later hit; re-checked when observed."""
    proofs: tuple[Proof, ...] = ()
    """Proofs for a later hit; carried out when observed, and dropped where they do not hold."""
    declared: DeclaredEvaluation | None = None
    """How the task is scored by its declaration, for a proof that only the comparison with other tasks tells."""


class Conclusion(Record):
    """A hit on several tasks."""

    task_ids: tuple[str, ...]
    """Tasks affected."""
    also_in: tuple[str, ...] = ()
    """Tasks that carry the cause without being affected; decisions leave them alone."""
    hit: Hit
    """The flaw."""


class Undecided(Record):
    """Tasks that turned out not to be checkable once all observations were there; they become not_checked."""

    task_ids: tuple[str, ...]
    """Tasks."""
    reason: str
    """Why, such as 'undefined because all models have the same score'."""


class SuiteDetector(Detector):
    """Compares tasks, or runs, with one another: first ``observe`` each task alone, then ``conclude`` from all.

    ``observe`` runs in parallel on shards and must not depend on other tasks; ``conclude`` runs once and sees the
    observations sorted by task order.
    """

    needs_runs: ClassVar[bool] = False
    """True when it looks at runs; a task without runs is then not_checked."""
    uses_runs: ClassVar[bool] = False
    """True when it also looks at runs where there are some, and does its work without them too."""

    @abstractmethod
    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note what is needed about one task and its runs (none unless ``needs_runs`` or ``uses_runs``)."""

    def shared_keys(self, observation: Observation) -> Iterable[str]:
        """Return keys of which ``conclude`` needs one to be shared with another observation.

        A check that compares equal tasks overrides this: an observation that shares no key is then left out, so that a
        large benchmark is not held in memory. Without this method all observations are needed.
        """
        return ()

    @abstractmethod
    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield hits, and tasks that cannot be decided, from all observations of the benchmark."""
