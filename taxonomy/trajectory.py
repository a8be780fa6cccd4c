"""One run of a model on a task, with its status apart from its score."""

from typing import Literal

from pydantic import Field, model_validator

from agenthard.taxonomy.record import Origin, Record
from agenthard.taxonomy.task import Message

RunStatus = Literal["ok", "agent_error", "infrastructure_error", "judge_error"]


class Judgement(Record):
    """What one judge or one script said about a run."""

    judge: str
    """Name of the judging model, or of the kind of script."""
    kind: Literal["script", "text", "vision"]
    """What looked at the run: code, a model that reads, or a model that sees."""
    score: float | None = None
    """Its score, on the scale of the run's score."""
    reason: str = ""
    """What it said; in benchmarks with retries this is what the agent is told."""
    shown: tuple[str, ...] | None = None
    """Names of the images and videos it was given; None when the log does not tell."""
    prompt: str | None = None
    """What a judging model was asked, word by word; None when the log does not tell."""
    diagnostics: tuple[str, ...] = ()
    """Errors and warnings of the harness while it collected what the judge looks at."""


class Trajectory(Record):
    """A run. An infrastructure error is never a failure of the model: such a run has no ``passed``."""

    id: str
    """Stable id of the run within its source."""
    task_id: str
    """Id of the task (AgentTask.id)."""
    model: str
    """Name of the model or agent."""
    trial: int = 0
    """0-based repetition."""
    status: RunStatus = "ok"
    """Whether the run can be scored."""
    status_reason: str = ""
    """Why not, when status is not ok."""
    ending: str | None = None
    """How the run ended, in the benchmark's own word (done, max_steps, truncations ...); it is not a verdict."""
    score: float | None = None
    """Score as logged, also for runs that should not have been scored."""
    passed: bool | None = None
    """The score as pass or fail; None when the run cannot be scored."""
    messages: tuple[Message, ...] = ()
    """The conversation."""
    user_model: str | None = None
    """Name of the user simulator."""
    protocol: str | None = None
    """Which experiment the run belongs to, when the log says it."""
    usage: dict[str, float] = Field(default_factory=dict)
    """Tokens, cost, seconds, steps, as logged; changed_lines or changed_files, where the log counts them."""
    judgements: tuple[Judgement, ...] = ()
    """What each judge said, in benchmarks that log it."""
    retry_of: str | None = None
    """Id of the run that this one tries again with feedback; None when the run is independent of others."""
    origin: Origin | None = None
    """Where the run comes from."""

    @model_validator(mode="after")
    def _no_verdict_without_a_run(self) -> "Trajectory":
        if self.status in ("infrastructure_error", "judge_error") and self.passed is not None:
            raise ValueError(f"a run with status {self.status} cannot have a verdict: set passed to None")
        return self
