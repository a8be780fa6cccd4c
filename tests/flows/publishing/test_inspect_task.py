"""A published split as an Inspect task, played by Inspect's mock model: from Python, and by ``inspect eval``."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as run_eval
from inspect_ai.log import EvalSample, read_eval_log
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall

from agenthard.flows.errors import CommandError
from agenthard.flows.publishing.inspect_file import why_not_played
from agenthard.flows.publishing.inspect_task import published_split
from agenthard.taxonomy import GroundTruth, ToolSpec, UserSpec
from tests.ace.environment.test_inspect_task import COMMAND
from tests.builders import make_task
from tests.flows.publishing.conftest import Audit, lending, library, published

pytestmark = pytest.mark.long


@pytest.fixture
def folder(audit: Audit, tmp_path: Path) -> Path:
    published(audit(library()), tmp_path / "out")
    return tmp_path / "out"


def reply(text: str, *calls: tuple[str, dict[str, Any]]) -> ModelOutput:
    made = [ToolCall(id=f"call {i}", function=name, arguments=given) for i, (name, given) in enumerate(calls)]
    message = ChatMessageAssistant(content=text, tool_calls=made or None)
    choice = ChatCompletionChoice(message=message, stop_reason="tool_calls" if calls else "stop")
    return ModelOutput(model="mock", choices=[choice], usage=ModelUsage())


def play(folder: Path, turns: Callable[[list[Any], list[Any]], ModelOutput]) -> dict[str, EvalSample]:
    model = get_model("mockllm/model", custom_outputs=lambda m, t, c, g: turns(m, t), memoize=False)
    (log,) = run_eval(published_split(str(folder)), model=model, log_dir=str(folder.parent / "logs"), display="none")
    assert log.status == "success" and log.samples, log.error
    return {str(sample.id): sample for sample in log.samples}


def value(sample: EvalSample) -> Any:
    return (sample.scores or {})["benchmark_verdict"].value


def lend(messages: list[Any], tools: list[Any]) -> ModelOutput:
    """Lends book 1 to member 0, whatever was asked for."""
    assert [tool.name for tool in tools] == ["lend_book"] and messages[0].role == "system"
    return reply("", ("lend_book", {"book_id": 1, "member": "Member 0"}))


def test_the_calls_of_a_reply_are_scored_as_the_task_declares(folder: Path) -> None:
    samples = play(folder, lend)
    assert {each: value(sample) for each, sample in samples.items()} == {
        "lib/0": "C",
        **dict.fromkeys(("lib/1", "lib/3", "lib/5"), "I"),
    }
    score = (samples["lib/0"].scores or {})["benchmark_verdict"]
    assert score.metadata and score.metadata["evaluator"] == "the evaluation that the task declares"


def test_the_log_holds_no_ground_truth(folder: Path) -> None:
    play(folder, lambda messages, tools: reply("I will not."))
    [log] = (folder.parent / "logs").glob("*.eval")
    for sample in read_eval_log(str(log)).samples or ():
        text = sample.model_dump_json()
        at = text.find("ground_truth")
        assert sample.target == "" and at < 0, text[at - 500 : at + 300]


def test_inspect_eval_runs_the_file_of_the_folder(folder: Path, tmp_path: Path) -> None:
    words = ["eval", "out/inspect_task.py", "--model", "mockllm/model", "--log-dir", str(tmp_path / "logs")]
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [file] = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(str(file))
    assert log.status == "success" and log.results and log.results.completed_samples == 4
    assert log.eval.metadata and log.eval.metadata["left_out"] == {}


def test_a_damaged_folder_is_not_played(folder: Path) -> None:
    tasks = folder / "native" / "tasks.jsonl"
    tasks.write_bytes(tasks.read_bytes().replace(b"book", b"bock", 1))
    with pytest.raises(CommandError, match=r"damaged: native/tasks\.jsonl"):
        published_split(str(folder))


def test_a_split_without_a_task_that_can_be_played_has_no_file_and_says_why(audit: Audit, tmp_path: Path) -> None:
    user = {"kind": "simulated", "instruction": "You want to borrow book 1. You are Member 0."}
    made = published(audit([lending(0, 1, user=user)]), tmp_path / "out")
    assert made.inspect.startswith("a model plays the user")
    assert not (tmp_path / "out" / "inspect_task.py").exists()
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "**As an Inspect task** it cannot be run: a model plays the user" in card
    with pytest.raises(CommandError, match="no task can be run as an Inspect sample"):
        published_split(str(tmp_path / "out"))


TURN = {"role": "user", "content": "Lend book 7 to Ada."}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"user": UserSpec(kind="simulated", instruction="Ask.")}, "a model plays the user"),
        ({"user": UserSpec(kind="scripted")}, "it has no turn of the user"),
        ({"user": {"kind": "scripted", "turns": [[TURN], [TURN]]}}, "it has several turns"),
        ({"evaluation": {"checks": [{"kind": "judge", "scored": True}]}}, "its score does not follow"),
        ({"benchmark": "acebench"}, "it is scored by the code of a checkout"),
        ({"benchmark": "ace"}, "Inspect has a task of its own for it: `inspect eval agenthard/ace_bench "),
        ({"benchmark": "escape"}, "Inspect has a task of its own for it: `inspect eval agenthard/escape_rooms "),
        ({"benchmark": "bfcl", "subtask": "simple"}, ""),
        ({"benchmark": "bfcl", "subtask": "web_search_base"}, "a run of web_search_base is scored on its last message"),
    ],
)
def test_each_refusal_has_its_reason(fields: dict[str, Any], reason: str) -> None:
    found = why_not_played(make_task(**fields))
    assert found.startswith(reason) and bool(found) == bool(reason)


def test_names_of_tools_are_made_fit_for_providers_and_back(audit: Audit, tmp_path: Path) -> None:
    name, schema = "library.lend book", {"type": "object", "properties": {"n": {"type": ["integer", "null"]}}}
    tool = ToolSpec(name=name, parameters=schema)
    task = lending(
        0,
        1,
        environment={"tools": [tool]},
        ground_truth=GroundTruth.model_validate(
            {"semantics": "required", "turns": [[{"name": name, "arguments": {"n": 1}}]]}
        ),
    )
    published(audit([task]), tmp_path / "out")
    samples = play(tmp_path / "out", lambda messages, tools: reply("", (tools[0].name, {"n": 1})))
    assert value(samples["lib/0"]) == "C"


@pytest.mark.corpora
@pytest.mark.network
def test_bfcl_is_played_on_its_own_classes_and_scored_by_its_own_checker(
    corpora: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agenthard.audit.execution import managed_environments as venvs
    from agenthard.audit.execution.environment import UnavailableError
    from agenthard.audit.sources.base import Quarantine
    from agenthard.audit.sources.bfcl import BFCL
    from agenthard.flows.audit_plan import AuditSettings
    from tests.flows.audits import audit_by_steps

    home = tmp_path_factory.getbasetemp().parent / "agenthard-home"
    try:
        venvs.create("bfcl", "2025.7.17", home)
    except UnavailableError as error:
        pytest.skip(f"bfcl-eval cannot be fetched: {error}")
    monkeypatch.setenv("AGENTHARD_HOME", str(home))
    data = shutil.copytree(corpora / "bfcl_v3_2025-07-17" / "data", tmp_path / "bfcl", copy_function=shutil.copyfile)
    for path in (data, *data.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for name in ("simple", "multi_turn_base"):  # the first lines of two categories are enough to play
        for file in (data / f"BFCL_v3_{name}.json", data / "possible_answer" / f"BFCL_v3_{name}.json"):
            file.write_text("".join(file.read_text(encoding="utf-8").splitlines(keepends=True)[:3]), encoding="utf-8")
    settings = {"domains": ("simple", "multi_turn_base"), "out": str(tmp_path / "run")}
    audit_by_steps(AuditSettings(source="bfcl", path=str(data), **settings))
    published(tmp_path / "run", tmp_path / "out")
    gold = {task.id: task for task in BFCL(tmp_path / "out" / "native").tasks(Quarantine())}

    def perfect(messages: list[Any], tools: list[Any]) -> ModelOutput:
        """Makes the calls of the turn's ground truth, then says that it is done."""
        asked = [message.text for message in messages if message.role == "user"]
        task = next(each for each in gold.values() if each.user.turns[0][-1].content == asked[0])
        if messages[-1].role == "tool":
            return reply("Done.")
        turn = task.ground_truth.turns[len(asked) - 1]
        calls = []
        for call in turn:
            given = {
                key: item["$any_of"][0] if isinstance(item, dict) and "$any_of" in item else item
                for key, item in call.arguments.items()
            }
            calls.append((next(tool.name for tool in tools if tool.name == call.name.replace(".", "_")), given))
        return reply("" if calls else "Nothing to do.", *calls)

    samples = play(tmp_path / "out", perfect)
    assert len(samples) == len(gold) and {value(sample) for sample in samples.values()} == {"C"}
    multi = samples["multi_turn_base_0"]
    assert any(message.role == "tool" and message.text for message in multi.messages)  # its classes answered
    assert (multi.scores or {})["benchmark_verdict"].metadata["evaluator"].startswith("bfcl-eval 2025.7.17")
    idle = play(tmp_path / "out", lambda messages, tools: reply("No."))
    assert {value(sample) for sample in idle.values()} == {"I"}
    assert json.loads((multi.scores or {})["benchmark_verdict"].answer or "[]")
