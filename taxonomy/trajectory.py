"""One run of a model on a task, with its status apart from its score."""

from typing import Literal

from pydantic import Field, model_validator

from taxonomy.record import Origin, Record
from taxonomy.task import Message

RunStatus = Literal["ok", "agent_error", "infrastructure_error", "judge_error"]


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
    """How the run ended, in the benchmark's own word (done, max_steps, truncations ...); it is no verdict."""
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
    """Tokens, cost, seconds, steps, as logged."""
    origin: Origin | None = None
    """Where the run stands."""

    @model_validator(mode="after")
    def _no_verdict_without_a_run(self) -> "Trajectory":
        if self.status in ("infrastructure_error", "judge_error") and self.passed is not None:
            raise ValueError(f"a run with status {self.status} cannot have a verdict: set passed to None")
        return self
