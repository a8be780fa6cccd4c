from typing import Any

import pytest

from agenthard.audit.judge.context.passages import gather
from agenthard.taxonomy import EnvironmentSpec, Origin, Signature, ToolSpec
from tests.builders import LEND, make_task

TAKES = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def titles(**changes: Any) -> dict[str, str]:
    values = {"name": "count", "description": "Counts.", "parameters": TAKES, "effect": "read"}
    task = make_task(environment=EnvironmentSpec(tools=(LEND, ToolSpec(**{**values, **changes}))))
    start = "/environment/tools/1/"
    return {p.label.removeprefix(start): p.title for p in gather(task).passages if p.label.startswith(start)}


def code(*names: str, required: tuple[str, ...] = ()) -> Signature:
    return Signature(parameters=names, required=required, source="def count(...):", origin=Origin(file="count.py"))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"description": "tool of the agent: count (read)", "parameters": "parameters of count"}),
        ({"parameters": {"type": "object"}}, {"description": "tool of the agent: count (read), no parameters"}),
        ({"description": ""}, {"parameters": "tool of the agent: count (read), no description; its parameters"}),
        (
            {"language": "java", "effect": "unknown", "returns": {"description": "A sum."}},
            {
                "description": "tool of the agent: count, java values",
                "parameters": "parameters of count",
                "returns": "what count returns",
            },
        ),
    ],
)
def test_of_a_tool_is_shown_what_it_does_takes_and_returns(changes: Any, expected: dict[str, str]) -> None:
    assert titles(**changes) == expected


def test_the_code_is_shown_where_it_takes_something_else() -> None:
    assert "implementation/source" not in titles(implementation=code("n", required=("n",)))
    assert titles(implementation=code("n"))["implementation/source"] == "implementation of count"
    assert "implementation/source" in titles(implementation=code("m", required=("m",)))
