"""A room as an audited task, with the place of each of its parts in the files of a suite."""

import json
from typing import Any

from agenthard.audit.sources.formats.suite.places import origins_of
from agenthard.escape.room import Instance
from agenthard.escape.session import SYSTEM, TOOLS
from agenthard.escape.storage import to_data
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    ToolSpec,
    UserSpec,
)

INSTANCE = "escape_instance"
"""Key of a task's metadata that holds the whole room, as JSON data."""
_TEXT = "/user/turns/0/0/content"
_SIGHT = "/user/turns/0/1/content"
_ENVIRONMENT = EnvironmentSpec(
    tools=tuple(
        ToolSpec(
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            effect="read" if tool.name == "investigate" else "write",
            group="escape",
        )
        for tool in TOOLS
    ),
    policy=SYSTEM.format(per_turn="", budget="").strip(),
)


def task_of(benchmark: str, id: str, instance: Instance, origins: dict[str, Origin]) -> AgentTask:
    """Make a task of a room.

    Args:
        benchmark: Name of the source.
        id: Id of the task.
        instance: The room.
        origins: The place of its parts.

    Returns:
        The task: its texts are the story and what is in sight, which is the state too, and the ground truth are the
        oracle's calls, scored only through the answer that is submitted.
    """
    room = instance.room
    seen = [{"node_id": part.id, "kind": part.kind, "brief": part.brief} for part in room.parts]
    in_sight = set(room.visible)
    start = {"visible": [each for each in seen if each["node_id"] in in_sight]}
    said = (room.story, json.dumps(start, ensure_ascii=False))
    return AgentTask(
        id=id,
        native_id=instance.id,
        benchmark=benchmark,
        subtask=room.theme,
        user=UserSpec(kind="scripted", turns=(tuple(Message(role="user", content=text) for text in said),)),
        environment=_ENVIRONMENT,
        initial_state=start,
        evaluation=EvaluationSpec(
            checks=(Check(kind="final_state", scored=True, expected=instance.secret.answer, note="submitted answer"),)
        ),
        ground_truth=GroundTruth(
            semantics="reference_path", turns=(tuple(gold_calls(instance)),), call_matching="state"
        ),
        traits=frozenset({"redundant_calls_free", "computed_values"}),
        metadata={**_numbers(instance), INSTANCE: to_data(instance)},
        origins=origins,
    )


def gold_calls(instance: Instance) -> list[ToolCall]:
    """Return the calls of the oracle, the submission included; as far as the graph can be ordered."""
    kinds = {part.id: part.kind for part in instance.room.parts}
    calls = []
    try:
        order = instance.order()
    except (ValueError, KeyError):
        return []
    for id in order:
        calls.append(ToolCall(name="investigate", arguments={"node_id": id}))
        mechanism = instance.secret.mechanisms.get(id)
        if kinds[id] != "item" and mechanism is not None:
            name = "use_tool" if kinds[id] in ("tool", "terminal") else "use_item"
            calls.append(ToolCall(name=name, arguments={"node_id": id, "params": dict(mechanism.inputs)}))
    return [*calls, ToolCall(name="submit_answer", arguments={"answer": instance.secret.answer})]


def suite_origins(files: tuple[str, str], index: int, lines: bool) -> dict[str, Origin]:
    """Return where the parts of a task are in a suite.

    Args:
        files: Names of the public and of the private part.
        index: Position of the room in the suite, from 0.
        lines: True in JSON lines, where the room has a line of each file; in Parquet it has a row.

    Returns:
        Origin by pointer into the task.
    """
    public, private = files
    metadata = f"/metadata/{INSTANCE}"
    places = {
        "": (public, ""),
        _TEXT: (public, "/story"),
        _SIGHT: (public, "/parts"),
        f"{metadata}/room": (public, ""),
        f"{metadata}/secret": (private, "/secret"),
        f"{metadata}/certificate": (private, "/certificate"),
        "/ground_truth": (private, "/secret/mechanisms"),
        "/evaluation": (private, "/secret/answer"),
    }
    return origins_of(places, index, lines)


def _numbers(instance: Instance) -> dict[str, Any]:
    facts = instance.facts()
    return {name: facts[name] for name in ("nodes", "hidden", "min_calls")}
