import enum
from pathlib import Path
from typing import Any, Literal, Optional

import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau2.python_tools import parse_docstring
from agenthard.taxonomy.task import ToolSpec
from tests.audit.sources.tau.tau2.conftest import TOOLS_PY, write

CODE = Path("src") / "tau2" / "domains" / "telecom"


def tools(root: Path) -> dict[str, ToolSpec]:
    task = next(Tau2Bench(root, ["telecom"]).tasks(Quarantine()))
    return {tool.name: tool for tool in task.environment.tools}


def test_decorated_methods_are_tools_with_their_effect(checkout: Path) -> None:
    found = tools(checkout)
    assert [(tool.name, tool.effect) for tool in found.values()] == [
        ("set_speed", "write"),
        ("transfer", "read"),
        ("get_line", "read"),
    ]
    assert found["set_speed"].origin is not None
    assert found["set_speed"].origin.file == (CODE / "tools.py").as_posix()
    assert TOOLS_PY.splitlines()[(found["set_speed"].origin.line or 0) - 1].strip() == "def set_speed("


def test_descriptions_are_those_the_benchmark_shows(checkout: Path) -> None:
    found = tools(checkout)
    assert found["set_speed"].description == "Sets the speed.\n\nOnly for active lines.\n\nMore text."
    assert found["transfer"].description == "Hand over."
    assert found["get_line"].description == "get_line"
    assert found["set_speed"].returns == {
        "additionalProperties": True,
        "description": "The changed line.",
        "title": "Returns",
        "type": "object",
    }


class Speed(str, enum.Enum):  # noqa: UP042  the form the benchmark uses
    """How fast."""

    SLOW = "slow"
    FAST = "fast"


class Base(BaseModel):
    number: str = Field(..., description="Phone number")


class Line(Base):
    kind: Literal["mobile", "fixed"]
    active: bool = Field(default=True, description="Whether it works")
    tags: list[str] = Field(default_factory=list)
    owner: Optional["Person"] = None


class Plan(BaseModel):
    """A plan."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="Name of the plan")
    speed: Speed = Speed.SLOW
    unknown: Any = None


class Person(BaseModel):
    lines: list[Line]


def test_the_schema_is_the_one_pydantic_writes_for_the_real_classes(checkout: Path) -> None:
    """The same classes, defined here, are the oracle; the recursive Person.lines becomes a list of anything."""
    oracle = create_model(
        "parameters",
        line=(Line, Field(..., description="The line to change.")),
        speed=(Speed | str, Field(..., description='The new speed,\nsuch as "fast".')),
        days=(int | None, None),
        mode=(Literal["now", "later"], Field("now", description="When.")),
        plans=(list[Plan | dict], []),  # type: ignore[type-arg]
        default=(Speed, Speed.FAST),
    ).model_json_schema()
    oracle["$defs"]["Person"]["properties"]["lines"]["items"] = {}
    assert tools(checkout)["set_speed"].parameters == oracle


def test_signatures_tell_what_the_method_takes(checkout: Path) -> None:
    found = tools(checkout)
    signature = found["set_speed"].implementation
    assert signature is not None
    assert signature.parameters == ("line", "speed", "days", "mode", "plans", "default")
    assert signature.required == ("line", "speed")
    keyword_only = found["get_line"].implementation
    assert keyword_only is not None
    assert (keyword_only.parameters, keyword_only.required) == (("number",), ("number",))
    assert keyword_only.source == "def get_line(self, *, number: str):"
    assert found["get_line"].parameters["required"] == ["number"]
    assert found["transfer"].parameters["properties"]["summary"] == {"title": "Summary"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class T:\n    @is_tool()\n    def f(self, x: 'a b'): pass\n", "cannot describe the tool f"),
        ("class T(:\n", "not Python"),
        ("class T:\n    pass\n", "no tools"),
    ],
)
def test_code_that_cannot_be_described_takes_only_its_domain_out(checkout: Path, text: str, reason: str) -> None:
    write(checkout / CODE / "tools.py", text)
    quarantine = Quarantine()
    assert {task.subtask for task in Tau2Bench(checkout).tasks(quarantine)} == {"airline"}
    assert reason in quarantine.items[0].reason


@pytest.mark.parametrize(
    "annotation",
    ["Callable[[int], str]", "Missing", "Union[1, 2]", "A", "Dict[str]", "f(x)", "list[A]", "Literal[x]", "a.b.C", "7"],
)
def test_odd_annotations_become_anything_or_an_error_with_a_line(checkout: Path, annotation: str) -> None:
    write(checkout / CODE / "data_model.py", "A = B\nB = A\n")
    write(checkout / CODE / "tools.py", f"class T:\n    @is_tool()\n    def f(self, x: {annotation}): pass\n")
    quarantine = Quarantine()
    described = [task for task in Tau2Bench(checkout, ["telecom"]).tasks(quarantine)]
    if described:
        assert described[0].environment.tools[0].parameters["required"] == ["x"]
    else:
        assert quarantine.items[0].line == 3


def test_docstrings_without_sections_or_text() -> None:
    assert parse_docstring(None).description == ""
    assert parse_docstring("One line.").description == "One line."
    parsed = parse_docstring("Do.\n\nReturns:\n    A text without a type")
    assert (parsed.returns, parsed.arguments) == ("A text without a type", {})


def test_exported_tools_win_over_python(checkout: Path) -> None:
    exported = [{"function": {"name": "only", "parameters": {"type": "object"}}, "x_tool_type": "write"}]
    write(checkout / "data/tau2/domains/telecom/tools.json", exported)
    assert list(tools(checkout)) == ["only"]
