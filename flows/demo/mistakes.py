"""How simulated agents go wrong: a wrong value, a forgotten call, a wrong answer, a broken rule, or giving up."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import Any

from agenthard.flows.demo.scenario import Scenario, Turn
from agenthard.taxonomy import ToolCall

_GIVEN_UP = "I am sorry, I cannot help with that at the moment."
_OBLIGING = "Of course, I have done that for you."


def mistaken_turns(scenario: Scenario, rng: Random) -> Iterator[tuple[Turn, ...]]:
    """Yield ways in which an agent can get ``scenario`` wrong, in random order; giving up comes last.

    A wrong turn is not always a wrong run: a forgotten look-up may cost nothing. The caller scores them.
    """
    turns = scenario.turns
    changed = [
        (i, wrong)
        for i, turn in enumerate(turns)
        for wrong in (*_wrong_values(turn, scenario), *_forgotten_calls(turn), *_wrong_answers(turn))
    ]
    if scenario.temptation is not None:
        changed.append((0, replace(turns[0], calls=(scenario.temptation,), reply=_OBLIGING)))
    for i, wrong in sorted(changed, key=lambda _: rng.random()):
        yield (*turns[:i], wrong, *turns[i + 1 :])
    yield tuple(replace(turn, calls=(), reply=_GIVEN_UP) for turn in turns)


def _wrong_values(turn: Turn, scenario: Scenario) -> Iterator[Turn]:
    for i, call in enumerate(turn.calls):
        tool = scenario.intended.tool(call.name)
        if tool is None or tool.effect == "read":
            continue
        for name, value in call.arguments.items():
            for other in _other_values(value, tool.parameters["properties"][name], scenario):
                wrong = ToolCall(name=call.name, arguments={**call.arguments, name: other})
                yield replace(turn, calls=(*turn.calls[:i], wrong, *turn.calls[i + 1 :]))


def _other_values(value: Any, schema: dict[str, Any], scenario: Scenario) -> list[Any]:
    if "enum" in schema:
        return [other for other in schema["enum"] if other != value]
    if isinstance(value, int):
        return [value + 1 if value < schema["maximum"] else value - 1]
    if schema["description"].endswith("YYYY-MM-DD."):
        return [(date.fromisoformat(value) + timedelta(days=days)).isoformat() for days in (1, 7)]
    tables = (table for table in scenario.setting.world.initial.values() if value in table)
    return [key for table in tables for key in table if key != value][:3]


def _forgotten_calls(turn: Turn) -> Iterator[Turn]:
    for i in range(len(turn.calls)):
        yield replace(turn, calls=(*turn.calls[:i], *turn.calls[i + 1 :]))


def _wrong_answers(turn: Turn) -> Iterator[Turn]:
    if turn.wrong_output is not None:
        yield replace(turn, output=turn.wrong_output)
