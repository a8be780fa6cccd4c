"""Rooms for tests, made once."""

from dataclasses import replace
from functools import cache
from typing import Any

from agenthard.escape.environment import Conditions, Environment
from agenthard.escape.evaluation import EscapeConditions, EscapeTask
from agenthard.escape.generator import Parameters, generate
from agenthard.escape.room import Instance
from agenthard.taxonomy.trajectory import Trajectory

SMALL = Parameters(sizes=(5, 10, 15), rooms=(8,), seed=7)


@cache
def rooms() -> tuple[Instance, ...]:
    """A small suite."""
    return tuple(generate(SMALL))


def with_hidden() -> Instance:
    """The first room that hides a part."""
    return next(room for room in rooms() if room.hidden)


def with_tool(template: str) -> tuple[Instance, str]:
    """The first room with a tool of a template, and the id of the tool."""
    return next(
        (room, id) for room in rooms() for id, m in room.secret.mechanisms.items() if m.template.startswith(template)
    )


def play(agent: str, instance: Instance, trial: int = 0, **conditions: Any) -> Trajectory:
    """Lets an agent play a room."""
    task = EscapeTask(instance.id, instance, EscapeConditions(**conditions), 42)
    return task.play(agent, "", 0.0, trial)


def started(instance: Instance, **conditions: Any) -> Environment:
    """An episode in its first turn."""
    environment = Environment(instance, Conditions(**{"turns": -1, "calls_per_turn": 10_000, **conditions}))
    environment.begin_turn()
    return environment


def changed(instance: Instance, part: str, **values: Any) -> Instance:
    """A room with another mechanism of a part, and without a certificate."""
    mechanisms = dict(instance.secret.mechanisms)
    mechanisms[part] = replace(mechanisms[part], **values)
    return replace(instance, secret=replace(instance.secret, mechanisms=mechanisms), certificate=None)
