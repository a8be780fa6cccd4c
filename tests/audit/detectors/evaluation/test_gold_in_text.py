import pytest

from agenthard.audit.detectors.evaluation import GoldInText
from agenthard.taxonomy import EnvironmentSpec, GroundTruth, Message, ToolCall, UserSpec
from agenthard.taxonomy.accepted import any_of
from tests.builders import LEND, make_task


def said(*texts: str) -> UserSpec:
    return UserSpec(kind="scripted", turns=(tuple(Message(role="user", content=text) for text in texts),))


@pytest.mark.parametrize(
    "text",
    [
        "lend_book(book_id=7, member='Ada')",
        '[lend_book(book_id = 7,\n member="Ada")]',
        'lend_book\nTool input: {"book_id": 7, "member": "Ada"}',
    ],
)
def test_the_call_is_written_out(text: str) -> None:
    [hit] = GoldInText().inspect(make_task(user=said("I want this book.", text)))
    assert hit.evidence[0].pointer == "/user/turns/0/1/content"


@pytest.mark.parametrize("text", ["Lend book 7 to Ada.", "lend_book(book_id=8, member='Ada')", "lend_book is a tool."])
def test_values_alone_or_another_call(text: str) -> None:
    assert list(GoldInText().inspect(make_task(user=said(text)))) == []


def test_what_only_the_simulator_reads() -> None:
    user = UserSpec(kind="simulated", instruction="lend_book(book_id=7, member='Ada')")
    assert list(GoldInText().inspect(make_task(user=user))) == []


CALL = "lend_book(book_id=7, member='Ada Finch')"
FINCH = GroundTruth(
    semantics="required", turns=((ToolCall(name="lend_book", arguments={"book_id": 7, "member": "Ada Finch"}),),)
)
MEMBER = {"type": "string", "enum": ["Ada Finch", "Bo Wren"]}
CHOICE = LEND.model_copy(update={"parameters": {"type": "object", "properties": {"member": MEMBER}}})


@pytest.mark.parametrize(
    ("environment", "pointer"),
    [
        (EnvironmentSpec(tools=(LEND,), policy=f"lend_book lends. Q: a book? A: {CALL}"), "/environment/policy"),
        (
            EnvironmentSpec(tools=(LEND.model_copy(update={"description": f"Lend, as in {CALL}."}),)),
            "/environment/tools/0/description",
        ),
        (
            EnvironmentSpec(tools=(CHOICE,), policy=f"Q: Please lend book 7 to Ada Finch. A: {CALL}"),
            "/environment/policy",
        ),
    ],
)
def test_the_call_of_this_task_in_policy_or_documentation(environment: EnvironmentSpec, pointer: str) -> None:
    task = make_task(ground_truth=FINCH, environment=environment, user=said("Please lend book 7 to Ada Finch."))
    [hit] = GoldInText().inspect(task)
    assert hit.evidence[0].pointer == pointer
    assert "lend_book(" in hit.evidence[0].quote


def test_a_documented_choice_in_the_policy_is_documentation() -> None:
    task = make_task(ground_truth=FINCH, environment=EnvironmentSpec(tools=(CHOICE,), policy=f"Then call {CALL}."))
    assert list(GoldInText().inspect(task)) == []


def test_without_what_may_be_left_out() -> None:
    arguments = {"book_id": 7, "days": any_of([14], optional=True)}
    gold = GroundTruth(semantics="required", turns=((ToolCall(name="lend_book", arguments=arguments),),))
    assert len(list(GoldInText().inspect(make_task(ground_truth=gold, user=said("lend_book(book_id=7)"))))) == 1
