"""Values that the user states and nothing uses, against values of the ground truth that have no source."""

from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import UnmatchedValue
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def tool(name: str, **properties: dict[str, Any]) -> ToolSpec:
    return ToolSpec(name=name, parameters={"type": "object", "properties": properties, "required": list(properties)})


TOOLS = (
    tool("reserve", seats=NUMBER, date=TEXT, time=TEXT),
    tool("lend", member=TEXT, days=NUMBER),
    tool("note", text=TEXT, file=TEXT),
    tool("order", kind={"type": "string", "description": "Kind of the order (Buy/Sell)."}, copies=NUMBER),
    tool("cancel", reason={"type": "string", "enum": ["no longer needed", "ordered by mistake"]}),
    tool("find", topic=TEXT, income=NUMBER),
    tool("events", first=TEXT, last=TEXT),
    tool("profile", userHomeTown=TEXT),
    tool("pair", giver=TEXT, taker=TEXT),
)


def task(said: str | tuple[str, ...], *calls: ToolCall, state: Any = None, **changes: Any) -> AgentTask:
    texts = (said,) if isinstance(said, str) else said
    return make_task(
        user=UserSpec(kind="scripted", turns=(tuple(Message(role="user", content=text) for text in texts),)),
        environment=EnvironmentSpec(tools=TOOLS, state=state),
        ground_truth=GroundTruth(semantics="required", turns=(calls,)),
        **changes,
    )


def hits(subject: AgentTask) -> list[Hit]:
    check = UnmatchedValue()
    assert check.not_applicable(subject) is None
    found = list(check.inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("said", "made", "meant"),
    [
        ("Reserve 150 seats in the hall.", call("reserve", seats=15), "150"),
        (
            "Lend it to Ada, with a number of days of 3, since she reads slowly and has a trip.",
            call("lend", days=4),
            "3",
        ),
        ("Make it 8, please.", call("lend", days=5), "8"),
        ("Reserve the hall for March 4, 2025.", call("reserve", date="2025-04-03"), "March 4, 2025"),
        ("Reserve the hall for March 4, 2025.", call("reserve", date="2025-03-06"), "March 4, 2025"),
        ("Reserve the hall at 9:00 AM.", call("reserve", time="21:00"), "9:00 AM"),
        ("Is it free tomorrow? Today is 2023-09-29.", call("reserve", date="2023-09-29"), "tomorrow"),
        ("Is it free this Saturday? Today is April 25th 2023.", call("reserve", date="2023-04-27"), "Saturday"),
        ("What is on in all of August?", call("events", first="2025-08-01", last="2025-08-30"), "all of August"),
        ("Note 'The roof leaks in room two'.", call("note", text="The roof is leaking, room two"), "The roof leaks"),
        ("Note 'All books are back'.", call("note", text="Everything was returned today"), "All books are back"),
        ("Write it to 'final_list_v2.txt'.", call("note", file="final_list.txt"), "final_list_v2.txt"),
        ("Start in '/home/ada/books'.", call("note", file="/home/ada"), "/home/ada/books"),
        ("I want to purchase two copies.", call("order", kind="Sell"), "purchase"),
        ("Cancel it, I ordered by mistake.", call("cancel", reason="no longer needed"), "ordered by mistake"),
    ],
    ids=[
        "a digit lost",
        "next to its name",
        "the only number",
        "day and month",
        "another day",
        "half a day",
        "tomorrow",
        "a weekday",
        "a whole month",
        "other words",
        "another text",
        "a file",
        "a path",
        "a verb for a choice",
        "a choice",
    ],
)
def test_another_value_than_stated(said: str, made: ToolCall, meant: str) -> None:
    (hit,) = hits(task(said, made))
    assert meant in hit.claim
    assert meant in hit.evidence[1].quote


@pytest.mark.parametrize(
    ("said", "made"),
    [
        ("Reserve 150 seats in the hall.", call("reserve", seats=150)),
        ("Reserve 12 rows of 10 seats.", call("reserve", seats=120)),
        ("Lend it for 2 weeks.", call("lend", days=14)),
        ("Lend it for a month, in group 3.", call("lend", days=30)),
        ("Reserve under 20 seats.", call("reserve", seats=10)),
        ("Lend it for 2 times what we said.", call("lend", days=5)),
        ("Lend it for 3 days, no, make that 4.", call("lend", days=4)),
        ("Reserve the hall for March 4, 2025.", call("reserve", date="04/03/2025")),
        ("Reserve the hall the day after March 4, 2025.", call("reserve", date="2025-03-05")),
        ("Reserve the hall at 9 in the evening.", call("reserve", time="21:00")),
        ("Is it free tomorrow? Today is 2023-09-29.", call("reserve", date="2023-09-30")),
        ("Is it free this Wednesday? Today is Monday April 25th 2023.", call("reserve", date="2023-04-27")),
        ("Is it free tomorrow or next week? Today is 2023-09-29.", call("reserve", date="2023-10-06")),
        ("What is on in all of August?", call("events", first="2025-08-01", last="2025-08-31")),
        ("Note 'X books are back'.", call("note", text="Nine books are back")),
        ("Note 'All books are back'.", call("note", text="All books are back!")),
        ("I do not want to sell, get me two copies.", call("order", kind="Buy")),
        ("Purchase two copies.", call("order", kind="Buy")),
        ("Cancel it.", call("cancel", reason="no longer needed")),
        ("Reserve 150 seats.", call("reserve", seats=any_of([15, 150]))),
        ("Reserve 150 seats.", call("reserve", seats=any_of([15], optional=True))),
    ],
)
def test_what_is_stated_or_follows(said: str, made: ToolCall) -> None:
    assert hits(task(said, made)) == []


