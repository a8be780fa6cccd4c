"""Eight simulated models and their runs: conversations with tool calls, responses and scores."""

import json
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from agenthard.flows.demo.mistakes import mistaken_turns
from agenthard.flows.demo.scenario import Scenario, Turn
from agenthard.flows.demo.scoring import passes
from agenthard.taxonomy import Message, ToolCall, Trajectory

MODELS: Mapping[str, float] = {
    "heron-xl": 0.90,
    "quill-3": 0.82,
    "heron-mini": 0.73,
    "tamarind-70b": 0.66,
    "quill-3-lite": 0.56,
    "oxbow-2": 0.49,
    "tamarind-8b": 0.40,
    "lantern-base": 0.30,
}
"""Share of the tasks of average difficulty that each model solves."""

SIMULATORS = ("patron-sim-1", "patron-sim-2")
"""Models that play the user, one per trial: the first says everything at once, the second waits to be asked."""

_AVERAGE_DIFFICULTY = 0.45
_WEIGHT_OF_DIFFICULTY = 0.6
_CUT_OFF = 0.012
"""Share of runs that end in an infrastructure error."""
_DOUBLE_LOOK = 0.2
"""Share of right runs that repeat their first look-up, where that costs nothing."""
_FAULTY = 0.7
"""Share of runs in which a confused user or a mix-up shows, in tasks that have one."""


def simulate(scenario: Scenario, model: str, trial: int, rng: Random) -> Trajectory:
    """Run a model on a task.

    The model solves the intended task with a chance given by its strength and the task's difficulty; otherwise it
    makes a mistake that the intended task punishes. The published task scores the run.

    Args:
        scenario: the task.
        model: one of :data:`MODELS`.
        trial: 0 or 1; it decides who plays the user.
        rng: source of chance for this run.
    """
    chance = MODELS[model] + _WEIGHT_OF_DIFFICULTY * (_AVERAGE_DIFFICULTY - scenario.difficulty)
    solved, cut_off = rng.random() < chance, rng.random() < _CUT_OFF
    turns = _looking_twice(scenario, rng) if solved else _mistaken(scenario, trial, rng)
    faulty = rng.random() < _FAULTY
    if faulty and scenario.confused_user and trial == 1:
        messages = _confused(scenario)
    else:
        messages = _conversation(scenario, turns, trial, scenario.mixed_up if faulty else None)
    run = Trajectory(
        id=f"{scenario.task.id}/{model}/{trial}",
        task_id=scenario.task.id,
        model=model,
        trial=trial,
        user_model=None if scenario.identity is None else SIMULATORS[trial],
        messages=messages,
    )
    if cut_off:
        reason = "the tool server did not answer within 30 s"
        cut = {"status": "infrastructure_error", "status_reason": reason, "messages": messages[:2]}
        return run.model_copy(update=cut)
    passed = passes(scenario.task, scenario.setting.world, messages)
    return run.model_copy(update={"score": float(passed), "passed": passed})


def _looking_twice(scenario: Scenario, rng: Random) -> tuple[Turn, ...]:
    turn = scenario.turns[0]
    look = turn.calls[:1]
    free = "redundant_calls_free" in scenario.intended.traits and len(turn.calls) > 1
    if free and rng.random() < _DOUBLE_LOOK and _reads(scenario, look[0]):
        return (replace(turn, calls=(*look, *turn.calls)),)
    return scenario.turns


def _reads(scenario: Scenario, call: ToolCall) -> bool:
    tool = scenario.intended.tool(call.name)
    return tool is not None and tool.effect == "read"


def _mistaken(scenario: Scenario, trial: int, rng: Random) -> tuple[Turn, ...]:
    world = scenario.setting.world
    for turns in mistaken_turns(scenario, rng):
        if not passes(scenario.intended, world, _conversation(scenario, turns, trial, None)):
            return turns
    raise ValueError(f"{scenario.task.id}: the intended task passes an agent that gives up")


def _conversation(
    scenario: Scenario, turns: tuple[Turn, ...], trial: int, mixed_up: tuple[ToolCall, ToolCall] | None
) -> tuple[Message, ...]:
    world, messages = scenario.setting.world(), list[Message]()
    for number, turn in enumerate(turns):
        messages += _request(scenario, turn, trial) if number == 0 else [Message(role="user", content=turn.ask)]
        response: dict[str, Any] = {}
        for call in turn.calls:
            asked = mixed_up[1] if mixed_up and call == mixed_up[0] else call
            response = world.call(asked.name, asked.arguments)
            messages += _exchange(call, response, f"call_{len(messages)}")
        messages.append(Message(role="assistant", content=_reply(turn, response)))
    if scenario.identity is not None:
        goodbye = ("Wonderful, thank you. Goodbye!", "Thanks. Bye.")[trial]
        messages.append(Message(role="user", content=goodbye))
    return tuple(messages)


def _request(scenario: Scenario, turn: Turn, trial: int) -> list[Message]:
    if scenario.identity is None:
        return [Message(role="user", content=turn.ask)]
    if trial == 0:
        return [Message(role="user", content=f"{turn.ask} My details: {scenario.identity}.")]
    return [
        Message(role="user", content=turn.ask),
        Message(role="assistant", content="With pleasure. Who am I speaking to?"),
        Message(role="user", content=f"{scenario.identity}."),
    ]


def _confused(scenario: Scenario) -> tuple[Message, ...]:
    request, question, _ = _request(scenario, scenario.turns[0], 1)
    role = "Certainly! I have taken care of everything. Is there anything else I can help you with today?"
    goodbye = "Oh. Then that is settled, it seems. Thank you, and goodbye."
    return (request, question, Message(role="user", content=role), Message(role="assistant", content=goodbye))


def _exchange(call: ToolCall, response: dict[str, Any], key: str) -> list[Message]:
    made = ToolCall(name=call.name, arguments=call.arguments, id=key)
    content = json.dumps(response, ensure_ascii=False)
    return [
        Message(role="assistant", tool_calls=(made,)),
        Message(role="tool", content=content, tool_call_id=key, tool_name=call.name),
    ]


def _reply(turn: Turn, response: dict[str, Any]) -> str:
    if "error" in response:
        return f"I am afraid that did not work: {response['error']}."
    try:
        return turn.reply.format_map({**response, "output": turn.output})
    except KeyError:
        return "That is taken care of."
