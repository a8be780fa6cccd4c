from agenthard.audit.execution.tau import TauBenchEnvironment
from agenthard.audit.execution.tau.evaluator import answered_calls
from agenthard.audit.execution.tau.fidelity import measure_replays
from agenthard.taxonomy import Message, ToolCall, Trajectory
from tests.audit.execution.tau.conftest import make_task
from tests.builders import make_run

STOP = Message(role="user", content="Bye. ###STOP###")


def ask(name: str, number: str, **arguments: object) -> Message:
    return Message(role="assistant", tool_calls=(ToolCall(name=name, arguments=arguments, id=number),))


def answer(text: str, number: str) -> Message:
    return Message(role="tool", content=text, tool_call_id=number)


def recorded(*messages: Message, passed: bool = True) -> Trajectory:
    return make_run("airline/0", passed=passed, messages=messages)


def test_responses_and_verdicts_are_compared() -> None:
    task = make_task("tau-bench", "airline", [])
    thought, wrong = (
        (ask("think", "1", thought="x"), answer("", "1")),
        (ask("think", "2", thought="y"), answer("no", "2")),
    )
    runs = [
        recorded(*thought, *wrong, STOP),
        recorded(*thought, STOP, passed=False),
        recorded(*thought, Message(role="user", content="And?"), passed=False),
    ]
    found = measure_replays(TauBenchEnvironment(), {task.id: task}, runs)
    assert (found.calls["think"], found.equal["think"]) == (4, 3)
    difference = found.differences[0]
    assert (difference.position, difference.recorded, difference.replayed) == (1, "no", "")
    assert (found.scored, found.agreeing) == (2, 1)
    assert found.disagreements[0].parts == {"database": True, "outputs": True}


def test_each_run_starts_afresh() -> None:
    task = make_task("tau-bench", "airline", [])
    text = "Certificate certificate_3221322 added to user ada_1 with amount 50."
    run = recorded(ask("send_certificate", "1", user_id="ada_1", amount=50), answer(text, "1"), STOP, passed=False)
    found = measure_replays(TauBenchEnvironment(), {task.id: task}, [run, run])
    assert found.differences == []
    assert found.scored == found.agreeing == 2


def test_responses_find_their_calls_by_id_and_unanswered_calls_are_left_out() -> None:
    both = Message(role="assistant", tool_calls=(ToolCall(name="a", id="1"), ToolCall(name="b", id="2")))
    messages = [both, answer("two", "2"), answer("one", "1"), both, answer("two", "2"), STOP, answer("late", "1")]
    assert [(call.name, text) for call, text in answered_calls(messages)] == [("b", "two"), ("a", "one"), ("b", "two")]