@pytest.mark.parametrize(
    ("said", "made", "meant"),
    [
        ("Solve it with a balance of -3 and 2 seats.", call("find", topic="it", income=3), "'-3'"),
        ("Two lines: 4% for 5 weeks.", call("lend", days=0.4), "'4%'"),
        ("Find law with 5 others and an income of 2500 per year.", call("find", topic="law", income=25000), "'2500'"),
        ("A rate of 10, an income of 4250.", call("find", topic="law", income=4350), "'4250'"),
        ("Reserve it for 2023年10月20日.", call("reserve", date="2024-10-20"), "'2023年10月20日'"),
    ],
    ids=["sign", "percent", "power of ten", "a digit", "year"],
)
def test_nearly_the_stated_number(said: str, made: ToolCall, meant: str) -> None:
    (hit,) = hits(task(said, made))
    assert meant in hit.claim


@pytest.mark.parametrize(
    ("said", "made"),
    [
        ("The balance drops by 3.", call("find", topic="it", income=-3)),
        ("The polynomial is x^2 - 4.", call("find", topic="it", income=-4)),
        ("4% for 5 weeks.", call("lend", days=0.04)),
        ("A walk of 5 kilometers.", call("lend", days=5000)),
        ("A screen of 1920x1080 for 120 lines.", call("lend", days=1920)),
        ("On October 20, as in 2024.", call("reserve", date="2024-10-20")),
    ],
)
def test_a_number_that_is_said_or_converted(said: str, made: ToolCall) -> None:
    assert hits(task(said, made)) == []


def test_digits_of_a_code() -> None:
    state = {"members": {"AB-9012": {}}}
    (hit,) = hits(task("Lend it to AB-9021.", call("lend", member="AB-9012"), state=state))
    assert "'AB-9021'" in hit.claim


def test_what_another_check_reports() -> None:
    assert hits(task("Lend it to AB-9021.", call("lend", member="AB-9012"))) == []
    assert hits(task("Write it to 'notes.md'.", call("note", file="note.md"))) == []


def test_both_codes_exist() -> None:
    state = {"members": {"AB-9021": {}, "AB-9012": {}}}
    assert hits(task("Lend it to AB-9021.", call("lend", member="AB-9012"), state=state)) == []


def test_a_repeated_value() -> None:
    said = "Find law with an income of 100,000 and art with an income of 120,000."
    first = call("find", topic="law", income=100000)
    (hit,) = hits(task(said, first, call("find", topic="art", income=100000)))
    assert "'120,000'" in hit.claim
    assert hits(task(said, first, call("find", topic="art", income=120000))) == []
    same = "Find law and art, both with an income of 100,000; they have 200,000 members."
    assert hits(task(same, first, call("find", topic="art", income=100000))) == []


def test_a_code_in_two_places() -> None:
    said = "I am USR001. Give it to USR002."
    (hit,) = hits(task(said, call("pair", giver="USR001", taker="USR001")))
    assert "'USR002'" in hit.claim
    assert hits(task(said, call("pair", giver="USR001", taker="USR002"))) == []


def test_a_member_of_a_list_is_replaced() -> None:
    said = "Find books on Italian and Chinese cooking."
    first = call("find", topic="Italian", income=0)
    (hit,) = hits(task(said, first, call("find", topic="Mexican", income=0)))
    assert "'Chinese' with 'Italian'" in hit.claim
    assert hits(task(said, first, call("find", topic="Chinese", income=0))) == []


def test_a_fact_of_the_profile() -> None:
    texts = ("{'basic': {'UserHomeTown': 'Boulder, CO', 'age': '40'}}", "Show me what is on at home.")
    (hit,) = hits(task(texts, call("profile", userHomeTown="Denver, CO")))
    assert "'UserHomeTown' = 'Boulder, CO'" in hit.claim
    assert hits(task(texts, call("profile", userHomeTown="Boulder"))) == []


def test_nothing_to_compare() -> None:
    silent = task("", call("lend", days=4))
    assert UnmatchedValue().not_applicable(silent) == "the user says nothing"
    empty = make_task(ground_truth=GroundTruth(semantics="required", turns=((),)))
    assert UnmatchedValue().not_applicable(empty) == "the ground truth holds no calls"


@pytest.mark.parametrize(
    ("said", "made", "meant"),
    [
        ("Lend it to M-204 for 3 weeks and reserve 80 seats.", call("reserve", seats=68, days=3), "80"),
        ("Show me the notes of less than 500 words that I wrote in all those years.", call("find", income=505), "500"),
        ("Reserve a table for four people.", call("reserve", seats=7), "four"),
    ],
)
def test_the_one_number_that_is_left_over(said: str, made: ToolCall, meant: str) -> None:
    assert [hit.evidence[1].quote for hit in hits(task(said, made))] == [meant]


@pytest.mark.parametrize(
    ("said", "made"),
    [
        ("Lend it for 3 weeks and reserve 80 seats.", call("reserve", seats=240, days=3)),
        ("Books of less than 5 pages.", call("find", income=4)),
        ("A film from the year 19.", call("find", income=2019)),
        ("Reserve under 80 seats.", call("reserve", seats=68)),
    ],
)
def test_numbers_that_follow_or_are_not_alone(said: str, made: ToolCall) -> None:
    assert hits(task(said, made)) == []


def test_a_quotation_with_another_number() -> None:
    found = hits(task("Search for 'Q4 sales' there.", call("note", text="Q3 sales")))
    assert [hit.evidence[1].quote for hit in found] == ["Q4 sales"]
