from typing import Any

import pytest

from agenthard.audit.repair.call_edit import edit_call
from agenthard.audit.repair.json_edit import EditError


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        ("f('é',  b = [1,{'c':\"x\"}])", ["arguments", "b", "1", "c"], "y", "f('é',  b = [1,{'c':\"y\"}])"),
        ("f('note.md')", ["arguments", "file"], "notes.md", "f('notes.md')"),
        ("f(n='5')", ["arguments", "n"], 5, "f(n=5)"),
        ('f(n="a")', ["arguments", "n"], 'say "x"', "f(n='say \"x\"')"),
        ("f(n='a')", ["arguments", "n"], "line\nbreak", "f(n='line\\nbreak')"),
        ("api.f(1)", ["name"], "api.g", "api.g(1)"),
    ],
)
def test_everything_else_stays(text: str, path: list[str], value: Any, expected: str) -> None:
    assert edit_call(text, {"op": "replace", "value": value}, path, ["file"]) == expected


def test_an_argument_is_renamed() -> None:
    operation = {"op": "move", "from": "/x/arguments/colour", "path": "/x/arguments/color"}
    assert edit_call("f(1, colour='red')", operation, ["arguments", "colour"], ["n"]) == "f(1, color='red')"


@pytest.mark.parametrize(
    ("text", "operation", "path", "message"),
    [
        ("f(", {"op": "replace", "value": 1}, ["arguments", "a"], "cannot be parsed"),
        ("1 + 1", {"op": "replace", "value": 1}, ["arguments", "a"], "not a call"),
        ("f()", {"op": "replace", "value": 1}, ["arguments", "a"], "no argument 'a'"),
        ("f(a=1)", {"op": "remove"}, ["arguments", "a"], "cannot remove an argument"),
        ("f(a=1)", {"op": "move", "path": "/b c"}, ["arguments", "a"], "cannot be the name"),
        ("f(a=[1])", {"op": "replace", "value": 1}, ["arguments", "a", "4"], "no value at"),
    ],
)
def test_what_cannot_be_edited_is_said(text: str, operation: dict[str, Any], path: list[str], message: str) -> None:
    with pytest.raises(EditError, match=message):
        edit_call(text, operation, path, [])
