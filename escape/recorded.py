"""A recorded run of a room, call by call, with the state of every part after each."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agenthard.audit.sources.formats.suite import MalformedInstanceError
from agenthard.escape.audit_task import INSTANCE
from agenthard.escape.proof.structure import structure_problems
from agenthard.escape.room import Instance
from agenthard.escape.storage import from_data
from agenthard.taxonomy.run_page import RunPage
from agenthard.taxonomy.task import ToolCall
from agenthard.taxonomy.trajectory import Trajectory

LEGEND = (
    ("unseen", "–", "out of sight"),
    ("seen", "○", "in sight"),
    ("looked", "◔", "looked at"),
    ("resolved", "●", "resolved"),
    ("refused", "✕", "used wrongly"),
    ("early", "!", "used before what it depends on"),
)


def page_of_task(metadata: Mapping[str, Any], run: Trajectory) -> RunPage | None:
    """Return the page of a run of an audited room; None for a task of another benchmark, or a room that is broken."""
    if INSTANCE not in metadata:
        return None
    try:
        instance = from_data(metadata[INSTANCE])
    except MalformedInstanceError:
        return None
    return None if next(structure_problems(instance), None) else run_page(instance, run)


def run_page(instance: Instance, run: Trajectory) -> RunPage:
    """Return the page of a run of a room.

    Args:
        instance: The whole room, whose parts fit together.
        run: A run of it; nothing in it is trusted.
    """
    data = recorded_view(instance, run)
    calls, turns = len(data["steps"]) - 1, data["steps"][-1]["turn"]
    fewest = instance.facts()["min_calls"]
    return RunPage(
        title=f"Escape room {instance.id}",
        agent=run.model,
        trial=run.trial,
        outcome={True: "out of the room", False: "not out of the room", None: "no verdict"}[run.passed],
        summary=f"{calls} calls in {turns} turns; the fewest calls are {fewest}, without the submission.",
        legend=LEGEND,
        data=data,
    )


def recorded_view(instance: Instance, run: Trajectory) -> dict[str, Any]:
    """Describe a run as plain data, for a page.

    Args:
        instance: The whole room.
        run: A run of it; nothing in it is trusted.

    Returns:
        ``parts`` with their place in the graph (``column``, ``row``), ``links``, and ``steps``: first the start, then
        one for each call with its arguments, its answer, and the state of every part after it.
    """
    columns = _columns(instance)
    rows: dict[int, int] = {}
    parts = []
    for part in instance.room.parts:
        row = rows[columns[part.id]] = rows.get(columns[part.id], -1) + 1
        mechanism = instance.secret.mechanisms[part.id]
        parts.append(
            {"id": part.id, "kind": part.kind, "brief": part.brief, "template": mechanism.template}
            | {"column": columns[part.id], "row": row}
        )
    links = [
        {"source": link.source, "target": link.target, "text": f"{link.output} → {link.input}"}
        | {"trigger": link.input == "trigger"}
        for link in instance.secret.links
    ]
    return {"parts": parts, "links": links, "steps": list(_steps(instance, run))}


def _columns(instance: Instance) -> dict[str, int]:
    """Return for each part the length of the longest way that leads to it."""
    columns: dict[str, int] = {}
    for id in instance.order():
        before = [columns[link.source] for link in instance.secret.links if link.target == id]
        columns[id] = max(before, default=-1) + 1
    return columns


def _steps(instance: Instance, run: Trajectory) -> Iterator[dict[str, Any]]:
    ids = {part.id for part in instance.room.parts}
    states = {part.id: "seen" if part.id in instance.room.visible else "unseen" for part in instance.room.parts}
    yield {"turn": 0, "call": "", "part": "", "arguments": "", "answer": "", "ok": True, "states": dict(states)}
    answers = {message.tool_call_id: message.content for message in run.messages if message.role == "tool"}
    turn = 0
    for message in run.messages:
        turn += message.role == "assistant"
        for call in message.tool_calls:
            answer = _parsed(answers.get(call.id, ""))
            part = _part(call)
            early = _early(instance, part, states) if call.name.startswith("use_") and part in ids else False
            if part in ids:
                states[part] = _state(states[part], call.name, answer, early)
            for each in answer.get("new_entities", ()):
                if isinstance(each, dict) and states.get(str(each.get("node_id"))) == "unseen":
                    states[str(each["node_id"])] = "seen"
            yield {
                "turn": turn,
                "call": call.name,
                "part": part if part in ids else "",
                "arguments": json.dumps(call.arguments, ensure_ascii=False, indent=1),
                "answer": answers.get(call.id, "(no answer is recorded)"),
                "ok": answer.get("ok") is True,
                "states": dict(states),
            }


def _state(before: str, call: str, answer: dict[str, Any], early: bool) -> str:
    if before == "resolved" or (answer.get("ok") is True and "outputs" in answer and answer.get("resolved", True)):
        return "resolved"
    if answer.get("ok") is True:
        return "looked" if call == "investigate" or before == "looked" else before
    return "early" if early else "refused" if call.startswith("use_") and before != "unseen" else before


def _early(instance: Instance, part: str, states: dict[str, str]) -> bool:
    """Tell whether something that a part depends on is not resolved."""
    return any(states[link.source] != "resolved" for link in instance.feeds(part).values())


def _part(call: ToolCall) -> str:
    return str(call.arguments.get("node_id", ""))


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
