from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.ground_truth import InventedValue
from agenthard.audit.detectors.support.numbers import derives
from agenthard.audit.evidence import failure
from agenthard.audit.sources.acebench import AceBench
from agenthard.audit.sources.base import Quarantine
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task

PROPERTIES = {
    "delay": {"type": "integer", "description": "Delay in seconds, such as 450."},
    "limit": {"type": "integer", "default": 100},
    "year": {"type": "integer"},
    "newPassword": {"type": "string"},
    "api_key": {"type": "string"},
    "note": {"type": "string"},
}
TOOL = ToolSpec(name="check", parameters={"type": "object", "properties": PROPERTIES})


def task(said: str, arguments: dict[str, Any], **changes: Any) -> AgentTask:
    truth = GroundTruth(
        semantics="required", turns=((ToolCall(name="check", arguments=arguments),),), call_matching="exact"
    )
    user = UserSpec(kind="scripted", turns=((Message(role="user", content=said),),))
    return make_task(**{"user": user, "environment": EnvironmentSpec(tools=(TOOL,)), "ground_truth": truth, **changes})


@pytest.mark.parametrize(
    "arguments",
    [{"delay": 1200}, {"newPassword": "Tr0ub4dor"}, {"api_key": "YOUR_API_KEY"}, {"note": "<your name>"}],
)
def test_what_nobody_says(arguments: dict[str, Any]) -> None:
    subject = task("My books arrive late.", arguments)
    [hit] = InventedValue().inspect(subject)
    assert all(failure(item, subject, {}) is None for item in hit.evidence)


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("They are 20 minutes late.", {"delay": 1200}),
        ("They are late.", {"delay": 450}),
        ("They are late.", {"delay": 18}),
        ("They are late.", {"limit": 500}),
        ("They are late.", {"year": 1851}),
        ("They are late.", {"unknown": 1200}),
        ("They are late.", {"delay": any_of([1200], optional=True)}),
        ("They are late.", {"note": "soon"}),
        ("Use the password Tr0ub4dor.", {"newPassword": "Tr0ub4dor"}),
    ],
)
def test_said_derived_documented_or_known_values_are_clean(said: str, arguments: dict[str, Any]) -> None:
    assert list(InventedValue().inspect(task(said, arguments))) == []


def test_a_state_may_hold_the_values() -> None:
    assert (
        InventedValue().not_applicable(task("Late.", {"delay": 1200}, initial_state={}))
        == "the state may hold the values"
    )
    assert InventedValue().not_applicable(task("Late.", {"delay": 1200})) is None


@pytest.mark.parametrize(
    ("number", "text", "expected"),
    [
        (-122.27, "at 122.27 W", True),
        (500, "[200,300,400,500]", True),
        (1500, "3 PM, 1,500 guests", True),
        (43, "42 and a year", True),
        (2.5, "half of five", True),
        (777, "42 and 17", False),
    ],
)
def test_derived_numbers(number: float, text: str, expected: bool) -> None:
    assert derives(number, text) is expected


@pytest.mark.corpora
def test_acebench(corpora: Path) -> None:
    check = InventedValue()
    tasks = [t for t in AceBench(corpora / "acebench_2025-02-26").tasks(Quarantine()) if not check.not_applicable(t)]
    flagged = [task.id for task in tasks if list(check.inspect(task))]
    assert flagged == ["normal_atom_list_31", "normal_atom_number_32", "normal_atom_number_44", "normal_preference_0"]
