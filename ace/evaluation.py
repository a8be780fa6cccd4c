"""ACE-Bench as a benchmark to evaluate agents on (entry-point group ``agenthard.benchmarks``)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from agenthard.ace.agents import LEADERBOARD, find
from agenthard.ace.environment import Conditions, Environment, UnplayableError
from agenthard.ace.instance import Instance
from agenthard.ace.session import AceSession
from agenthard.ace.source import AceBench
from agenthard.audit.sources.base import Quarantine, hash_files
from agenthard.models.estimate import Spread, Workload
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Model, Request
from agenthard.models.tokens import prompt_tokens
from agenthard.play.llm import LlmSettings, first_request, play, trial_seed
from agenthard.taxonomy.trajectory import Trajectory

UNPLAYABLE = "unplayable"
"""Ending of an episode that could not begin, because the instance contradicts itself."""
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


class AceEvaluation:
    """A suite opened for evaluation."""

    facts = ("hidden_slots", "decoy_budget")
    counts = ("queries", "global_checks")

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
        self._source = AceBench(root)
        self._seed = seed
        try:
            self._conditions = AceConditions.model_validate(options)
        except ValidationError as error:
            first = error.errors()[0]
            known = ", ".join(AceConditions.model_fields)
            raise ValueError(
                f"option {'.'.join(map(str, first['loc']))}: {first['msg']}; there are: {known}"
            ) from error
        self._unreadable: list[str] = []

    def tasks(self) -> Iterator["AceTask"]:
        """Stream the instances that can be read; an episode of one that cannot be played has no verdict."""
        quarantine = Quarantine()
        for id, instance in self._source.instances(quarantine):
            yield AceTask(id, instance, self._conditions, self._seed)
        self._unreadable = [f"{item.task_id or item.file}: {item.reason}" for item in quarantine.items]

    def unreadable(self) -> Sequence[str]:
        """Return which instances cannot be read and why; complete once the tasks have been streamed."""
        return self._unreadable

    def content_hash(self) -> str:
        """Identify files, conditions and code."""
        code = Path(__file__).parent
        files = [path for path in code.rglob("*.py") if path.is_file()]
        played = self._source.version()
        return f"{played.content_hash} {self._conditions.model_dump_json()} {hash_files(code, files, '').content_hash}"

    def conditions(self) -> Mapping[str, Any]:
        """List the conditions by name."""
        return self._conditions.model_dump(mode="json")

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
        low, typical, high = (min(per_slot * slots + 2, most) for per_slot in _REQUESTS_PER_SLOT)
        begin = prompt_tokens(first)
        workload = Workload(
            model=file.name,
            episodes=1,
            requests=Spread(low=low, typical=typical, high=high),
            prompt_tokens=Spread(
                **{
                    name: begin + growth * count / 2
                    for name, growth, count in zip(Spread.model_fields, _GROWTH, (low, typical, high), strict=True)
                }
            ),
            completion_tokens=Spread(**dict(zip(Spread.model_fields, _COMPLETION, strict=True))),
        )
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
        tokens = file.sampling.max_output_tokens or self.conditions.max_output_tokens
        return LlmSettings(
            model=file.name,
            sampling=file.sampling.model_copy(update={"max_output_tokens": tokens}),
            seed=self.seed,
            max_turns=self.conditions.max_turns,
            max_truncations=self.conditions.max_truncations,
            text_calls=file.text_calls,
        )
