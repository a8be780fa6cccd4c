"""Escape rooms as a benchmark to evaluate agents on (entry-point group ``agenthard.benchmarks``)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from agenthard.audit.sources.formats.suite.evaluation import SuiteEvaluation, read_conditions
from agenthard.escape.agents import LEADERBOARD, find
from agenthard.escape.declared import ESCAPE
from agenthard.escape.environment import Conditions, Environment
from agenthard.escape.proof.structure import structure_problems
from agenthard.escape.recorded import run_page
from agenthard.escape.room import Instance
from agenthard.escape.session import EscapeSession
from agenthard.escape.source import EscapeRooms
from agenthard.models.estimate import Workload
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Model, Request
from agenthard.play.episode import Episode
from agenthard.play.forecast import llm_settings, workload_of
from agenthard.play.llm import LlmSettings, first_request, play, trial_seed
from agenthard.play.training import SessionTraining
from agenthard.taxonomy.run_page import RunPage
from agenthard.taxonomy.trajectory import Trajectory

_GROWTH = (250, 450, 900)
"""Tokens by which a conversation grows from one request to the next."""
_COMPLETION = (80, 300, 2000)
"""Tokens of a reply."""
_NO_LIMIT = 1_000
"""Turns of an episode without a limit."""


class EscapeConditions(Conditions):
    """Conditions to play rooms under."""

    max_truncations: int = Field(default=LlmSettings.model_fields["max_truncations"].default, ge=0)
    """Replies of a model cut off at the length limit that are forgiven."""
    max_output_tokens: int = Field(default=16_384, ge=1)
    """Tokens of a reply, where the model file does not say."""


class EscapeEvaluation(SuiteEvaluation[Instance, EscapeConditions, "EscapeTask"]):
    """A suite of rooms opened for evaluation."""

    declared = ESCAPE

    def __init__(self, root: Path, options: Mapping[str, str], seed: int) -> None:
        """Open a suite or a folder with suites.

        Args:
            root: Where it is.
            options: Fields of ``EscapeConditions`` by name.
            seed: Seed of the agents' chance, of the order of the calls and of those that fail.

        Raises:
            SourceError: No suite here.
            ValueError: No such option, or it has no such value.
        """
        super().__init__(EscapeRooms(root), read_conditions(EscapeConditions, options), seed, EscapeTask)

    def check_agent(self, name: str) -> None:
        """Make sure that there is an agent of this name."""
        find(name)

    def default_agents(self) -> Sequence[str]:
        """Name the agents without a model that form the default leaderboard."""
        return LEADERBOARD


@dataclass(frozen=True)
class EscapeTask:
    """One room opened for play."""

    id: str
    """Id of the task, the same as in an audit."""
    instance: Instance
    """The room; agents get to see what the calls show."""
    conditions: EscapeConditions
    """Conditions to play under."""
    seed: int
    """Seed of the evaluation."""

    @property
    def group(self) -> str:
        """Theme."""
        return self.instance.room.theme

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the report sorts by."""
        facts = self.instance.facts() | {"min_turns": self.instance.min_turns()}
        return {name: facts[name] for name in ESCAPE.facts}

    def run_page(self, run: Trajectory) -> RunPage | None:
        """Show a run as a graph; None for a room whose parts do not fit together."""
        return None if next(structure_problems(self.instance), None) else run_page(self.instance, run)

    def session(self, failure_rate: float, trial: int) -> EscapeSession:
        """Start an episode."""
        seed = trial_seed(self.seed, trial)
        environment = Environment(self.instance, self.conditions, failure_rate=failure_rate, seed=seed)
        return EscapeSession(environment, self.instance.id, self.instance.room.theme)

    def training(self, trial: int = 0) -> SessionTraining:
        """Return the room for a training loop."""
        return SessionTraining(lambda: self.session(0.0, trial), self.max_turns)

    @property
    def max_turns(self) -> int:
        """Turns of an episode."""
        return self.conditions.budget(self.instance.room.nodes) or _NO_LIMIT

    def play(self, agent: str, condition: str, failure_rate: float, trial: int) -> Trajectory:
        """Let an agent without a model play one episode."""
        episode = Episode(
            self.session(failure_rate, trial),
            agent,
            trial,
            condition=condition,
            task_id=self.id,
            max_turns=self.max_turns,
        )
        return find(agent).play(episode, self.instance, self.seed)

    async def converse(
        self, agent: str, model: Model, file: ModelFile, condition: str, failure_rate: float, trial: int
    ) -> Trajectory:
        """Let a model play one episode."""
        session = self.session(failure_rate, trial)
        settings = self._settings(file)
        return await play(model, settings, session, trial, agent=agent, condition=condition, task_id=self.id)

    def workload(self, file: ModelFile, failure_rate: float, trial: int) -> tuple[Request, Workload]:
        """Foresee one episode of a model: from one turn for each layer of the graph up to the budget."""
        first = first_request(self._settings(file), self.session(failure_rate, trial), trial)
        nodes = self.instance.room.nodes
        counts = (nodes // 2 + 2, nodes * 2, self.max_turns)
        workload = workload_of(file.name, first, counts, _GROWTH, _COMPLETION)
        return first, workload

    def _settings(self, file: ModelFile) -> LlmSettings:
        return llm_settings(
            file,
            self.seed,
            self.max_turns,
            self.conditions.max_truncations,
            self.conditions.max_output_tokens,
        )
