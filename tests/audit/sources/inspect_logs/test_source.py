"""Logs written by Inspect itself: its mock model plays a small evaluation with tools, an error, and a limit."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")

from inspect_ai import Task  # noqa: E402
from inspect_ai import eval as run_eval  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.log import read_eval_log  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.scorer import includes, match  # noqa: E402
from inspect_ai.solver import generate, system_message, use_tools  # noqa: E402
from inspect_ai.tool import Tool, tool  # noqa: E402

from agenthard.audit.detectors.evaluation.substring_check import SubstringCheck  # noqa: E402
from agenthard.audit.sources.base import Quarantine, SourceError  # noqa: E402
from agenthard.audit.sources.inspect_logs import InspectLogs  # noqa: E402
from agenthard.audit.sources.registry import sources  # noqa: E402
from agenthard.taxonomy import Trajectory  # noqa: E402
from tests.audit.sources.audited import findings, read  # noqa: E402

TARGETS = {"sum": "2", "words": ["four", "4"], "broken": "never", "endless": "never"}
"""Ids of the samples and what each expects."""


@tool
def add() -> Tool:
    async def execute(x: int, y: int) -> str:
        """Add two numbers.

        Args:
            x: The first.
            y: The second.
        """
        return str(x + y)

    return execute


@tool
def disk() -> Tool:
    async def execute() -> str:
        """Look at the disk."""
        raise RuntimeError("the disk is gone")

    return execute


def respond(messages: list[Any], tools: Any, choice: Any, config: Any) -> ModelOutput:
    """The model: adds for the sum, looks at the disk for the broken sample, never ends the endless one."""
    asked, last = messages[1].text, messages[-1]
    if asked.startswith("sum") and last.role == "user":
        output = ModelOutput.for_tool_call("mock", "add", {"x": 1, "y": 1})
    elif asked.startswith("sum"):
        output = ModelOutput.from_content("mock", f"It is {last.text}.")
    elif asked.startswith("broken"):
        output = ModelOutput.for_tool_call("mock", "disk", {})
    elif asked.startswith("endless"):
        output = ModelOutput.for_tool_call("mock", "add", {"x": 0, "y": 0})
    else:
        output = ModelOutput.from_content("mock", "five")
    output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
    return output


def evaluate(folder: Path, asked: str = "1+1?", epochs: int = 1) -> Path:
    """Run the evaluation and return its log."""
    samples = [
        Sample(id=key, input=f"{key}: {asked} The room is 12 B.", target=target, metadata={"level": 1}, setup="true")
        for key, target in TARGETS.items()
    ]
    task = Task(
        name="arithmetic",
        dataset=MemoryDataset(samples),
        solver=[system_message("Be brief."), use_tools(add(), disk()), generate()],
        scorer=[includes(), match()],
        message_limit=9,
    )
    model = get_model("mockllm/model", custom_outputs=respond, memoize=False)
    (log,) = run_eval(
        task, model=model, log_dir=str(folder), display="none", fail_on_error=False, max_samples=1, epochs=epochs
    )
    return Path(log.location)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return evaluate(tmp_path_factory.mktemp("logs"), epochs=2)


def runs(source: InspectLogs, path: Path) -> dict[str, list[Trajectory]]:
    quarantine = Quarantine()
    found: dict[str, list[Trajectory]] = {}
    for run in source.runs(path, quarantine):
        found.setdefault(run.task_id.removeprefix("arithmetic/"), []).append(run)
    assert quarantine.items == []
    return found


def test_it_is_registered_and_recognises_logs(log: Path, tmp_path: Path) -> None:
    assert sources()["inspect"] is InspectLogs
    assert InspectLogs.recognises(log) and InspectLogs.recognises(log.parent)
    assert not InspectLogs.recognises(tmp_path)
    with pytest.raises(SourceError, match="no Inspect log here"):
        InspectLogs(tmp_path)


def test_samples_are_tasks(log: Path) -> None:
    tasks = read(InspectLogs(log))
    assert list(tasks) == [f"arithmetic/{key}" for key in TARGETS]
    task = tasks["arithmetic/words"]
    assert task.user.turns[0][0].content == "words: 1+1? The room is 12 B."
    assert task.ground_truth.answers == ("four", "4") and task.subtask == "arithmetic"
    assert task.environment.policy == "Be brief."
    assert [spec.name for spec in task.environment.tools] == ["add", "disk"]
    assert task.environment.tools[0].parameters["required"] == ["x", "y"]
    assert task.environment is tasks["arithmetic/sum"].environment
    assert task.metadata == {"level": 1, "setup": "true"}
    assert [(check.kind, check.expected) for check in task.evaluation.checks] == [
        ("output_substring", ["four", "4"]),
        ("output_substring", ["four", "4"]),
    ]
    assert task.origins["/ground_truth"].pointer == "/samples/words_epoch_1/target"


def test_a_target_that_the_task_itself_contains_is_found(log: Path) -> None:
    tasks = read(InspectLogs(log))
    hits = {key: list(SubstringCheck().inspect(task)) for key, task in tasks.items()}
    assert [key for key, found in hits.items() if found] == ["arithmetic/sum"]
    assert "'2' is also found in '12'" in hits["arithmetic/sum"][0].claim
    assert findings(InspectLogs(log)) == {("arithmetic/sum", "substring-check")}


def test_epochs_are_runs_with_scores_usage_and_judgements(log: Path) -> None:
    first, second = runs(InspectLogs(log), log)["sum"]
    assert (first.trial, second.trial, first.model, first.status) == (0, 1, "mockllm/model", "ok")
    assert (first.score, first.passed, first.ending) == (1.0, True, "stop")
    assert [message.role for message in first.messages] == ["system", "user", "assistant", "tool", "assistant"]
    [call] = first.messages[2].tool_calls
    assert (call.name, call.arguments) == ("add", {"x": 1, "y": 1})
    assert (first.messages[3].tool_call_id, first.messages[3].content) == (call.id, "2")
    assert first.usage["total_tokens"] == 30 and first.usage["seconds"] >= 0
    assert [(each.judge, each.kind, each.score) for each in first.judgements] == [
        ("includes", "script", 1.0),
        ("match", "script", 1.0),
    ]
    assert first.protocol == "arithmetic"


def test_errors_are_of_the_infrastructure_and_limits_are_endings(log: Path) -> None:
    found = runs(InspectLogs(log), log.parent)
    broken, endless, words = found["broken"][0], found["endless"][0], found["words"][0]
    assert (broken.status, broken.passed) == ("infrastructure_error", None)
    assert "the disk is gone" in broken.status_reason
    assert (endless.status, endless.ending, endless.passed) == ("ok", "message limit", False)
    assert (words.status, words.passed, words.score) == ("ok", False, 0.0)


def test_a_sample_that_asks_something_else_is_quarantined(log: Path, tmp_path: Path) -> None:
    for name, path in (("a.eval", log), ("b.eval", evaluate(tmp_path / "other", asked="1+2?"))):
        (tmp_path / name).write_bytes(path.read_bytes())
        path.unlink() if path.parent == tmp_path / "other" else None
    quarantine = Quarantine()
    assert len(list(InspectLogs(tmp_path).tasks(quarantine))) == 4
    assert len(quarantine.items) == 4
    assert (quarantine.items[0].file, quarantine.items[0].task_id) == ("b.eval", "arithmetic/sum")
    assert "same sample in a.eval" in quarantine.items[0].reason
    of_others = Quarantine()
    assert list(InspectLogs(log).runs(tmp_path / "b.eval", of_others)) == []
    assert {(item.kind, item.file) for item in of_others.items} == {("run", "b.eval")}


def test_a_damaged_log_is_quarantined_and_the_rest_is_read(log: Path, tmp_path: Path) -> None:
    (tmp_path / "good.eval").write_bytes(log.read_bytes())
    (tmp_path / "bad.eval").write_bytes(log.read_bytes()[:500])
    quarantine = Quarantine()
    assert len(list(InspectLogs(tmp_path).tasks(quarantine))) == 4
    assert [item.file for item in quarantine.items] == ["bad.eval"]
    assert "cannot read the log" in quarantine.items[0].reason


def test_a_split_keeps_every_value_of_a_sample(log: Path, tmp_path: Path) -> None:
    source = InspectLogs(log)
    [written] = source.write_split(["arithmetic/sum", "arithmetic/broken"], tmp_path)
    before, after = read_eval_log(str(log)), read_eval_log(str(written))
    assert after.eval.dataset.sample_ids == ["sum", "broken"] and after.results is None
    kept = {(s.id, s.epoch): s for s in before.samples or () if s.id in ("sum", "broken")}
    for sample in after.samples or ():
        assert sample.model_dump(mode="json") == kept.pop((sample.id, sample.epoch)).model_dump(mode="json")
    assert kept == {}
    with pytest.raises(SourceError, match="no such task"):
        source.write_split(["arithmetic/none"], tmp_path)


def test_a_domain_is_an_evaluation(log: Path) -> None:
    assert len(read(InspectLogs(log, ["arithmetic"]))) == 4
    with pytest.raises(SourceError, match="unknown domain: poems; there are: arithmetic"):
        InspectLogs(log, ["poems"])
    assert InspectLogs(log).version().files == 1
