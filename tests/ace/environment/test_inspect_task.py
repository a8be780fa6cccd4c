"""The Inspect task, played by Inspect's mock model: from Python, and by the command ``inspect eval``."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ace.environment.small import LOWER, UPPER, write_file

pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")

from inspect_ai import eval as run_eval  # noqa: E402
from inspect_ai.log import EvalSample, read_eval_log  # noqa: E402
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.tool import ToolCall  # noqa: E402

from agenthard.ace.inspect_task import ace_bench  # noqa: E402

ROOT = Path(__file__).parents[3]
Calls = list[tuple[str, dict[str, Any]]]
# The mock model counts tokens with a vocabulary that it downloads; one token per byte does for a test without network.
COMMAND = """
import tiktoken
ranks = {bytes([byte]): byte for byte in range(256)}
tiktoken.get_encoding = lambda name: tiktoken.Encoding(name, pat_str=".", mergeable_ranks=ranks, special_tokens={})
from inspect_ai._cli.main import main
main()
"""


def reply(calls: Calls, stop_reason: Any = None) -> ModelOutput:
    """A reply of the model with tool calls."""
    made = [ToolCall(id=f"call {i}", function=name, arguments=given) for i, (name, given) in enumerate(calls)]
    message = ChatMessageAssistant(content="", tool_calls=made or None)
    reason = stop_reason or ("tool_calls" if calls else "stop")
    return ModelOutput(model="mock", choices=[ChatCompletionChoice(message=message, stop_reason=reason)])


def play(folder: Path, turns: Callable[[int], ModelOutput], **options: Any) -> list[EvalSample]:
    """Lets a scripted model play both instances of a file; ``turns`` gives its reply by number of earlier replies."""

    def respond(messages: list[Any], tools: Any, choice: Any, config: Any) -> ModelOutput:
        output = turns(sum(message.role == "assistant" for message in messages))
        output.usage = ModelUsage()
        return output

    model = get_model("mockllm/model", custom_outputs=respond, memoize=False)
    task = ace_bench(str(write_file(folder)), **options)
    (log,) = run_eval(task, model=model, log_dir=str(folder / "logs"), display="none")
    assert log.status == "success" and log.samples
    return log.samples


def scores(samples: list[EvalSample]) -> list[tuple[Any, str]]:
    """Value and ending per sample."""
    found = [(sample.scores or {})["final_grid"] for sample in samples]
    return [(score.value, (score.metadata or {})["ending"]) for score in found]


SOLVE: Calls = [("set_slot", {**UPPER, "id": "C11"}), ("set_slot", {**LOWER, "id": "C21"})]


def test_a_model_that_solves(tmp_path: Path) -> None:
    samples = play(tmp_path, lambda turn: reply(SOLVE) if turn == 0 else reply([("done", {})]))
    assert scores(samples) == [("C", "done")] * 2
    answer = (samples[0].scores or {})["final_grid"].answer
    assert json.loads(str(answer)) == [["C1", "C11"], ["C21", "C2"]]
    assert {str(sample.id) for sample in samples} == {"course_r2_c2_h2_b2", "course_again"}


def test_done_counts_anywhere_in_a_reply(tmp_path: Path) -> None:
    look: tuple[str, dict[str, Any]] = ("get_current_grid_state", {})
    samples = play(tmp_path, lambda turn: reply([*SOLVE, ("done", {}), look, look, look]))
    assert scores(samples) == [("C", "done")] * 2
    assert sum(message.role == "assistant" for message in samples[0].messages) == 1


def test_a_right_grid_counts_without_done(tmp_path: Path) -> None:
    samples = play(tmp_path, lambda turn: reply(SOLVE if turn == 0 else []), max_steps=3)
    assert scores(samples) == [("C", "max_steps")] * 2


def test_cut_off_replies_are_not_carried_out_and_end_the_episode(tmp_path: Path) -> None:
    samples = play(tmp_path, lambda turn: reply(SOLVE, "max_tokens"), max_truncations=2)
    assert scores(samples) == [("I", "truncations")] * 2


@pytest.mark.long
def test_failures_are_those_of_the_seed(tmp_path: Path) -> None:
    def failed(seed: int) -> list[list[bool]]:
        look: tuple[str, dict[str, Any]] = ("get_current_grid_state", {})
        options = {"failure_rate": 0.5, "seed": seed, "max_steps": 20}
        samples = play(tmp_path, lambda turn: reply([look]), **options)
        return [["Tool call failed" in m.text for m in s.messages if m.role == "tool"] for s in samples]

    first = failed(1)
    assert failed(1) == first != failed(2)
    assert first[0] != first[1]


def test_the_log_holds_no_answer(tmp_path: Path) -> None:
    play(tmp_path, lambda turn: reply([("done", {})]))
    (path,) = (tmp_path / "logs").glob("*.eval")
    text = read_eval_log(str(path)).model_dump_json()
    assert "course_again" in text
    assert not any(word in text for word in ("C11", "C12", "C21", "C22", "truth", "decoy"))


@pytest.mark.long
def test_the_command_inspect_eval(tmp_path: Path) -> None:
    path, logs = write_file(tmp_path), tmp_path / "logs"
    arguments = ["eval", "ace/inspect_task.py", "--model", "mockllm/model", "-T", f"path={path}", "-T", "max_steps=2"]
    arguments += ["--log-dir", str(logs), "--display", "plain"]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = logs.glob("*.eval")
    read = read_eval_log(str(log))
    assert read.status == "success" and read.samples
    assert scores(read.samples) == [("I", "max_steps")] * 2
    assert read.results and read.results.scores[0].metrics["accuracy"].value == 0
