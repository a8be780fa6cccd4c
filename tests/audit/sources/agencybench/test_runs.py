from pathlib import Path

import pytest

from agenthard.audit.sources.agencybench import AgencyBench
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.taxonomy import Trajectory
from tests.audit.sources.agencybench.conftest import RUNS, scored, shown, write


def read(root: Path, path: Path | None = None, *domains: str) -> dict[str, Trajectory]:
    quarantine = Quarantine()
    runs = {run.id: run for run in AgencyBench(root, domains).runs(path or root, quarantine)}
    assert quarantine.items == []
    return runs


def test_all_five_forms_are_read(root: Path) -> None:
    runs = read(root)
    assert {key: (run.score, run.status, run.status_reason.split(":")[0], run.passed) for key, run in runs.items()} == {
        "first/Backend/scenario1/subtask1#1": (5.0, "ok", "", False),
        "first/Backend/scenario1/subtask1#2": (5.0, "agent_error", "agent_empty", False),
        "first/Code/scenario2/subtask1#1": (0.0, "judge_error", "judge_error", None),
        "first/Code/scenario2/subtask1#2": (7.0, "agent_error", "agent_empty", True),
        "first/Game/scenario1/subtask1#1": (6.5, "ok", "", True),
        "first/Game/scenario1/subtask1#2": (7.5, "infrastructure_error", "infra_timeout", None),
        "first/Game/scenario1/subtask2#1": (0.0, "agent_error", "agent_empty", False),
        "first/Game/scenario1/subtask2#2": (0.0, "agent_error", "plan_parse_error", False),
        "first/MCP/scenario1/subtask1#1": (10.0, "agent_error", "agent_empty", True),
        "first/Research/scenario1/subtask1#1": (10.0, "ok", "", True),
    }
    assert {run.model for run in runs.values()} == {"m-1"}
    assert {run.protocol for run in runs.values()} == {"first"}


def test_a_retry_names_the_attempt_before(root: Path) -> None:
    runs = read(root)
    first, second = (runs[f"first/Game/scenario1/subtask1#{i}"] for i in (1, 2))
    assert (first.trial, first.retry_of, second.trial, second.retry_of) == (0, None, 1, first.id)
    assert second.origin is not None
    assert second.origin.file == "Game/scenario1/first/meta_eval.json"
    assert second.origin.pointer == "/subtasks/subtask1/attempts/1"


def test_judges_and_what_they_were_shown(root: Path) -> None:
    runs = read(root)
    text, image = runs["first/Game/scenario1/subtask1#2"].judgements
    assert (text.judge, text.kind, text.score, text.shown) == ("reader", "text", 9.0, None)
    assert (image.judge, image.kind, image.score, image.shown) == ("eye", "vision", 6.0, ())
    assert "timed out after 20s" in image.diagnostics[0]
    (judged,) = runs["first/Backend/scenario1/subtask1#1"].judgements
    assert (judged.judge, judged.kind, judged.reason) == ("llm-as-judge", "text", "- no ring")
    (script,) = runs["first/Research/scenario1/subtask1#1"].judgements
    assert (script.judge, script.kind) == ("rubric", "script")


def test_quoted_tool_results_become_messages_and_written_ones_do_not(root: Path) -> None:
    runs = read(root)
    worked = runs["first/Backend/scenario1/subtask1#1"].messages
    assert [message.role for message in worked] == ["assistant", "tool", "tool"]
    assert worked[0].content == "Let me see.\n" and worked[1].content.startswith("🔧 Tool result: 1 item\nI write.")
    looked = runs["first/Backend/scenario1/subtask1#2"]
    assert [message.content for message in looked.messages] == [
        "I look.[TOOL CALL] read_file({})",
        "🔧 Tool result: ok",
    ]
    assert looked.status_reason.endswith("makes one call, which only looks, and the log ends with its result")
    game = runs["first/Game/scenario1/subtask1#1"]
    assert [message.role for message in game.messages] == ["user", "assistant"]
    assert game.usage == {"seconds": 2.5}
    assert runs["first/Code/scenario2/subtask1#2"].usage == {"changed_lines": 0.0}


def test_one_file_and_one_capability_can_be_read(root: Path) -> None:
    assert len(read(root, root / "Game" / "scenario1" / "first" / "meta_eval.json")) == 4
    assert len(read(root, root / "Game")) == 4
    assert len(read(root, root, "MCP")) == 1
    with pytest.raises(SourceError, match="no meta_eval.json here or below"):
        read(root, root / "Game" / "scenario1" / "second")


@pytest.mark.parametrize(
    ("attempts", "reason"),
    [
        ([7], "expected an object"),
        ([{"agent_output": "x"}], "the attempt has no score"),
        ([scored("high", "x")], "expected a number, found str"),  # type: ignore[arg-type]
        ([{**shown(1, 2), "vision_result": None}], "expected an object"),
    ],
)
def test_an_unreadable_attempt_is_quarantined_and_the_others_stay(
    root: Path, attempts: list[object], reason: str
) -> None:
    document = {"model": "m-1", "subtasks": [{"name": "subtask1", "attempts": [*attempts, scored(1, "fine")]}]}
    write(root, "Backend/scenario1", "first/meta_eval.json", document)
    quarantine = Quarantine()
    runs = list(AgencyBench(root, ["Backend"]).runs(root, quarantine))
    assert [run.trial for run in runs] == [1]
    (item,) = quarantine.items
    assert reason in item.reason and item.kind == "run" and item.task_id == "Backend/scenario1/subtask1"
    assert item.pointer.startswith("/subtasks/0/attempts/0")


@pytest.mark.parametrize(
    ("place", "document", "reason"),
    [
        ("Backend/scenario1", "{", "cannot be read"),
        ("Backend/scenario1", {"subtasks": 3}, "expected an array at /subtasks"),
        ("Backend/scenario1", {"subtasks": [{"name": "subtask7", "attempts": [scored(1, "x")]}]}, "unknown task"),
        ("Backend", RUNS["Backend/scenario1"], "do not tell the scenario"),
    ],
)
def test_an_unreadable_file_is_quarantined(root: Path, place: str, document: object, reason: str) -> None:
    (root / "Backend" / "scenario1" / "first" / "meta_eval.json").unlink()
    write(root, place, "first/meta_eval.json", document)
    quarantine = Quarantine()
    assert len(list(AgencyBench(root).runs(root, quarantine))) == 8
    assert [reason in item.reason for item in quarantine.items] == [True]
