"""Ready-made brains. Any function from `Asked` to `Answer` is one; the same request should get the same answer."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.loopback.talk import Answer, Asked, Brain, Called

_GRID = "get_current_grid_state"


def echo(asked: Asked) -> Answer:
    """Says what was said last."""
    return Answer(text=f"You said: {asked.said[-1].text}")


def first_tool_then_done(asked: Asked) -> Answer:
    """Calls the first tool on offer with no arguments, then says what it returned."""
    if asked.said[-1].role == "tool" or not asked.tools:
        return Answer(text=f"The tool said: {asked.said[-1].text}")
    return Answer(calls=(Called(asked.tools[0]["name"], {}),))


def scripted(answers: Sequence[Answer]) -> Brain:
    """Gives the nth answer as the nth reply of every conversation, and the last one for ever after."""

    def brain(asked: Asked) -> Answer:
        return answers[min(asked.turn, len(answers) - 1)]

    return brain


def fixed_arguments(calls: Sequence[tuple[str, dict[str, object]]]) -> Brain:
    """Makes these calls one by one in every conversation, then says "finished"."""
    return scripted([*(Answer(calls=(Called(name, dict(args)),)) for name, args in calls), Answer(text="finished")])


def ace(asked: Asked) -> Answer:
    """Plays an ACE episode: for each hidden slot it lists the candidates, sets the first, and is done at the end.

    All it needs stands in the conversation. It looks at no constraint, so it solves a puzzle only by luck; of a tool
    that fails on purpose it asks again, up to eight times for a slot.
    """
    done = list(_answered(asked))
    grid = next((data["slots"] for call, data in done if call.name == _GRID and "slots" in data), None)
    if grid is None:
        return Answer(calls=(Called(_GRID, {}),))
    query = next(tool["name"] for tool in asked.tools if tool["name"].startswith("query_"))
    for row, col in [(row, col) for row, ids in enumerate(grid) for col, id in enumerate(ids) if id is None]:
        here = [(call, data) for call, data in done if _place(call) == (row, col)]
        if len(here) >= 8 or any(call.name == "set_slot" and data for call, data in here):
            continue
        matches = next((data["matches"] for call, data in here if call.name == query and data.get("matches")), None)
        if matches is None:
            arguments = {"row": row, "col": col, "field": "name", "operator": "not_in", "value": []}
            return Answer(text=f"Looking at ({row}, {col}).", calls=(Called(query, arguments),))
        chosen = matches[0]["id"] if isinstance(matches[0], dict) else matches[0]
        return Answer(calls=(Called("set_slot", {"row": row, "col": col, "id": chosen}),))
    return Answer(calls=(Called("done", {}),))


def _answered(asked: Asked) -> Iterator[tuple[Called, dict[str, Any]]]:
    """Pairs each call that was carried out with the data its tool returned, {} when it failed."""
    waiting: list[Called] = []
    for said in asked.said:
        if said.role == "assistant":
            waiting = list(said.calls)
        elif said.role == "tool" and waiting:
            yield waiting.pop(0), _data(said.text)


def _data(text: str) -> dict[str, Any]:
    """The data in a tool's answer, inside whatever envelope (Gemini's {"result": TEXT}) the client put it."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return {}
    if not isinstance(value, dict):
        return {}
    if "status" not in value and len(value) == 1:
        inner = next(iter(value.values()))
        return _data(inner if isinstance(inner, str) else json.dumps(inner))
    return value.get("data") or {}


def _place(call: Called) -> tuple[Any, Any] | None:
    try:
        arguments = json.loads(call.text)
    except json.JSONDecodeError:
        return None
    return (arguments.get("row"), arguments.get("col")) if isinstance(arguments, dict) else None
