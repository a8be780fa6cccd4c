from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.ground_truth import UnaskedArgument
from agenthard.audit.detectors.support.gold_values import documented
from agenthard.audit.evidence import failure
from agenthard.audit.sources.acebench import AceBench
from agenthard.audit.sources.base import Quarantine
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task

FIND = ToolSpec(
    name="find_books",
    parameters={
        "type": "object",
        "properties": {
            "topic": {"type": "string"},
            "include_reviews": {"type": "boolean"},
            "show_covers": {"type": "boolean", "default": True},
            "detail_level": {"type": "string", "enum": ["Brief", "Full"]},
            "genre": {"type": "string"},
            "filter": {"type": "object", "properties": {"loaned": {"type": "boolean"}}, "required": ["loaned"]},
        },
        "required": ["topic"],
    },
)


def task(said: str, *, matching: Any = "exact", **arguments: Any) -> AgentTask:
    call = ToolCall(name="find_books", arguments={"topic": "whales", **arguments})
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=(FIND,)),
        ground_truth=GroundTruth(semantics="required", turns=((call,),), call_matching=matching),
    )


@pytest.mark.parametrize(
    "arguments",
    [{"include_reviews": False}, {"filter": {"loaned": False}}, {"detail_level": "Brief"}],
)
def test_an_optional_setting_without_a_word(arguments: dict[str, Any]) -> None:
    subject = task("Find books about whales.", **arguments)
    [hit] = UnaskedArgument().inspect(subject)
    assert all(failure(item, subject, {}) is None for item in hit.evidence)


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Find books about whales, without any review.", {"include_reviews": False}),
        ("Find books about whales, in brief.", {"detail_level": "Brief"}),
        ("Find books about whales, with all details.", {"detail_level": "Full"}),
        ("Find books about whales.", {"show_covers": False}),
        ("Find books about whales.", {"show_covers": True}),
        ("Find books about whales.", {"genre": "Nature"}),
        ("Find books about whales.", {"include_reviews": True}),
        ("Find books about whales.", {"include_reviews": any_of([False], optional=True)}),
        ("Find books about whales.", {"unknown": False}),
    ],
)
def test_asked_for_default_or_free_values_are_clean(said: str, arguments: dict[str, Any]) -> None:
    assert list(UnaskedArgument().inspect(task(said, **arguments))) == []


def test_what_cannot_be_checked() -> None:
    check = UnaskedArgument()
    assert check.not_applicable(task("Find books.", matching="state")) == "calls count only through what they lead to"
    assert check.not_applicable(task("Найди книги о китах.")) == "the conversation is not in English"
    reason = "the gold demands no optional setting: others are not looked at"
    assert check.not_applicable(task("Find books about whales.")) == reason


def test_the_documentation_of_a_place() -> None:
    place = documented(FIND, "/filter/$any_of/0/loaned")
    assert place is not None and place.optional and place.schema == {"type": "boolean"}
    assert documented(FIND, "/topic/deeper") is None


@pytest.mark.corpora
def test_acebench(corpora: Path) -> None:
    check = UnaskedArgument()
    tasks = [t for t in AceBench(corpora / "acebench_2025-02-26").tasks(Quarantine()) if not check.not_applicable(t)]
    flagged = {task.id for task in tasks if list(check.inspect(task))}
    assert {"normal_atom_bool_48", "normal_single_turn_parallel_function_26"} <= flagged and len(flagged) == 12
