"""A task of the demo benchmark with what its simulated runs need: what a right agent does, and how people talk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from agenthard.flows.demo.world import World
from agenthard.taxonomy import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    UserSpec,
)
from agenthard.taxonomy.yaml_text import load_yaml

BENCHMARK = "demo"


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
class Turn:
    """One request of the user and how a right agent serves it."""

    ask: str
    """What the user says."""
    calls: tuple[ToolCall, ...]
    """What a right agent calls."""
    reply: str
    """What it then says; ``{field}`` stands for a field of the last response, ``{output}`` for the output."""
    output: str | None = None
    """Text that the reply has to contain."""
    wrong_output: str | None = None
    """What a careless agent says instead."""


@dataclass(frozen=True)
class Scenario:
    """A task and the parts that its simulated runs are made of."""

    task: AgentTask
    """The task as the benchmark publishes it."""
    intended: AgentTask
    """The same without seeded flaws."""
    setting: Setting
    """Where it takes place."""
    turns: tuple[Turn, ...]
    """How a right run goes, by the intended task."""
    difficulty: float
    """0 (easy) to 1 (hard)."""
    identity: str | None = None
    """How a simulated user answers when asked who they are; None for scripted users."""
    temptation: ToolCall | None = None
    """The call of an agent that does what the rules forbid."""
    confused_user: bool = False
    """The second simulator often takes itself for the assistant."""
    mixed_up: tuple[ToolCall, ToolCall] | None = None
    """A call, and the call whose response it often gets instead."""


def setting(name: str, domain: str, world: type[World], policy: str) -> Setting:
    """Describe a world as the environment of tasks."""
    environment = EnvironmentSpec(
        tools=world.tools(), policy=policy, state=world.initial, state_name=f"{domain} database"
    )
    return Setting(name, domain, world, environment)


def load_scenarios(file: str, settings: Sequence[Setting]) -> list[Scenario]:
    """Read the sound tasks of one domain from a YAML file of this package.

    Args:
        file: name of the file.
        settings: the settings of the domain; a task that names none takes place in the first.
    """
    entries = load_yaml(resources.files("agenthard.flows.demo").joinpath(file).read_text(encoding="utf-8"))["tasks"]
    places = {place.name: place for place in settings}
    default = settings[0].name
    return [scenario_of(places[entry.get("place", default)], number, entry) for number, entry in enumerate(entries)]


def scenario_of(place: Setting, number: int, entry: Mapping[str, Any]) -> Scenario:
    """Make a sound task of what is written down about it.

    Args:
        place: where it takes place.
        number: its number within the domain.
        entry: an entry of a YAML file of this package.
    """
    turns = tuple(_turn(turn) for turn in entry.get("turns", [entry]))
    played = "scene" in entry
    outputs = tuple(turn.output for turn in turns if turn.output is not None)
    gold = GroundTruth(
        semantics="reference_path" if played else "required",
        turns=tuple(turn.calls for turn in turns),
        outputs=outputs,
        call_matching="state" if played else "exact",
    )
    no_call = not played and not any(gold.turns)
    task = AgentTask(
        id=f"{place.domain}/{number}",
        native_id=str(number),
        benchmark=BENCHMARK,
        subtask=place.domain,
        user=_played(entry) if played else _script(turns),
        environment=place.environment,
        evaluation=EvaluationSpec(checks=(_check_of_calls(played, no_call), *checks_of_outputs(outputs))),
        ground_truth=gold,
        traits=frozenset({"redundant_calls_free"} if played else {"expects_no_call"} if no_call else ()),
    )
    temptation = _calls([entry["temptation"]])[0] if "temptation" in entry else None
    return Scenario(task, task, place, turns, entry["difficulty"], entry.get("identity"), temptation)


def _turn(entry: Mapping[str, Any]) -> Turn:
    calls = _calls(entry.get("calls", []))
    return Turn(entry["ask"], calls, entry["reply"], entry.get("output"), entry.get("wrong_output"))


def _calls(entries: Sequence[Mapping[str, dict[str, Any]]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name=name, arguments=given) for entry in entries for name, given in entry.items())


def _played(entry: Mapping[str, Any]) -> UserSpec:
    known = "e-mail address" if "@" in entry["identity"] else "member number"
    instruction = (
        f'You are {entry["name"]}; your {known} is {entry["identity"]}. {entry["scene"]} You begin: "{entry["ask"]}" '
        f"Give your {known} when the desk asks who you are, agree if it proposes what you asked for, and say goodbye "
        "once you have your answer."
    )
    return UserSpec(kind="simulated", instruction=instruction)


def _script(turns: Sequence[Turn]) -> UserSpec:
    return UserSpec(kind="scripted", turns=tuple((Message(role="user", content=turn.ask),) for turn in turns))


def _check_of_calls(played: bool, no_call: bool) -> Check:
    if no_call:
        return Check(kind="no_call", scored=True)
    kind: Any = "final_state" if played else "tool_calls"
    return Check(kind=kind, scored=True, pointer="/ground_truth/turns")


def checks_of_outputs(outputs: Sequence[str]) -> tuple[Check, ...]:
    """Return the scored checks that some reply of the agent contains each of ``outputs``."""
    note = "case-insensitive, commas removed"
    return tuple(
        Check(kind="output_substring", scored=True, expected=output, pointer=f"/ground_truth/outputs/{i}", note=note)
        for i, output in enumerate(outputs)
    )
