"""Multi-turn tasks on the package's own classes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agenthard.audit.execution.bfcl import BfclEnvironment
from agenthard.audit.execution.environment import Attempt, ExecutionError, UnavailableError, Verdict
from agenthard.audit.sources.fetch import HOME_VARIABLE
from agenthard.taxonomy import AgentTask, ToolCall

pytestmark = pytest.mark.network
Attic = Callable[..., AgentTask]
MOVE = ToolCall(name="mv", arguments={"source": "note.txt", "destination": "box"})
CAT = ToolCall(name="cat", arguments={"file_name": "note.txt"})


def test_calls_change_the_state_and_errors_do_not(bfcl: BfclEnvironment, attic: Attic) -> None:
    bfcl.reset(attic([]))
    files = bfcl.snapshot()["GorillaFileSystem"]["root"]["contents"]
    assert files["note.txt"] == {"name": "note.txt", "content": "call the plumber"}
    start = bfcl.state_hash()
    wrong = bfcl.call(ToolCall(name="cat", arguments={"file_name": "absent.txt"}))
    assert wrong.error and "absent.txt" in wrong.error
    raised = bfcl.call(ToolCall(name="cat", arguments={"no_such_parameter": 1}))
    assert raised.error and raised.text == f"Error during execution: {raised.error}"
    assert bfcl.state_hash() == start
    assert bfcl.call(MOVE).error is None
    moved = bfcl.snapshot()["GorillaFileSystem"]["root"]["contents"]
    assert list(moved) == ["box"] and list(moved["box"]["contents"]) == ["note.txt"]
    bfcl.reset(attic([]))
    assert bfcl.state_hash() == start


def test_arguments_by_position_and_other_classes(bfcl: BfclEnvironment, attic: Attic) -> None:
    bfcl.reset(attic([]))
    call = ToolCall(name="logarithm", arguments={"value": 8, "base": 2, "precision": 5}, positional=2)
    assert bfcl.call(call).text == '{"result": 3.0}' or "3" in bfcl.call(call).text


def test_equal_states_give_equal_snapshots_whatever_way_they_came_about(bfcl: BfclEnvironment, attic: Attic) -> None:
    hashes = []
    for names in (("a", "b"), ("b", "a")):
        bfcl.reset(attic([]))
        for name in names:
            assert bfcl.call(ToolCall(name="touch", arguments={"file_name": name})).error is None
        hashes.append(bfcl.state_hash())
    assert hashes[0] == hashes[1]


def test_the_gold_passes_and_nothing_else_does(bfcl: BfclEnvironment, attic: Attic) -> None:
    task = attic(["mv('note.txt', 'box')"], ["cd(folder='box')", "cat('note.txt')"])
    gold = task.ground_truth.turns
    assert bfcl.evaluate(task, Attempt(turns=gold)) == Verdict(passed=True, parts={"state": True, "responses": True})
    extra = Attempt(turns=((CAT, *gold[0]), gold[1]))
    unread = Attempt(turns=(gold[0], gold[1][:1]))
    elsewhere = MOVE.model_copy(update={"arguments": {"source": "note.txt", "destination": "memo.txt"}})
    verdicts = bfcl.evaluate_many(
        task, [extra, Attempt(), unread, Attempt(turns=((elsewhere,), gold[1])), Attempt(turns=(*gold, ()))]
    )
    assert all(isinstance(verdict, Verdict) for verdict in verdicts)
    assert [(v.passed, v.parts) for v in verdicts if isinstance(v, Verdict)] == [
        (True, {"state": True, "responses": True}),
        (False, {"calls": False}),
        (False, {"state": True, "responses": False}),
        (False, {"state": False}),
        (False, {}),
    ]


def test_an_evaluation_leaves_the_session_alone(bfcl: BfclEnvironment, attic: Attic) -> None:
    task = attic(["cat('note.txt')"])
    bfcl.reset(task)
    bfcl.call(MOVE)
    moved = bfcl.state_hash()
    assert bfcl.evaluate(task, Attempt(turns=((CAT,),))).passed
    assert bfcl.state_hash() == moved
    assert bfcl.call(CAT).error


def test_long_context_variants_are_longer(bfcl: BfclEnvironment, attic: Attic) -> None:
    sizes = []
    for category in ("base", "long_context"):
        bfcl.reset(attic([], task_id=f"multi_turn_{category}_0"))
        sizes.append(len(json.dumps(bfcl.snapshot())))
    assert sizes[0] < 1_000 < sizes[1]


HOSTILE = {
    "exec('while True: pass')": "processor time",
    "__import__('os').fork()": "fork",
    "__import__('os')._exit(0)": "exit code 0",
    "exec('import sys; sys.exit(2)')": "called exit (2)",
    "exec('raise SystemExit')": "called exit",
    "len(bytearray(8 << 30))": "memory",
    "__import__('socket').socket()": "socket",
    "open('/tmp/agenthard-escape', 'w')": "write to /tmp/agenthard-escape",
}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_gold_costs_its_own_verdict_only(bfcl: BfclEnvironment, attic: Attic, text: str) -> None:
    task = attic([text], task_id="multi_turn_base_1")
    bfcl.reset(task)
    with pytest.raises(ExecutionError) as raised:
        bfcl.call(task.ground_truth.turns[0][0])
    assert HOSTILE[text] in str(raised.value)
    with pytest.raises(ExecutionError, match="reset first"):
        bfcl.snapshot()
    with pytest.raises(ExecutionError):
        bfcl.evaluate(task, Attempt(turns=task.ground_truth.turns))
    assert not Path("/tmp/agenthard-escape").exists()
    honest = attic(["mv('note.txt', 'box')"])
    assert bfcl.evaluate(honest, Attempt(turns=((MOVE,),))).passed


def test_deep_recursion_and_noise_are_ordinary(bfcl: BfclEnvironment, attic: Attic) -> None:
    texts = ["(lambda f: f(f))(lambda f: f(f))", "print('{\"value\": 1}' * 1000)"]
    task = attic(texts)
    bfcl.reset(task)
    recursion, noise = (bfcl.call(call) for call in task.ground_truth.turns[0])
    assert recursion.error and "recursion" in recursion.error
    assert noise.text == "None"


def test_a_hostile_attempt_in_a_batch_leaves_the_others(bfcl: BfclEnvironment, attic: Attic) -> None:
    task = attic(["mv('note.txt', 'box')"])
    quit_call = ToolCall(name="", text="exec('raise SystemExit')")
    attempts = [Attempt(turns=((call,),)) for call in (MOVE, quit_call, MOVE, quit_call)]
    verdicts = bfcl.evaluate_many(task, attempts)
    assert [isinstance(v, Verdict) and v.passed for v in verdicts] == [True, False, True, False]
    assert [isinstance(v, ExecutionError) for v in verdicts] == [False, True, False, True]


def test_what_one_task_does_to_the_package_the_next_does_not_see(bfcl: BfclEnvironment, attic: Attic) -> None:
    checker = "__import__('sys').modules['bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker']"
    patch = f'exec("{checker}.state_checker = lambda a, b: dict(valid=True)")'
    attempt = Attempt(turns=((CAT, ToolCall(name="", text=patch)), ()))
    task = attic(["mv('note.txt', 'box')"], [], task_id="multi_turn_base_7")
    assert bfcl.evaluate(task, attempt).parts != {"state": False}
    honest = attic(["mv('note.txt', 'box')"], [], task_id="multi_turn_base_8")
    assert bfcl.evaluate(honest, Attempt(turns=((CAT,), ()))).parts == {"state": False}


def test_without_the_package_the_message_names_the_command(
    attic: Attic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    environment = BfclEnvironment()
    assert "does not tell which release" in str(environment.supports(attic([])))
    task = attic([]).model_copy(update={"content_hash": "v4:00ff"})
    command = "agenthard env create bfcl --version 2026.3.23"
    assert command in str(environment.supports(task))
    with pytest.raises(UnavailableError, match=command):
        environment.reset(task)
