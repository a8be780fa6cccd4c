"""Two models that work on our own suite, or any installed one: they look around for a while, then write a solution.

``diligent`` writes the reference solution, ``hasty`` the partial one. Both go on from the tool results that they see in
the conversation, as a model does: one that does not see what it has done does it again.
"""

from functools import cache
from typing import Any

from agenthard.agency.packs import packs
from agenthard.agency.scaffolds.script import solution_script
from tests.loopback.talk import Answer, Asked, Called, Said

LOOKS = 20
"""Turns in which a model looks around before it writes."""
SOLUTIONS = {"diligent": "reference", "hasty": "partial"}


def plays(asked: Asked) -> Answer:
    """Play the next call of the solution, as far as the conversation shows what was done."""
    start = max(number for number, said in enumerate(asked.said) if _is_task(said))
    text = asked.said[start].text
    id = next(id for query, id in _tasks() if query in text)
    look = [("glob", {"pattern": f"**/*{number}*"}) for number in range(LOOKS)]
    calls = [*look, *_solution(SOLUTIONS[asked.model], id)]
    done = sum(said.role == "tool" and bool(said.text) for said in asked.said[start:])
    if done >= len(calls):
        return Answer(text="It is done.")
    name, arguments = calls[done]
    return Answer(calls=(Called(name, arguments),))


@cache
def _tasks() -> list[tuple[str, str]]:
    return [(task.query, task.id) for pack in packs().values() for task in pack.scenario.tasks]


@cache
def _solution(name: str, id: str) -> list[tuple[str, dict[str, Any]]]:
    pack = next(pack for pack in packs().values() if any(task.id == id for task in pack.scenario.tasks))
    assert pack.solutions is not None
    script = solution_script(pack.solutions / name, [id])
    return [(call.name, call.arguments) for call in script.calls(id, 0) or ()]


def _is_task(said: Said) -> bool:
    return said.role == "user" and said.text.startswith("Task ")
