"""Which runs are compared: one experiment at a time, and only models that attempted every task."""

from agenthard.taxonomy.record import Record


class ModelCoverage(Record):
    """What one model ran of the benchmark, in the chosen experiment."""

    model: str
    """Model."""
    attempted: int
    """Tasks with a run, errors included."""
    of: int
    """Tasks there are."""
    scored: int
    """Tasks with a verdict."""
    runs: int
    """Runs, errors included."""
    errors: int
    """Runs without a verdict: infrastructure and judge errors, which are no failures of the model."""
    comparable: bool
    """Whether it attempted every task and has enough verdicts; only such models stand in a leaderboard."""
    reason: str
    """Why it is not comparable, such as "attempted 50 of 165 tasks (airline 50/50, retail 0/115)"; else empty."""


class ExperimentSize(Record):
    """One experiment that the runs belong to."""

    name: str
    """Name (protocol) as the logs give it; empty when they do not."""
    models: int
    """Models with a run in it."""
    complete_models: int
    """Comparable models."""
    runs: int
    """Runs."""


class RunsUsed(Record):
    """The runs behind every number about models."""

    experiment: str
    """The experiment that was chosen; empty when the logs name none."""
    sentence: str
    """Which experiment, why, how many models, and how many runs without a verdict there were."""
    experiments: tuple[ExperimentSize, ...]
    """All experiments there were."""
    models: tuple[ModelCoverage, ...]
    """Models of the chosen experiment, comparable ones first, then by name."""
    trials: int
    """Largest number of runs of one model on one task."""
    clustered: bool
    """Whether intervals respect clusters of tasks (variants of one base task) or repeated runs."""

    @property
    def comparable(self) -> tuple[str, ...]:
        """Names of the comparable models."""
        return tuple(model.model for model in self.models if model.comparable)
