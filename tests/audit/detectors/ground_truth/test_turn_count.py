import pytest

from agenthard.audit.detectors.ground_truth import TurnCount
from agenthard.audit.evidence import failure
from agenthard.taxonomy import GroundTruth, Message, ToolCall, UserSpec
from tests.builders import make_task

CALL = ToolCall(name="lend_book", arguments={"book_id": 7, "member": "Ada"})


def dialogue(asked: int, gold: int, traits: frozenset[str] = frozenset()):
    turns = tuple((Message(role="user", content=f"Request {i}"),) for i in range(asked))
    return make_task(
        user=UserSpec(kind="scripted", turns=turns),
        ground_truth=GroundTruth(semantics="reference_path", turns=((CALL,),) * gold, call_matching="state"),
        traits=traits,
    )


@pytest.mark.parametrize(
    ("asked", "gold", "unpaired"),
    [(2, 3, "/ground_truth/turns/2"), (3, 2, "/user/turns/2"), (1, 2, "/ground_truth/turns/1")],
)
def test_unequal_numbers_of_turns_are_flagged_with_both_sides(asked: int, gold: int, unpaired: str) -> None:
    task = dialogue(asked, gold)
    [hit] = TurnCount().inspect(task)
    assert [item.pointer for item in hit.evidence][0] == unpaired
    assert [failure(item, task, {}) for item in hit.evidence] == [None, None]
    assert f"{asked} user turns" in hit.claim and f"{gold} turns" in hit.claim


def test_equal_numbers_are_clean() -> None:
    assert TurnCount().not_applicable(dialogue(3, 3)) is None
    assert list(TurnCount().inspect(dialogue(3, 3))) == []


def test_an_empty_gold_turn_counts_as_a_turn() -> None:
    task = dialogue(2, 2)
    truth = task.ground_truth.model_copy(update={"turns": ((CALL,), ())})
    assert list(TurnCount().inspect(task.model_copy(update={"ground_truth": truth}))) == []


def test_one_list_of_calls_for_the_whole_dialogue_is_not_checked() -> None:
    assert "one list of calls" in str(TurnCount().not_applicable(dialogue(3, 1)))


def test_one_gold_turn_is_checked_where_the_source_checks_turn_by_turn() -> None:
    task = dialogue(3, 1, frozenset({"unchecked_turns"}))
    assert TurnCount().not_applicable(task) is None
    assert len(list(TurnCount().inspect(task))) == 1


def test_a_simulated_user_and_a_missing_gold_are_not_checked() -> None:
    simulated = make_task(user=UserSpec(kind="simulated", instruction="Borrow book 7."))
    assert "simulated" in str(TurnCount().not_applicable(simulated))
    assert "no turns" in str(TurnCount().not_applicable(make_task(ground_truth=GroundTruth(semantics="none"))))
