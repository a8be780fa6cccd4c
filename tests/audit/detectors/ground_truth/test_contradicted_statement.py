"""What the user states for a parameter, against what the gold calls give it."""

from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import ContradictedStatement
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
SWITCH = {"type": "boolean"}


def tool(name: str, **properties: dict[str, Any]) -> ToolSpec:
    return ToolSpec(name=name, parameters={"type": "object", "properties": properties, "required": list(properties)})


TOOLS = (
    tool("watch", alertThreshold=NUMBER, logDays=NUMBER),
    tool("drop", initial_velocity=NUMBER, height=NUMBER),
    tool("trains", departure=TEXT, arrival=TEXT),
    tool("integrate", start_x=NUMBER, end_x=NUMBER),
    tool("report", start_date=TEXT, end_date=TEXT),
    tool("mean", numbers={"type": "array", "items": NUMBER}),
    tool("buy", things={"type": "array", "items": TEXT}),
    tool("race", track=TEXT),
    tool("homes", has_garage=SWITCH, area=TEXT),
    tool("ticket", number=NUMBER, resolution=TEXT),
    tool("meet", meetingTime=NUMBER),
    tool("profit", annual_return=NUMBER),
    tool("ride", smoking={"type": "boolean", "description": "是否允许吸烟。"}),
    tool("shape", 大小={"type": "number", "description": "结构的尺寸，单位为纳米。"}),
)


def task(said: str, *calls: ToolCall, kind: str = "scripted") -> AgentTask:
    scripted = UserSpec(kind="scripted", turns=((Message(role="user", content=said),),))
    return make_task(
        user=scripted if kind == "scripted" else UserSpec(kind="simulated", instruction=said),
        environment=EnvironmentSpec(tools=TOOLS),
        ground_truth=GroundTruth(semantics="required", turns=(calls,)),
    )


def hits(subject: AgentTask) -> list[Hit]:
    check = ContradictedStatement()
    assert check.not_applicable(subject) is None
    found = list(check.inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


FALLS = "The first had an initial velocity of 2 m/s and a height of 10 meters, the second an initial velocity of 5 m/s."


@pytest.mark.parametrize(
    ("said", "calls", "meant"),
    [
        ("Set an alert threshold of 3 over 14 days.", [call("watch", alertThreshold=30, logDays=14)], "'3'"),
        (FALLS, [call("drop", initial_velocity=2, height=10), call("drop", initial_velocity=9, height=10)], "'5'"),
        ("给我一个结构，尺寸为60纳米。", [call("shape", 大小=68)], "'60'"),
        ("我明天去上海，不允许吸烟。", [call("ride", smoking=True)], "不允许吸烟"),
        ("我明天去上海，车里允许吸烟。", [call("ride", smoking=False)], "车里允许吸烟"),
        ("Trains from Anaheim to Berkeley?", [call("trains", departure="Berkeley", arrival="Anaheim")], "other way"),
        ("Trains from Anaheim to Berkeley?", [call("trains", departure="Berkeley", arrival="Berkeley")], "other end"),
        ("Integrate it from x = 2 to x = 5.", [call("integrate", start_x=2, end_x=4)], "from x = 2 to x = 5"),
        ("A report for May.", [call("report", start_date="2024-05-31", end_date="2024-05-01")], "which is after"),
        ("The mean of 3, 4, 5, 6 and 4, please.", [call("mean", numbers=[3, 4, 6, 4])], "3, 4, 5, 6 and 4"),
        ("Buy apples, pears and plums.", [call("buy", things=["apples", "kiwis", "plums"])], "'pears'"),
        (
            "Compare the lap times at Silverstone and Monza.",
            [call("race", track="Monza"), call("race", track="Monza")],
            "'Silverstone'",
        ),
        ("How was the race at Silverstone?", [call("race", track="Zandvoort")], "'Silverstone'"),
        ("A home that has a garage, in town.", [call("homes", has_garage=False, area="town")], "garage"),
        ("A home in town, without a garage.", [call("homes", has_garage=True, area="town")], "garage"),
        ("Close ticket 7 and leave the resolution empty.", [call("ticket", number=7, resolution="Done")], "left empty"),
        ("We meet at 3 PM.", [call("meet", meetingTime=300)], "3 PM"),
        (
            "One fund has a return of 7%, the other of 5%.",
            [call("profit", annual_return=7.0), call("profit", annual_return=0.05)],
            "fraction",
        ),
    ],
)
def test_what_the_user_states_otherwise_is_flagged(said: str, calls: list[ToolCall], meant: str) -> None:
    found = hits(task(said, *calls))
    assert found
    assert all(meant in hit.claim for hit in found)


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("Set an alert threshold of 3 over 14 days.", [call("watch", alertThreshold=3, logDays=14)]),
        ("Change the alert threshold from 3 to 30.", [call("watch", alertThreshold=30, logDays=1)]),
        (FALLS, [call("drop", initial_velocity=2, height=10), call("drop", initial_velocity=5, height=10)]),
        ("Trains from Anaheim to Berkeley?", [call("trains", departure="Anaheim, CA", arrival="Berkeley, CA")]),
        ("From Anaheim to Berkeley and back.", [call("trains", departure="Berkeley", arrival="Anaheim")]),
        ("Plot it from 0 to 2 pi.", [call("integrate", start_x=0, end_x=6.2832)]),
        ("The mean of 3, 4, 5, 6 and 4, please.", [call("mean", numbers=[3, 4, 5, 6, 4])]),
        ("Buy apples, pears and plums.", [call("buy", things=["apples", "pears", "plums"])]),
        ("How is the stock of Apple?", [call("race", track="AAPL")]),
        ("How was the race at Silverstone?", [call("race", track=any_of(["Zandvoort", "Silverstone"]))]),
        ("A home in town; if there is one with a garage.", [call("homes", has_garage=False, area="town")]),
        ("Close ticket 7 as done.", [call("ticket", number=7, resolution="Done")]),
        ("We meet at 3 PM.", [call("meet", meetingTime=1500)]),
        (
            "One fund has a return of 7%, the other of 5%.",
            [call("profit", annual_return=0.07), call("profit", annual_return=0.05)],
        ),
    ],
)
def test_what_the_user_states_is_not_flagged(said: str, calls: list[ToolCall]) -> None:
    assert hits(task(said, *calls)) == []


def test_switches_of_several_words_count_in_instructions_as_well() -> None:
    bank = tool("apply", rho_bank_subscription=SWITCH)
    subject = task(
        "You do NOT have a Rho-Bank+ subscription.", call("apply", rho_bank_subscription=True), kind="simulated"
    )
    subject = subject.model_copy(update={"environment": EnvironmentSpec(tools=(bank,))})
    assert [hit.evidence[1].quote for hit in hits(subject)] == ["You do NOT have a Rho-Bank+ subscription."]


def test_a_task_without_calls_is_not_checked() -> None:
    assert ContradictedStatement().not_applicable(task("Nothing to do.")) == "the ground truth holds no calls"


@pytest.mark.parametrize(
    ("said", "smoking"),
    [("不允许吸烟。", False), ("允许吸烟。", True), ("是否允许吸烟？", False), ("我明天去上海。", False)],
)
def test_chinese_switches_that_are_as_said(said: str, smoking: bool) -> None:
    assert not hits(task(said, call("ride", smoking=smoking)))
