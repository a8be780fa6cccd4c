"""ACE-Bench as a benchmark to evaluate agents on (entry-point group ``agenthard.benchmarks``)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from agenthard.ace.agents import LEADERBOARD, find
from agenthard.ace.declared import ACE
from agenthard.ace.environment import Conditions, Environment, UnplayableError
from agenthard.ace.instance import Instance
from agenthard.ace.session import AceSession
from agenthard.ace.source import AceBench
from agenthard.audit.sources.formats.suite.evaluation import SuiteEvaluation, read_conditions
from agenthard.models.estimate import Workload
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Model, Request
from agenthard.play.ending import UNPLAYABLE
from agenthard.play.forecast import llm_settings, workload_of
from agenthard.play.llm import LlmSettings, first_request, play, trial_seed
from agenthard.play.training import SessionTraining
from agenthard.taxonomy.trajectory import Trajectory

_REQUESTS_PER_SLOT = (2, 8, 22)
_GROWTH = (120, 250, 600)
"""Tokens by which a conversation grows from one request to the next: a short call with its answer, up to long ones."""
_COMPLETION = (60, 300, 2000)
"""Tokens of a reply: a call alone, a call with some words, a call after much thought."""


class AceConditions(Conditions):
    """Conditions to play ACE-Bench under."""

    max_truncations: int = Field(default=LlmSettings.model_fields["max_truncations"].default, ge=0)
    """Replies of a model cut off at the length limit that are forgiven."""
    max_output_tokens: int = Field(default=16_384, ge=1)
    """Tokens of a reply, where the model file does not say."""


class AceEvaluation(SuiteEvaluation[Instance, AceConditions, "AceTask"]):
    """A suite opened for evaluation."""

    declared = ACE

    def __init__(self, root: Path, options: Mapping[str, str], seed: int) -> None:
        """Open a file, a suite or a folder with such.

        Args:
            root: Where it is.
            options: Fields of ``AceConditions`` by name.
            seed: Seed of the agents' chance, of the order of the tools and of the calls that fail.

        Raises:
            SourceError: No instance here.
            ValueError: No such option, or it has no such value.
        """
        super().__init__(AceBench(root), read_conditions(AceConditions, options), seed, AceTask)

    def check_agent(self, name: str) -> None:
        """Make sure that there is an agent of this name."""
        find(name)

    def default_agents(self) -> Sequence[str]:
        """Name the agents without a model that form the default leaderboard."""
        return LEADERBOARD


@dataclass(frozen=True)
class AceTask:
    """One instance opened for play."""

    id: str
    """Id of the task, the same as in an audit."""
    instance: Instance
    """The instance; agents get to see its public part only."""
    conditions: AceConditions
    """Conditions to play under."""
    seed: int
    """Seed of the evaluation."""

    @property
    def group(self) -> str:
        """Domain."""
        return self.instance.puzzle.domain

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the report sorts by."""
        return {"hidden_slots": self.instance.hidden_slots, "decoy_budget": self.instance.answer.decoy_budget}

    def environment(self, failure_rate: float, trial: int) -> Environment:
        """Start an episode.

        Raises:
            UnplayableError: The instance contradicts itself or its domain.
        """
        return Environment(
            self.instance.puzzle,
            mode=self.conditions.mode,
            budgets=self.conditions.budgets,
            failure_rate=failure_rate,
            seed=trial_seed(self.seed, trial),
        )

    def training(self, trial: int = 0) -> SessionTraining:
        """Return the instance for a training loop; one that cannot be played is refused by ``reset``."""
        return SessionTraining(lambda: AceSession(self.environment(0.0, trial)), self.conditions.max_turns)

    def play(self, agent: str, condition: str, failure_rate: float, trial: int) -> Trajectory:
        """Let an agent without a model play one episode."""
        try:
            environment = self.environment(failure_rate, trial)
        except UnplayableError as error:
            return self._unplayable(agent, condition, trial, error)
        return find(agent).play(
            environment,
            trial,
            seed=self.seed,
            condition=condition,
            task_id=self.id,
            max_turns=self.conditions.max_turns,
        )

    async def converse(
        self, agent: str, model: Model, file: ModelFile, condition: str, failure_rate: float, trial: int
    ) -> Trajectory:
        """Let a model play one episode."""
        try:
            environment = self.environment(failure_rate, trial)
        except UnplayableError as error:
            return self._unplayable(agent, condition, trial, error)
        settings = self._settings(file)
        session = AceSession(environment)
        return await play(model, settings, session, trial, agent=agent, condition=condition, task_id=self.id)

    def workload(self, file: ModelFile, failure_rate: float, trial: int) -> tuple[Request, Workload]:
        """Foresee one episode of a model.

        Requests per slot are those of the models in the paper's Table 2, whose suite has 10 slots on average: from
        about 7 (the shortest) over 8 to 22 (the longest), and as few as 2 for a model that hardly looks.
        """
        settings = self._settings(file)
        first = first_request(settings, AceSession(self.environment(failure_rate, trial)), trial)
        slots, most = self.instance.hidden_slots, settings.max_turns
        requests = [min(per_slot * slots + 2, most) for per_slot in _REQUESTS_PER_SLOT]
        workload = workload_of(file.name, first, requests, _GROWTH, _COMPLETION)
        return first, workload

    def _unplayable(self, agent: str, condition: str, trial: int, why: UnplayableError) -> Trajectory:
        """An episode that could not begin: not a failure of the agent, and another attempt would end the same way."""
        return Trajectory(
            id=f"{agent}/{self.id}/{condition}/{trial}",
            task_id=self.id,
            model=agent,
            trial=trial,
            status="infrastructure_error",
            status_reason=str(why),
            ending=UNPLAYABLE,
        )

    def _settings(self, file: ModelFile) -> LlmSettings:
        return llm_settings(
            file,
            self.seed,
            self.conditions.max_turns,
            self.conditions.max_truncations,
            self.conditions.max_output_tokens,
        )
