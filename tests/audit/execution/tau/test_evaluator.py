import pytest

from agenthard.audit.execution.environment import Attempt, UnavailableError
from agenthard.audit.execution.tau import Tau2Environment, TauBenchEnvironment
from agenthard.taxonomy import Check, EvaluationSpec, Message, ToolCall
from tests.audit.execution.tau.conftest import make_task

CANCEL = ToolCall(name="cancel_reservation", arguments={"reservation_id": "AAA111"})
READ = ToolCall(name="get_user_details", arguments={"user_id": "ada_1"})
UNKNOWN = ToolCall(name="cancel_reservation", arguments={"reservation_id": "ZZZ999"})


def test_the_final_state_counts_and_the_way_does_not() -> None:
    environment, task = TauBenchEnvironment(), make_task("tau-bench", "airline", [CANCEL])
    assert environment.evaluate(task, Attempt(turns=((READ, CANCEL, READ),))).passed
    nothing = environment.evaluate(task, Attempt())
    assert (nothing.passed, nothing.parts) == (False, {"database": False, "outputs": True})


def test_a_required_text_is_looked_for_without_commas_and_in_longer_numbers() -> None:
    environment, task = TauBenchEnvironment(), make_task("tau-bench", "airline", [], outputs=("144", "Gold"))
    assert environment.evaluate(task, Attempt(replies=("You pay 1,144.", "as a GOLD member"))).passed
    assert environment.evaluate(task, Attempt(replies=("You pay 11,44 as gold member",))).passed
    assert not environment.evaluate(task, Attempt(replies=("You pay 145 as gold member",))).passed


def test_a_ground_truth_that_fails_is_passed_over_but_told() -> None:
    verdict = Tau2Environment().evaluate(make_task("tau2", "airline", [UNKNOWN]), Attempt())
    assert verdict.passed
    assert verdict.reason == "the ground truth fails at call 0 (cancel_reservation): Reservation ZZZ999 not found"


def test_a_run_in_progress_is_not_disturbed() -> None:
    environment, task = Tau2Environment(), make_task("tau2", "airline", [CANCEL])
    environment.reset(task)
    environment.call(CANCEL)
    before = environment.snapshot()
    environment.evaluate(task, Attempt())
    assert environment.snapshot() == before


def test_whole_and_decimal_amounts_are_two_states() -> None:
    def paid(amount: float) -> ToolCall:
        return ToolCall(name="send_certificate", arguments={"user_id": "ada_1", "amount": amount})

    task, attempt = make_task("tau-bench", "airline", [paid(50)]), Attempt(turns=((paid(50.0),),))
    assert not TauBenchEnvironment().evaluate(task, attempt).passed
    assert Tau2Environment().evaluate(task, attempt).passed


@pytest.mark.parametrize(
    ("compared", "passed"), [(None, False), (["user_id"], True), ([], True), (["user_id", "amount"], False)]
)
def test_required_calls_agree_on_the_compared_arguments(compared: list[str] | None, passed: bool) -> None:
    gold = ToolCall(name="send_certificate", arguments={"user_id": "ada_1", "amount": 100})
    expected = {"name": gold.name, "compare_args": compared}
    check = Check(kind="tool_calls", scored=True, expected=expected, pointer="/ground_truth/turns/0/0")
    task = make_task("tau2", "airline", [gold]).model_copy(update={"evaluation": EvaluationSpec(checks=(check,))})
    made = ToolCall(name="send_certificate", arguments={"user_id": "ada_1", "amount": 50})
    verdict = Tau2Environment().evaluate(task, Attempt(turns=((made,),)))
    assert (verdict.passed, verdict.parts["actions"]) == (passed, passed)
    assert not Tau2Environment().evaluate(task, Attempt()).passed


def test_assertions_in_code_are_not_judged() -> None:
    check = Check(kind="state_assertion", scored=True, expected={"func_name": "assert_x"})
    task = make_task("tau2", "airline", []).model_copy(update={"evaluation": EvaluationSpec(checks=(check,))})
    with pytest.raises(UnavailableError, match="assertions"):
        Tau2Environment().evaluate(task, Attempt())


def test_text_beside_a_call_counts_in_the_newer_release_only() -> None:
    messages = (
        Message(role="assistant", content="It is 144.", tool_calls=(READ.model_copy(update={"id": "a"}),)),
        Message(role="tool", content="{}", tool_call_id="a"),
        Message(role="assistant", content="Done."),
        Message(role="user", content="###STOP###"),
    )
    newer, older = Tau2Environment().attempt_of(messages), TauBenchEnvironment().attempt_of(messages)
    assert newer is not None and newer.replies == ("It is 144.", "Done.")
    assert older is not None and older.replies == ("Done.",)


def test_a_conversation_that_was_cut_off_is_no_attempt() -> None:
    assert TauBenchEnvironment().attempt_of((Message(role="assistant", content="Which order?"),)) is None
