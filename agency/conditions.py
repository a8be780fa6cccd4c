"""The conditions that scenarios are played under; each is ``--set NAME=VALUE`` of an evaluation."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, Self

from pydantic import Field, model_validator

from agenthard.agency.judging import judge_of
from agenthard.agency.sandbox.docker import Containers
from agenthard.agency.scaffolds import Limits, scaffold_of
from agenthard.agency.tools.web import read_cassette
from agenthard.containment import JobError, JobLimits, run_job
from agenthard.taxonomy.record import Record


class AgencyConditions(Record):
    """Conditions; a number of 0 means no limit."""

    scaffold: str = "native"
    """How a model becomes an agent; agents without a model are scaffolds of their own."""
    user: Literal["none", "template", "model"] = "template"
    """Who speaks after an attempt that did not pass."""
    user_model: str = ""
    """Model that plays the user: a full name or a model file; for ``user=model``."""
    rounds: int = Field(default=1, ge=0, le=20)
    """Feedbacks per task, K: there are up to K + 1 attempts."""
    carry: Literal["scenario", "last", "best", "first"] = "scenario"
    """The attempt that the next task begins on; ``scenario`` as the scenario says."""
    judge: str = "rules"
    """What grades an attempt: ``rules``, ``panel:FILE`` or ``mixed:FILE`` with a file that names models."""
    turns: int = Field(default=200, ge=0)
    """Replies of an agent in one attempt."""
    tokens: int = Field(default=0, ge=0)
    """Tokens of an agent in a scenario."""
    money: float = Field(default=0.0, ge=0)
    """Cost of an agent in a scenario."""
    hours: float = Field(default=0.0, ge=0)
    """Time of an agent in a scenario."""
    context_tokens: int = Field(default=0, ge=0)
    """Tokens of a conversation, estimated, beyond which it is compacted; 0: when the model refuses it."""
    max_truncations: int = Field(default=3, ge=0)
    """Replies cut off at the length limit that are forgiven, per attempt."""
    max_output_tokens: int = Field(default=16_384, ge=1)
    """Tokens of a reply, where the model file does not say."""
    command_seconds: float = Field(default=120.0, gt=0)
    """Longest time of one command."""
    web: str = ""
    """File with recorded answers of web tools; without one they are unavailable."""
    sandbox: Literal["job", "docker"] = "job"
    """Where commands of agents run: in jobs on this machine, or in containers of a Docker engine on it."""
    image: str = ""
    """Image of the containers, which the engine must have; for ``sandbox=docker``."""
    engine: str = ""
    """Address of the engine, such as unix:///var/run/docker.sock; empty: that of the environment."""
    weak_isolation: bool = False
    """Whether commands run although this machine lacks a layer of isolation."""

    @model_validator(mode="after")
    def _exist(self) -> Self:
        scaffold_of(self.scaffold)
        judge_of(self.judge)
        if (self.user == "model") != bool(self.user_model):
            raise ValueError("user=model needs user_model=NAME, and user_model needs user=model")
        if (self.sandbox == "docker") != bool(self.image) or (self.engine and not self.image):
            raise ValueError("sandbox=docker needs image=NAME, and image and engine need sandbox=docker")
        if self.web:
            read_cassette(Path(self.web))
        return self

    @property
    def limits(self) -> Limits:
        """What an agent may spend."""
        return Limits(
            turns=self.turns or None, tokens=self.tokens or None, money=self.money or None, hours=self.hours or None
        )

    @property
    def containers(self) -> Containers | None:
        """Return what runs commands in containers; None where they run in jobs."""
        return Containers(self.image, self.engine) if self.sandbox == "docker" else None

    @property
    def isolation(self) -> str:
        """Say what commands run in, as a manifest shows it."""
        here, containers = isolation_here(self.weak_isolation), self.containers
        return f"{containers.described()}; graded programs in jobs: {here}" if containers else here

    @property
    def job_limits(self) -> JobLimits:
        """What each command may use."""
        return JobLimits(wall_seconds=self.command_seconds, cpu_seconds=max(round(self.command_seconds), 1))


@cache
def isolation_here(weak_isolation: bool) -> str:
    """Say which layers of isolation commands run in on this machine, as a manifest shows it."""
    with TemporaryDirectory() as folder:
        try:
            job = run_job(["/bin/true"], Path(folder), weak_isolation=weak_isolation)
        except JobError as error:
            return f"none: {error}"
        return f"{job.isolation}; processes counted by {job.counted_by}"
