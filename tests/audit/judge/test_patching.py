"""Patches of judges: read, made on the record, checked again, and written as changes of files."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthard.audit.detectors.registry import detectors
from agenthard.audit.judge.verdict import Change, CheckedIssue
from agenthard.audit.judge.verify.patches import PatchError, file_edits, operations, patched_task, recheck
from agenthard.audit.repair.json_edit import EditError
from agenthard.audit.repair.recheck import TaskChecker
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.native import Native
from agenthard.taxonomy import Origin
from tests.audit.judge.saying import call_at, gated, says
from tests.library import call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

SAID = "/user/turns/0/0/content"
TASKS = (
    desk_task(
        lend("b8"), call("leave_note", text="May"), id="lib/0", says="Lend b7 to ada, note: May.", outputs=("May",)
    ),
    desk_task(call("leave_note", text=41938), id="lib/1", says="Leave a note: 41938."),
)
BOOK = f"{call_at(0)}/arguments/book"


def change(op: str, path: str, value: Any = None) -> Change:
    return Change.model_validate({"op": op, "path": path, "value": "" if op == "remove" else json.dumps(value)})


@pytest.fixture
def checker() -> TaskChecker:
    return TaskChecker("library", TASKS, detectors())


def wrong_book(*patch: Change) -> CheckedIssue:
    wrong = says("incorrect-tool-call", "b8 is lent.", (call_at(0), "b8"), (SAID, "Lend b7"), patch=patch)
    return gated(TASKS[0], wrong)


def test_an_accepted_patch(checker: TaskChecker) -> None:
    issue = recheck(TASKS[0], wrong_book(change("replace", BOOK, "b7")), checker)
    assert issue.patch == ({"op": "replace", "path": BOOK, "value": "b7"},)
    assert issue.patch_reason == ""


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        (change("replace", BOOK, "b8"), "the patch changes nothing"),
        (change("replace", "/environment/policy", "x"), "'/environment/policy' is shared by tasks"),
        (change("replace", "", {}), "'' is shared by tasks"),
        (change("replace", "no pointer", "x"), "a JSON Pointer is empty or starts with '/'"),
        (change("remove", f"{call_at(7)}"), "the patch does not fit the task"),
        (change("replace", "/ground_truth", 5), "the patched task is not a task: at top level"),
        (change("replace", f"{call_at(0)}/arguments", 5), "the patched task is not a task: at turns/0/0/arguments"),
        (change("remove", "/ground_truth"), "the patch takes the part 'ground_truth' away"),
        (
            Change(op="replace", path=BOOK, value="b7"),
            "the new value at '/ground_truth/turns/0/0/arguments/book' is no",
        ),
        (Change(op="replace", path=BOOK, value="NaN"), "NaN is not a JSON number"),
        (Change(op="replace", path=BOOK, value='"\\ud800"'), "surrogates not allowed"),
        (Change(op="replace", path=BOOK, value="[" * 100_000), "is not valid JSON"),
        (Change(op="replace", path=BOOK, value='"' + "x" * 200_000 + '"'), "has more than 200000 characters"),
    ],
)
def test_a_patch_that_cannot_be_made(patch: Change, reason: str, checker: TaskChecker) -> None:
    issue = recheck(TASKS[0], wrong_book(patch), checker)
    assert issue.patch == ()
    assert reason in issue.patch_reason


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        (change("replace", BOOK, "b9"), "gold-changes-nothing finds something new"),
        (change("add", f"{call_at(0)}/arguments/branch", "hill"), "call-schema finds something new"),
    ],
)
def test_a_patch_that_makes_it_worse(patch: Change, reason: str, checker: TaskChecker) -> None:
    issue = recheck(TASKS[0], wrong_book(patch), checker)
    assert issue.patch == ()
    assert reason in issue.patch_reason


def test_a_patch_has_to_mend_what_a_check_sees_too(checker: TaskChecker) -> None:
    said = ("malformed-tool-call", "The note is no text.", (call_at(0), '"text": 41938'))

    def tried(value: Any) -> CheckedIssue:
        patch = (change("replace", f"{call_at(0)}/arguments/text", value),)
        return recheck(TASKS[1], gated(TASKS[1], says(*said, patch=patch)), checker)

    assert tried("41938").patch != ()
    assert tried(41939).patch_reason.startswith("the flaw is still found after the change")


def test_only_issues_that_stand_are_mended(checker: TaskChecker) -> None:
    issue = gated(
        TASKS[0], says("redundant-tool-call", "Idle.", (call_at(0), "b5"), patch=(change("remove", call_at(0)),))
    )
    assert recheck(TASKS[0], issue, checker).patch_reason == "the issue is unverified"
    assert recheck(TASKS[0], wrong_book(), checker) == wrong_book()


def test_checks_expect_what_the_patch_says() -> None:
    [task, other] = TASKS
    changed = patched_task(task, operations([change("replace", "/ground_truth/outputs/0", "June")]))
    assert [check.expected for check in changed.evaluation.checks if check.kind == "output_substring"] == ["June"]
    pointed = task.model_copy(
        update={
            "evaluation": task.evaluation.model_copy(
                update={
                    "checks": tuple(
                        check.model_copy(update={"pointer": "/ground_truth/outputs/0"})
                        if check.kind == "output_substring"
                        else check
                        for check in task.evaluation.checks
                    )
                }
            )
        }
    )
    more = patched_task(pointed, operations([change("add", "/ground_truth/outputs/-", "June")]))
    assert [(c.expected, c.pointer[-1]) for c in more.evaluation.checks[1:]] == [("May", "0"), ("June", "1")]
    none = patched_task(pointed, operations([change("remove", "/ground_truth/outputs/0")]))
    assert [check.kind for check in none.evaluation.checks] == ["final_state"]
    with pytest.raises(PatchError, match="no check looks at required texts yet"):
        patched_task(other, operations([change("add", "/ground_truth/outputs/-", "June")]))


def test_calls_that_are_left_alone_keep_their_wording() -> None:
    worded = desk_task(lend().model_copy(update={"text": "lend_book(...)"}), lend("b8"))
    changed = patched_task(worded, operations([change("remove", call_at(1))]))
    assert [call.text for _, call in changed.gold_calls()] == ["lend_book(...)"]


def test_the_patch_in_the_benchmarks_own_file(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text("".join(t.model_dump_json(exclude={"origins"}) + "\n" for t in TASKS))
    [task, _] = Native(tmp_path).tasks(Quarantine())
    [edit] = file_edits(task, ({"op": "replace", "path": BOOK, "value": "b7"},), tmp_path)
    assert (edit.file, edit.line, edit.patch[0]["value"]) == ("tasks.jsonl", 1, "b7")
    code = task.model_copy(update={"origins": {"": Origin(file="tasks.py")}})
    with pytest.raises(EditError, match="is not a JSON file"):
        file_edits(code, ({"op": "replace", "path": BOOK, "value": "b7"},), tmp_path)


PATHS = st.lists(
    st.sampled_from(
        ["ground_truth", "turns", "0", "-", "user", "arguments", "", "~0", "~2", "hidden_tools", "kind", "é"]
    )
).map(lambda tokens: "/".join(["", *tokens]))
VALUES = st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda v: st.lists(v, max_size=3)).map(
    json.dumps
)


@given(
    st.lists(st.builds(Change, op=st.sampled_from(["add", "remove", "replace"]), path=PATHS | st.text(), value=VALUES))
)
def test_any_patch_is_made_or_refused(changes: list[Change]) -> None:
    try:
        changed = patched_task(TASKS[0], operations(changes))
    except PatchError as refused:
        assert str(refused)
    else:
        assert changed != TASKS[0]
