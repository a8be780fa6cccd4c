"""Gold values in another unit than the documentation or the user names."""

from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import OtherUnit
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task


def described(kind: str, description: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": description, **more}


def tool(name: str, **properties: dict[str, Any]) -> ToolSpec:
    return ToolSpec(name=name, parameters={"type": "object", "properties": properties, "required": list(properties)})


TOOLS = (
    tool("cook", time=described("number", "Cooking time in hours.")),
    tool("walk", distance=described("number", "The distance, km."), limit=described("integer", "Limit in minutes.")),
    tool("heat", temperature=described("number", "In degrees Celsius.")),
    tool("measure", height=described("integer", "Height in inches.")),
    tool(
        "scan",
        duration=described("number", "监测的持续时间，以分钟为单位。"),
        orbit=described("number", "周期，单位为天。"),
    ),
    tool("near", radius=described("string", "Search radius, such as '5km'.")),
    tool("prices", duration=described("string", "Time span, e.g. '1 week'.")),
    tool("far", unit=described("string", "The unit of measurement, default is 'km'.")),
    tool("convert", from_unit=described("string", "Unit."), to_unit=described("string", "Unit.")),
    tool("fill", liters=described("number", "The amount in gallons.")),
    tool("wait", seconds=described("number", "How long."), per_hour=described("number", "Visits per hour.")),
)


def task(said: str, *calls: ToolCall) -> AgentTask:
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=TOOLS),
        ground_truth=GroundTruth(semantics="required", turns=(calls,)),
    )


def hits(said: str, name: str, **arguments: Any) -> list[Hit]:
    subject, check = task(said, ToolCall(name=name, arguments=arguments)), OtherUnit()
    assert check.not_applicable(subject) is None
    found = list(check.inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


@pytest.mark.parametrize(
    ("said", "name", "arguments", "quoted"),
    [
        ("A soup in 30 minutes, please.", "cook", {"time": 30}, "30 minutes"),
        ("Plan a walk of 300 meters.", "walk", {"distance": 300}, "300 meters"),
        ("Warm it to 300 K.", "heat", {"temperature": 300}, "300 K"),
        ("Monitor it for 60分钟.", "scan", {"duration": 3600}, "60分钟"),
        ("其轨道周期为2.22小时。", "scan", {"orbit": 2.22}, "2.22小时"),
        ("Wait 6 minutes.", "wait", {"seconds": 600}, "6 minutes"),
        ("搜索半径为5英里。", "near", {"radius": "5km"}, "5英里"),
        ("Prices of the last 2 weeks.", "prices", {"duration": "14 days"}, "2 weeks"),
        ("How far is the moon, in miles?", "far", {"unit": any_of(["km"], optional=True)}, "in miles"),
        ("How far is the moon, in miles?", "far", {}, "in miles"),
        ("Convert 5 feet into inches.", "convert", {"from_unit": "feet", "to_unit": "cm"}, "into inches"),
        ("Fill in 20 liters.", "fill", {"liters": 20}, "20 liters"),
    ],
)
def test_flagged(said: str, name: str, arguments: dict[str, Any], quoted: str) -> None:
    (hit,) = hits(said, name, **arguments)
    assert hit.evidence[-1].quote == quoted


@pytest.mark.parametrize(
    ("said", "name", "arguments"),
    [
        ("A soup in 30 minutes, please.", "cook", {"time": 0.5}),
        ("A soup in an hour and 30 minutes.", "cook", {"time": 1.5}),
        ("Plan a walk of 5 miles.", "walk", {"distance": 8}),
        ("Plan a walk of 300 meters for 2 hours.", "walk", {"distance": 0.3, "limit": 120}),
        ("Predict it for a height of 5ft 10in.", "measure", {"height": 70}),
        ("A walk of 3 km; 3 meters of rope.", "walk", {"distance": 3}),
        ("Within 5km.", "near", {"radius": "5km"}),
        ("Prices of the last 2 weeks.", "prices", {"duration": any_of(["14 days", "2 weeks"])}),
        ("How far is it, in kilometers?", "far", {"unit": "km"}),
        ("How far is it for 3 friends?", "far", {"unit": "km"}),
        ("Convert 5 feet into inches.", "convert", {"from_unit": "feet", "to_unit": "inches"}),
        ("It opens for 3 hours a day.", "wait", {"per_hour": 3}),
    ],
)
def test_not_flagged(said: str, name: str, arguments: dict[str, Any]) -> None:
    assert not hits(said, name, **arguments)


def test_a_measure_that_another_value_gives_is_not_left_over() -> None:
    assert not hits("A walk of 3 km in 2 hours and a break of 7 minutes.", "walk", distance=3, limit=120)


def test_nothing_to_check() -> None:
    assert OtherUnit().not_applicable(task("Hello.")) == "the ground truth holds no calls"
