"""What to evaluate and how."""

import hashlib
from collections.abc import Collection, Mapping
from importlib.metadata import version as package_version
from pathlib import Path

from pydantic import Field

from agenthard.flows.evaluation.benchmark import Benchmark, open_benchmark
from agenthard.flows.evaluation.episodes import Selection
from agenthard.models.model_file import ModelFile
from agenthard.taxonomy.record import Record


class EvaluationSettings(Record):
    """An evaluation. Workers, requests in flight, cache and budget have no influence on what an episode is."""

    benchmark: str
    """Name of the benchmark."""
    path: str
    """File or folder with its tasks."""
    options: dict[str, str] = Field(default_factory=dict)
    """Conditions to play under, in the benchmark's own words."""
    agents: tuple[str, ...] = ()
    """Agents without a model."""
    models: tuple[ModelFile, ...] = ()
    """Models."""
    trials: int = Field(default=1, ge=1)
    """Episodes per agent, task and failure rate."""
    failure_rates: tuple[float, ...] = (0.0,)
    """Probabilities that a tool call fails on purpose."""
    seed: int = 42
    """Seed of all chance."""
    attempts: int = Field(default=3, ge=1)
    """How often an episode may be tried while it ends in an infrastructure error."""
    out: str
    """Run folder."""
    workers: int = Field(default=1, ge=1)
    """Processes for agents without a model."""
    in_flight: int = Field(default=64, ge=1)
    """Episodes that models play at the same time."""
    cache: str | None = None
    """File of cached replies; None keeps it in the run folder."""
    prices: str | None = None
    """Price table that goes before the one that ships."""
    budget: float | None = Field(default=None, ge=0)
    """What the models' replies may cost at most, in the currency of the prices."""
    token_budget: int | None = Field(default=None, gt=0)
    """Tokens that models may use at most."""
    compare: tuple[str, ...] = ()
    """Files with published results to stand beside ours."""

    def open(self) -> Benchmark:
        """Open the benchmark.

        Raises:
            CommandError: It cannot be opened, or does not know an agent.
        """
        from agenthard.flows.errors import CommandError

        benchmark = open_benchmark(self.benchmark, self.path, self.options, self.seed)
        for agent in self.agents:
            try:
                benchmark.check_agent(agent)
            except ValueError as error:
                raise CommandError(str(error)) from error
        return benchmark

    @property
    def contestants(self) -> tuple[str, ...]:
        """Names of all agents, those without a model first."""
        return (*self.agents, *(model.label for model in self.models))

    def selection(self, *, without: Collection[str] = ()) -> Selection:
        """Return the episodes that are asked for, some agents left out."""
        agents = tuple(name for name in self.contestants if name not in without)
        return Selection(agents, self.failure_rates, self.trials)

    @property
    def planned_per_task(self) -> int:
        """Episodes of one task."""
        return len(self.contestants) * len(self.failure_rates) * self.trials

    @property
    def folder(self) -> "EvaluationFolder":
        """The run folder."""
        return EvaluationFolder(Path(self.out))

    def identities(self, benchmark: Benchmark) -> Mapping[str, str]:
        """Hash what must not change within a run folder: the suite with its conditions, and each model's file.

        Returns:
            A hash by what it is about.
        """
        suite = f"{package_version('agenthard')}\n{self.benchmark}\n{benchmark.content_hash()}\n{self.seed}"
        texts = {"suite": suite, **{f"model {m.label}": m.model_dump_json() for m in self.models}}
        return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


class EvaluationFolder:
    """Paths of an evaluation's run folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = root / "work" / "episodes.sqlite"
        self.workers = root / "work" / "workers"
        self.lock = root / "work" / "lock"
        self.ledger = root / "work" / "ledger.sqlite"
        self.cache = root / "work" / "replies.sqlite"
        self.identity = root / "work" / "identity.json"
        self.tables = root / "tables"
        self.trajectories = root / "trajectories.jsonl.gz"
        self.report = root / "report"
