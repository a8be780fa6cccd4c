from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import UngroundedArgument
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task

RESERVE = ToolSpec(
    name="reserve",
    description="Reserve a room.",
    parameters={
        "type": "object",
        "properties": {
            "date": {"type": "string", "description": "Day as YYYY-MM-DD."},
            "seats": {"type": "integer", "default": 4},
            "volume": {"type": "integer", "default": 70, "description": "From 0 to 100."},
            "email": {"type": "string"},
            "password": {"type": "string"},
            "member_id": {"type": "string", "description": "Id, such as 'M9900001'."},
        },
    },
    effect="write",
)
LOOK = ToolSpec(name="look", parameters=RESERVE.parameters, effect="read")


def task(said: str, *calls: ToolCall, state: Any = None, policy: str = "", **changes: Any) -> AgentTask:
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=(RESERVE, LOOK), policy=policy, state=state, state_name="members.json"),
        ground_truth=GroundTruth(semantics="required", turns=(calls,)),
        **changes,
    )


def hits(subject: AgentTask) -> list[Hit]:
    found = list(UngroundedArgument().inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


def reserve(**arguments: Any) -> ToolCall:
    return ToolCall(name="reserve", arguments=arguments)


@pytest.mark.parametrize("word", ["now", "today", "currently", "next Friday"])
def test_a_day_of_birth_is_not_counted_from_today(word: str) -> None:
    properties = {"date": {"type": "string", "description": "The member's date of birth."}}
    check = ToolSpec(name="check", parameters={"type": "object", "properties": properties})
    for subject in (
        task(f"I am leaving {word}, check me.", reserve(date_of_birth="04/17/1979")),
        task(f"I am leaving {word}, check me.", ToolCall(name="check", arguments={"date": "04/17/1979"})),
    ):
        tools = (*subject.environment.tools, check)
        whole = subject.model_copy(update={"environment": subject.environment.model_copy(update={"tools": tools})})
        assert hits(whole) == []
    assert len(hits(task("I was born on April 17th.", reserve(date_of_birth="04/17/1979")))) == 1


def test_a_date_that_a_record_has_is_found_there() -> None:
    state = {"members": {"ada": {"joined": "04/17/1979"}}}
    assert hits(task("I want to see it today.", reserve(date="04/17/1979"), state=state)) == []
    assert len(hits(task("I want to see it today.", reserve(date="04/18/1979"), state=state))) == 1


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("A room on March 9th, please.", "March 9th"),
        ("A room on the 9th of March.", "9th of March"),
        ("A room for next Friday.", "next Friday"),
        ("A room for tomorrow.", "tomorrow"),
    ],
)
def test_a_year_that_no_text_names(said: str, words: str) -> None:
    [hit] = hits(task(said, reserve(date="2023-03-09")))
    assert [item.quote for item in hit.evidence] == ["2023-03-09", words]


def test_two_dates_of_one_request_are_one_cause() -> None:
    found = hits(task("From March 9th to March 12th.", reserve(date="2023-03-09"), reserve(date="2023-03-12")))
    assert len(found) == 2 and len({hit.cause for hit in found}) == 1


@pytest.mark.parametrize(
    "said",
    [
        "A room on March 9th 2023.",
        "A room on 3/9/23.",
        "Today is 20230308; a room for tomorrow.",
        "It is 2022 now; a room on March 9th next year.",
        "A room for the anniversary of the founding.",
    ],
)
def test_a_year_that_is_named_or_cannot_be_judged(said: str) -> None:
    assert hits(task(said, reserve(date="2023-03-09"))) == []


def test_a_year_in_the_policy_state_or_documentation_grounds_the_date() -> None:
    said, call = "A room on March 9th.", reserve(date="2023-03-09")
    assert hits(task(said, call, policy="The current date is 2023-03-01.")) == []
    assert hits(task(said, call, initial_state={"today": "2023-03-01"})) == []
    example = RESERVE.model_copy(update={"description": "Reserve a room, such as one for 2023-05-01."})
    grounded = task(said, call)
    environment = grounded.environment.model_copy(update={"tools": (example,)})
    assert hits(grounded.model_copy(update={"environment": environment})) == []


def test_a_date_that_may_be_left_out_or_has_another_year_is_not_demanded() -> None:
    said = "A room on March 9th."
    assert hits(task(said, reserve(date=any_of(["2023-03-09"], optional=True)))) == []
    assert hits(task(said, reserve(date=any_of(["2023-03-09", "2024-03-09"])))) == []
    assert hits(task(said, reserve(date=any_of(["2023-03-09", "March 9th"])))) == []
    assert len(hits(task(said, reserve(date=any_of(["2023-03-09", "03/09/2023"]))))) == 1


def test_an_address_that_stands_nowhere() -> None:
    call = reserve(email="caretaker@example.org")
    assert len(hits(task("Tell the caretaker.", call))) == 1
    assert hits(task("Tell caretaker@example.org.", call)) == []
    assert hits(task("Tell the caretaker.", call, initial_state={"mail": "Caretaker@example.org"})) == []


def test_a_password_that_the_state_contradicts() -> None:
    state = {"account": {"user": "ada", "password": "abacus"}}
    [hit] = hits(task("Log me in.", reserve(password="abacus7"), initial_state=state))
    assert [item.quote for item in hit.evidence] == ["abacus7", "abacus"]
    assert hits(task("Log me in.", reserve(password="abacus"), initial_state=state)) == []
    assert hits(task("Log me in with abacus7.", reserve(password="abacus7"), initial_state=state)) == []


