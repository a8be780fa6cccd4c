"""Settings of an evaluation, and the paths in its run folder."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import version as package_version
from itertools import product
from pathlib import Path

from pydantic import Field

from agenthard.flows.evaluation.benchmark import AsksModels, Benchmark, open_benchmark
from agenthard.flows.evaluation.episodes import Selection, name_of
from agenthard.flows.scale_out.settings import ScaleOut
from agenthard.models.budget import Budget
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable, load_prices
from agenthard.taxonomy.record import Record

PAPER = "paper"
"""In place of a file of published results: those that come with the benchmark."""


class EvaluationSettings(Record):
    """An evaluation. Workers and where they are, requests in flight, cache and budget do not affect the episodes."""

    benchmark: str
    """Name of the benchmark."""
    path: str
    """File or folder with its tasks."""
    options: dict[str, str] = Field(default_factory=dict)
    """Conditions to play under, as the benchmark names them."""
    axes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Conditions with several values: every episode is played under each combination of them."""
    agents: tuple[str, ...] = ()
    """Agents without a model."""
    models: tuple[ModelFile, ...] = ()
    """Models."""
    trials: int = Field(default=1, ge=1)
    """Episodes per agent, task and failure rate."""
    failure_rates: tuple[float, ...] = (0.0,)
    """Probabilities that a tool call fails on purpose."""
    seed: int = 42
    """Seed of all randomness."""
    attempts: int = Field(default=3, ge=1)
    """Maximum attempts at an episode that ends in an infrastructure error."""
    out: str
    """Run folder."""
    workers: int = Field(default=1, ge=1)
    """Processes for agents without a model."""
    in_flight: int = Field(default=64, ge=1)
    """Episodes that models play at the same time."""
    cache: str | None = None
    """File of cached replies; None keeps it in the run folder."""
    prices: str | None = None
    """Price table that takes precedence over the built-in one."""
    budget: float | None = Field(default=None, ge=0)
    """Upper limit of the cost, in the currency of the prices."""
    token_budget: int | None = Field(default=None, gt=0)
    """Upper limit of the tokens."""
    compare: tuple[str, ...] = ()
    """Files with published results to compare with, or ``paper``."""
    scale_out: ScaleOut = ScaleOut()
    """Where the episodes are played."""

    def open(self) -> Benchmark:
        """Open the benchmark.

        Raises:
            CommandError: It cannot be opened, or does not have an agent.
        """
        from agenthard.flows.errors import CommandError

        first = next(iter(self.variants.values()))
        benchmark = self.open_variant(first)
        known = {axis.condition for axis in benchmark.declared.axes if axis.condition}
        for name in self.axes.keys() - known:
            there = f"only {', '.join(sorted(known))} can" if known else "none can"
            raise CommandError(f"{name}: has several values, and no axis of this benchmark varies it; {there}")
        for agent in self.agents:
            try:
                benchmark.check_agent(agent)
            except ValueError as error:
                raise CommandError(str(error)) from error
        return benchmark

    @property
    def variants(self) -> dict[str, dict[str, str]]:
        """Return the options of each variant of the conditions by its name; without axes there is one, without a name.

        >>> EvaluationSettings(benchmark="b", path="p", out="o", axes={"feedback": ("none", "binary")}).variants
        {'feedback=none': {'feedback': 'none'}, 'feedback=binary': {'feedback': 'binary'}}
        """
        chosen = [dict(zip(self.axes, values, strict=True)) for values in product(*self.axes.values())]
        return {name_of(each): each for each in chosen}

    def open_variants(self) -> Iterator[tuple[str, Benchmark]]:
        """Yield each variant of the conditions with the benchmark opened under it.

        Raises:
            CommandError: A condition does not exist, or has no such value.
        """
        for name, options in self.variants.items():
            yield name, self.open_variant(options)

    def open_variant(self, options: Mapping[str, str]) -> Benchmark:
        """Return the benchmark opened under the options of one variant.

        Raises:
            CommandError: A condition does not exist, or has no such value.
        """
        return open_benchmark(self.benchmark, self.path, {**self.options, **options}, self.seed)

    def helpers(self) -> tuple[ModelFile, ...]:
        """Return the models that take part besides the agents, under any variant of the conditions.

        Raises:
            CommandError: The benchmark cannot be opened.
        """
        found = [
            file
            for _, benchmark in self.open_variants()
            if isinstance(benchmark, AsksModels)
            for file in benchmark.models()
        ]
        return tuple(dict((file.model_dump_json(), file) for file in found).values())

    @property
    def contestants(self) -> tuple[str, ...]:
        """Names of all agents, those without a model first."""
        return (*self.agents, *(model.label for model in self.models))

    def selection(self, *, without: Collection[str] = ()) -> Selection:
        """Return the planned episodes, without some agents."""
        agents = tuple(name for name in self.contestants if name not in without)
        return Selection(agents, self.failure_rates, self.trials, tuple(self.variants))

    @property
    def planned_per_task(self) -> int:
        """Number of episodes per task."""
        return self.selection().per_task

    @property
    def folder(self) -> "EvaluationFolder":
        """The run folder."""
        return EvaluationFolder(Path(self.out))

    @property
    def limits(self) -> Budget:
        """The budget of the run."""
        return Budget(money=self.budget, tokens=self.token_budget)

    @property
    def cache_file(self) -> Path:
        """The file of cached replies."""
        return Path(self.cache) if self.cache else self.folder.cache

    def price_table(self) -> PriceTable:
        """Read the prices: those of model files first, then the user's table, then the built-in one.

        Raises:
            ConfigurationError: A table cannot be read, or a budget in money is set for a model without a price.
        """
        table = load_prices(Path(self.prices) if self.prices else None)
        table = table.after(file.price for file in self.models if file.price is not None)
        self.limits.require_prices([file.name for file in self.models], table)
        return table

    def identities(self, benchmark: Benchmark) -> Mapping[str, str]:
        """Hash everything that must not change within a run folder: the suite, the conditions, and each model file.

        Returns:
            Hashes by subject.
        """
        suite = f"{package_version('agenthard')}\n{self.benchmark}\n{benchmark.content_hash()}\n{self.seed}"
        suite += "".join(f"\n{name}" for name in self.axes)
        variants = {name: each.content_hash() for name, each in self.open_variants()} if self.axes else {}
        texts = {"suite": suite, **{f"model {m.label}": m.model_dump_json() for m in self.models}}
        texts |= {f"condition {name}": digest for name, digest in variants.items()}
        return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def options_and_axes(given: Mapping[str, Sequence[str]]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Sort conditions by whether they have one value or several.

    >>> options_and_axes({"turns": ["20"], "feedback": ["none", "binary", "none"]})
    ({'turns': '20'}, {'feedback': ('none', 'binary')})

    Raises:
        CommandError: One of several values cannot be part of a name.
    """
    from agenthard.flows.errors import CommandError

    values = {name: tuple(dict.fromkeys(each)) for name, each in given.items()}
    axes = {name: each for name, each in values.items() if len(each) > 1}
    for name, each in axes.items():
        if bad := [value for value in each if "," in value or "=" in value]:
            raise CommandError(f"{name}: {bad[0]!r} cannot be one of several values; play it on its own")
    return {name: each[0] for name, each in values.items() if len(each) == 1}, axes


class EvaluationFolder:
    """Paths of an evaluation's run folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = root / "work" / "episodes.sqlite"
        self.workers = root / "work" / "workers"
        self.plays = root / "work" / "plays"
        self.lock = root / "work" / "lock"
        self.ledger = root / "work" / "ledger.sqlite"
        self.cache = root / "work" / "replies.sqlite"
        self.identity = root / "work" / "identity.json"
        self.tables = root / "tables"
        self.trajectories = root / "trajectories.jsonl.gz"
        self.rollouts = root / "rollouts.jsonl.gz"
        self.report = root / "report"
