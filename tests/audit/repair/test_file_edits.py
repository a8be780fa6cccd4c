"""Patches against records, made in files of BFCL's and of the native format."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.repair.file_edits import (
    edit_files,
    own_parts,
    patched_parts,
    read_document,
    translate,
    unified_diff,
)
from agenthard.audit.repair.json_edit import EditError
from agenthard.taxonomy import AgentTask, GroundTruth, Origin, ToolCall
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task

CALLS = [["open(file='a.txt')", "touch('note.md', 3)"], ["close()"]]
ACCEPTED = [{"lend_book": {"member": ["", "Ada", "Adda"], "days": [5]}}]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    lines = [{"id": "t1", "ground_truth": CALLS}, {"id": "t2", "ground_truth": ACCEPTED}]
    (tmp_path / "answers.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


@pytest.fixture
def multi_turn() -> AgentTask:
    """As BFCL's reader gives it: calls as source text."""
    calls = (
        (
            ToolCall(name="open", arguments={"file": "a.txt"}, text=CALLS[0][0]),
            ToolCall(name="touch", arguments={"file": "note.md", "times": 3}, positional=2, text=CALLS[0][1]),
        ),
        (ToolCall(name="close", text=CALLS[1][0]),),
    )
    origins = {"/ground_truth/turns": Origin(file="answers.json", line=1, pointer="/ground_truth")}
    return make_task("t1", ground_truth=GroundTruth(semantics="reference_path", turns=calls), origins=origins)


@pytest.fixture
def single_turn() -> AgentTask:
    """As BFCL's reader gives it: lists of accepted values, in which "" means that it may be left out."""
    nodes = {"member": any_of(["Ada", "Adda"], optional=True), "days": any_of([5])}
    place = Origin(file="answers.json", line=2, pointer="/ground_truth/0/lend_book")
    return make_task(
        "t2",
        ground_truth=GroundTruth(semantics="required", turns=((ToolCall(name="lend_book", arguments=nodes),),)),
        origins={"/ground_truth/turns/0/0/arguments": place},
    )


def change(root: Path, task: AgentTask, *patch: dict[str, Any]) -> list[Any]:
    edits = translate(task, patch, lambda file, line: read_document(root, file, line))
    assert len(edits) == 1
    before = (root / "answers.json").read_bytes()
    (root / "answers.json").write_bytes(edit_files(root, edits)["answers.json"])
    after = (root / "answers.json").read_bytes()
    changed = [new for old, new in zip(before.split(b"\n"), after.split(b"\n"), strict=True) if old != new]
    return [json.loads(line)["ground_truth"] for line in changed]


def test_an_argument_in_source_text(root: Path, multi_turn: AgentTask) -> None:
    operation = {"op": "replace", "path": "/ground_truth/turns/0/1/arguments/file", "value": "notes.md"}
    assert change(root, multi_turn, operation) == [[["open(file='a.txt')", "touch('notes.md', 3)"], ["close()"]]]
    parts = patched_parts(multi_turn, [operation])
    assert parts["ground_truth"]["turns"][0][1]["arguments"] == {"file": "notes.md", "times": 3}


def test_two_arguments_of_one_call(root: Path, multi_turn: AgentTask) -> None:
    at = "/ground_truth/turns/0/1/arguments"
    patch = (
        {"op": "replace", "path": f"{at}/times", "value": 4},
        {"op": "replace", "path": f"{at}/file", "value": "b"},
    )
    assert change(root, multi_turn, *patch) == [[["open(file='a.txt')", "touch('b', 4)"], ["close()"]]]


def test_a_call_is_left_out(root: Path, multi_turn: AgentTask) -> None:
    assert change(root, multi_turn, {"op": "remove", "path": "/ground_truth/turns/0/0"}) == [[[CALLS[0][1]], CALLS[1]]]


def test_a_list_of_accepted_values_keeps_its_marker(root: Path, single_turn: AgentTask) -> None:
    at = "/ground_truth/turns/0/0/arguments/member/$any_of/1"
    [changed] = change(root, single_turn, {"op": "replace", "path": at, "value": "Eda"})
    assert changed == [{"lend_book": {"member": ["", "Ada", "Eda"], "days": [5]}}]


def test_an_argument_gets_another_name(root: Path, single_turn: AgentTask) -> None:
    at = "/ground_truth/turns/0/0/arguments"
    [changed] = change(root, single_turn, {"op": "move", "from": f"{at}/days", "path": f"{at}/weeks"})
    assert changed == [{"lend_book": {"member": ["", "Ada", "Adda"], "weeks": [5]}}]


def test_what_tasks_share_is_not_changed(multi_turn: AgentTask) -> None:
    with pytest.raises(EditError, match="shared"):
        patched_parts(multi_turn, [{"op": "replace", "path": "/environment/policy", "value": ""}])
    with pytest.raises(EditError, match="does not fit"):
        patched_parts(multi_turn, [{"op": "remove", "path": "/ground_truth/turns/7"}])
    assert "text" not in str(own_parts(multi_turn)["ground_truth"])


@pytest.mark.parametrize("origins", [{}, {"": Origin(file="tasks.py", line=3)}, {"": Origin(file="none.json")}])
def test_a_place_that_cannot_be_reached_is_said(root: Path, origins: dict[str, Origin]) -> None:
    task = make_task(origins=origins)
    operation = {"op": "remove", "path": "/ground_truth/turns/0/0"}
    with pytest.raises(EditError):
        translate(task, [operation], lambda file, line: read_document(root, file, line))


def test_of_a_long_line_the_changed_part_is_shown(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"a": "x" * 600, "b": "note.md", "c": "y" * 600}))
    task = make_task(origins={"/user": Origin(file="t.json")})
    patch = [{"op": "replace", "path": "/user/b", "value": "notes.md"}]
    edits = translate(task, patch, lambda file, line: read_document(tmp_path, file, line))
    diff = unified_diff(tmp_path, edits).splitlines()
    assert diff[:2] == ["--- a/t.json", "+++ b/t.json"]
    assert 'note.md", "c"' in diff[3] and 'notes.md", "c"' in diff[4]
    assert all(len(line) < 300 for line in diff)
