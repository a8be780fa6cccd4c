"""A task of the demo benchmark with what its simulated runs need: what a right agent does, and how people talk."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flows.demo.world import World
from taxonomy import AgentTask, Check, EnvironmentSpec, EvaluationSpec, GroundTruth, Message, ToolCall, UserSpec

Calls = tuple[ToolCall, ...]

BENCHMARK = "demo"


@dataclass(frozen=True)
class Turn:
    """One request of the user and how a right agent serves it."""

    ask: str
    """What the user says."""
    calls: Calls
    """What a right agent calls."""
    reply: str
    """What it then says; ``{field}`` stands for a field of the last response."""
    output: str | None = None
    """Text that the reply has to contain."""
    wrong_output: str | None = None
    """What a careless agent says instead."""


@dataclass(frozen=True)
class Setting:
    """Where tasks of one group take place."""

    name: str
    """Name of the environment in ``environments.jsonl``."""
    domain: str
    """Subtask of its tasks."""
    world: type[World]
    """Database and tools."""
    environment: EnvironmentSpec
    """The same, as the benchmark documents it."""


@dataclass(frozen=True)
class Scenario:
    """A task and the parts that its simulated runs are made of."""

    task: AgentTask
    """The task as the benchmark states it."""
    setting: Setting
    """Where it takes place."""
    turns: tuple[Turn, ...]
    """How a right run goes, whatever the task's ground truth says."""
    difficulty: float
    """0 (easy) to 1 (hard)."""
    identity: str | None = None
    """How a simulated user answers when asked for the member number; None for scripted users."""
    temptation: ToolCall | None = None
    """The call that an agent makes which does what the rules forbid."""


def call(name: str, **arguments: Any) -> ToolCall:
    """Return a tool call."""
    return ToolCall(name=name, arguments=arguments)


def setting(name: str, domain: str, world: type[World], policy: str) -> Setting:
    """Describe a world as the environment of tasks."""
    environment = EnvironmentSpec(
        tools=world.tools(), policy=policy, state=world.initial, state_name=f"{domain} database"
    )
    return Setting(name, domain, world, environment)


def simulated(
    place: Setting, number: int, instruction: str, turn: Turn, difficulty: float, temptation: ToolCall | None = None
) -> Scenario:
    """Make a task whose user is played by a model; it is scored by the database it leaves and by required texts."""
    outputs = _outputs([turn])
    task = AgentTask(
        id=f"{place.domain}/{number}",
        native_id=str(number),
        benchmark=BENCHMARK,
        subtask=place.domain,
        user=UserSpec(kind="simulated", instruction=instruction),
        environment=place.environment,
        evaluation=EvaluationSpec(checks=(Check(kind="final_state", scored=True), *_output_checks(outputs))),
        ground_truth=GroundTruth(
            semantics="reference_path", turns=(turn.calls,), outputs=outputs, call_matching="state"
        ),
        traits=frozenset({"redundant_calls_free"}),
    )
    return Scenario(task, place, (turn,), difficulty, _member_number(instruction), temptation)


def scripted(
    place: Setting, number: int, turns: Sequence[Turn], difficulty: float, temptation: ToolCall | None = None
) -> Scenario:
    """Make a task whose user follows a script; it is scored by its calls, turn by turn, and by required texts."""
    outputs = _outputs(turns)
    wanted = any(turn.calls for turn in turns)
    calls_check = Check(kind="tool_calls" if wanted else "no_call", scored=True, pointer="/ground_truth/turns")
    task = AgentTask(
        id=f"{place.domain}/{number}",
        native_id=str(number),
        benchmark=BENCHMARK,
        subtask=place.domain,
        user=UserSpec(kind="scripted", turns=tuple((Message(role="user", content=turn.ask),) for turn in turns)),
        environment=place.environment,
        evaluation=EvaluationSpec(checks=(calls_check, *_output_checks(outputs))),
        ground_truth=GroundTruth(semantics="required", turns=tuple(turn.calls for turn in turns), outputs=outputs),
        traits=frozenset() if wanted else frozenset({"expects_no_call"}),
    )
    return Scenario(task, place, tuple(turns), difficulty, temptation=temptation)


def _outputs(turns: Sequence[Turn]) -> tuple[str, ...]:
    return tuple(turn.output for turn in turns if turn.output is not None)


def _output_checks(outputs: Sequence[str]) -> tuple[Check, ...]:
    note = "case-insensitive, commas removed, in any reply of the agent"
    return tuple(
        Check(kind="output_substring", scored=True, expected=output, pointer=f"/ground_truth/outputs/{i}", note=note)
        for i, output in enumerate(outputs)
    )


def _member_number(instruction: str) -> str:
    return next(word.strip(".,") for word in instruction.split() if word.startswith("M-"))