DATABASE = {"members": {"M1234567": {"name": "Ada"}}}


def test_an_identifier_that_the_database_lacks() -> None:
    [hit] = hits(task("I am Ada.", reserve(member_id="M7654321"), state=DATABASE))
    assert hit.cause == "unknown id M7654321 in members.json"


def test_an_example_of_the_documentation_does_not_ground_an_identifier() -> None:
    [hit] = hits(task("I am Ada.", reserve(member_id="M9900001"), state=DATABASE))
    assert hit.evidence[1].pointer == "/environment/tools/0/parameters/properties/member_id/description"


@pytest.mark.parametrize("member_id", ["M1234567", "M12", "March-2024", "2024-03-09", "Ada"])
def test_identifiers_of_the_database_and_texts_that_are_none(member_id: str) -> None:
    assert hits(task("I am Ada, 2024.", reserve(member_id=member_id), state=DATABASE)) == []


def test_identifiers_are_not_checked_where_something_may_have_made_them() -> None:
    call = reserve(member_id="M7654321")
    assert hits(task("I am Ada.", reserve(), call, state=DATABASE)) == []
    assert hits(task("I am M7654321.", call, state=DATABASE)) == []
    assert len(hits(task("I am Ada.", ToolCall(name="look"), call, state=DATABASE))) == 1


def test_a_number_nobody_asked_for() -> None:
    [hit] = hits(task("Play the song.", reserve(volume=50)))
    assert [item.quote for item in hit.evidence] == ["50", "Play the song.", "70"]


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Play the song.", {"volume": 70}),
        ("Play the song.", {"volume": 100}),
        ("Play the song at half volume.", {"volume": 50}),
        ("Play the song at 50.", {"volume": 50}),
        ("Play the song.", {"volume": any_of([50, 70])}),
        ("Play the song.", {"volume": any_of([50], optional=True)}),
        ("Play the song.", {"volume": "loud"}),
        ("Play the song.", {"volume": True}),
        ("Play the song.", {"unlisted": 50}),
    ],
)
def test_numbers_that_are_asked_for_documented_or_beyond_judgement(said: str, arguments: dict[str, Any]) -> None:
    assert hits(task(said, reserve(**arguments))) == []


def test_a_task_without_gold_calls_is_not_checked() -> None:
    assert UngroundedArgument().not_applicable(make_task(ground_truth=GroundTruth(semantics="none"))) is not None
    assert UngroundedArgument().not_applicable(make_task()) is None


@pytest.mark.parametrize(
    ("said", "category"),
    [("A room for tomorrow.", "environment-drift"), ("A room next week, on March 9th.", None)],
)
def test_a_day_counted_from_today_drifts(said: str, category: str | None) -> None:
    [hit] = hits(task(said, reserve(date="2023-03-09")))
    assert hit.category == category


CLOSED = ToolSpec(
    name="estimate",
    parameters={
        "type": "object",
        "properties": {
            "rate": {"type": "number"},
            "count": {"type": "integer", "description": "How many."},
            "place": {"type": "string", "description": "Where."},
            "code": {"type": "string"},
            "date": {"type": "string", "description": "The day, such as '2023-02-24'."},
            "span": {"type": "integer", "description": "Duration in seconds."},
            "level": {"type": "integer", "description": "1 for low, 2 for high."},
        },
    },
)


def closed(said: str, **arguments: Any) -> list[Hit]:
    subject = make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=(CLOSED,)),
        ground_truth=GroundTruth(
            semantics="required",
            turns=((ToolCall(name="estimate", arguments=arguments), ToolCall(name="estimate", arguments=arguments)),),
        ),
    )
    found = list(UngroundedArgument().inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Estimate 35000 elephants in 5 years, given the current growth rate.", {"rate": 0.015}),
        ("Look up the record with the number CA123456.", {"place": "San Diego"}),
        ("Reserve the branch 'XYZ789' for me.", {"code": "123ABC"}),
        ("List the films in Mumbai, by default of today.", {"date": "2023-02-24"}),
        ("What does the library have?", {"date": "2024-05-07"}),
        ("请查看我们的访问级别。", {"place": "执行权限"}),
        ("The host is 192.168.11.53, the API is nodes.", {"code": "https://192.168.11.33/nodes"}),
    ],
    ids=["number", "name", "code", "example", "day", "Chinese", "address"],
)
def test_nothing_leads_to_it(said: str, arguments: dict[str, Any]) -> None:
    assert len(closed(said, **arguments)) == 2


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Estimate it at a rate of 1.5%.", {"rate": 0.015}),
        ("Estimate it for 2 hours.", {"span": 7200}),
        ("Half of the 12 people came.", {"count": 6}),
        ("Add 5 and 7 together.", {"count": 12}),
        ("Draw a king from a deck of cards.", {"count": 4}),
        ("Make it high.", {"level": 2}),
        ("What is on next Friday? It is 2023.", {"date": "2023-10-06"}),
        ("Find the price of March 11, 2022.", {"date": "2022-03-11"}),
        ("IP:192.168.11.53", {"code": "https://192.168.11.53/nodes?id=7"}),
        ("我想去北京旅游。", {"place": "北京市"}),
    ],
)
def test_something_leads_to_it(said: str, arguments: dict[str, Any]) -> None:
    assert closed(said, **arguments) == []
