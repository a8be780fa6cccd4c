"""The list of things to do."""

from typing import Any

from agenthard.agency.tools.tool import Desk, Output, ToolFunction, tool


def _todo_write(desk: Desk, given: dict[str, Any]) -> Output:
    desk.notes.todos = [dict(each) for each in given["todos"]]
    return Output("\n".join(f"[{each['status']}] {each['id']}: {each['content']}" for each in desk.notes.todos))


_TODO = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "content": {"type": "string"},
        "status": {"enum": ["pending", "in_progress", "completed"]},
    },
    "required": ["id", "content", "status"],
    "additionalProperties": False,
}
TODO = (
    ToolFunction(
        tool(
            "todo_write",
            "Write the whole list of things to do.",
            ("todos",),
            todos={"type": "array", "items": _TODO, "maxItems": 100},
        ),
        "todo",
        _todo_write,
    ),
)
"""The tools of this group."""
