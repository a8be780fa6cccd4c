"""A judge's patch: parsed, applied to the task record, and checked by all checks, the replay and the evaluator."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agenthard.audit.judge.verdict import Change, CheckedIssue
from agenthard.audit.judge.verify.evidence import same_place
from agenthard.audit.repair.file_edits import FileEdit, edit_files, own_parts, patched_parts, read_document, translate
from agenthard.audit.repair.json_edit import EditError
from agenthard.audit.repair.proposals import Patch
from agenthard.audit.repair.recheck import TaskChecker, TaskState, compare
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Tier
from agenthard.taxonomy.pointer import resolve
from agenthard.taxonomy.task import AgentTask, Check, GroundTruth, ToolCall, UserSpec

_LONGEST = 200_000
"""Characters of one new value."""
_OUTPUTS = "/ground_truth/outputs/"
_HIDDEN_TOOLS = TypeAdapter(dict[str, tuple[str, ...]])


class PatchError(AgentHardError, ValueError):
    """A patch cannot be applied; the message says why."""

    code = "AH403"
    remedy = "Nothing: the verdict is kept without its patch."


def recheck(
    task: AgentTask, issue: CheckedIssue, checker: TaskChecker, before: TaskState | None = None
) -> CheckedIssue:
    """Accept the patch of a verified issue, or say why not.

    It is accepted when it changes only what belongs to this task, the changed task can be read, confirmed findings
    of the same category at the same place are gone, every check that could look at the task before still can, none of
    them finds something new or worse, and the replay and the evaluator say nothing worse of the ground truth.

    Args:
        task: the task.
        issue: an issue after the gate; one without a patch is returned as it is.
        checker: looks at tasks with all checks, among the other tasks of the benchmark.
        before: what it sees of the unchanged task, when that is known.
    """
    if not issue.issue.patch:
        return issue
    if issue.standing not in ("verified", "proved"):
        return issue.model_copy(update={"patch_reason": f"the issue is {issue.standing}"})
    try:
        patch = operations(issue.issue.patch)
        changed = patched_task(task, patch)
    except PatchError as error:
        return issue.model_copy(update={"patch_reason": str(error)})
    before = before or checker.check(task)
    reason = compare(before, checker.check(changed), list(_shared(issue, before))).reason
    return issue.model_copy(update={"patch": () if reason else patch, "patch_reason": reason})


def operations(changes: Sequence[Change]) -> Patch:
    """Read the operations of a patch, whose new values are JSON text.

    Raises:
        PatchError: A value is not valid JSON, or too long.
    """
    return tuple(
        {"op": change.op, "path": change.path, **({} if change.op == "remove" else {"value": _value(change)})}
        for change in changes
    )


def patched_task(task: AgentTask, patch: Patch) -> AgentTask:
    """Return a task with a patch applied, as its source would read it.

    Raises:
        PatchError: The patch does not fit, changes nothing, or touches what tasks share.
    """
    try:
        parts = patched_parts(task, patch)
        if parts == own_parts(task):
            raise PatchError("the patch changes nothing")
        changed = task.model_copy(
            update={
                "user": UserSpec.model_validate(parts["user"]),
                "ground_truth": _with_wording(task, GroundTruth.model_validate(parts["ground_truth"])),
                "initial_state": parts["initial_state"],
                "hidden_tools": _HIDDEN_TOOLS.validate_python(parts["hidden_tools"]),
            }
        )
    except KeyError as error:
        raise PatchError(f"the patch takes the part {error} away from the task") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = "/".join(map(str, first["loc"])) or "top level"
        raise PatchError(f"the patched task is not a task: at {place}: {first['msg']}") from error
    except EditError as error:
        raise PatchError(str(error)) from error
    except PatchError:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise PatchError(f"the patch does not fit the task: {error}") from error
    return _with_expectations(task, changed)


def file_edits(task: AgentTask, patch: Patch, root: Path) -> tuple[FileEdit, ...]:
    """Write a patch as changes of the benchmark's own files; nothing is written.

    Args:
        task: the task.
        patch: an accepted patch.
        root: folder of the benchmark that origins are relative to.

    Raises:
        EditError: A place has no counterpart in a JSON file of the benchmark.
    """
    edits = tuple(translate(task, patch, lambda file, line: read_document(root, file, line)))
    edit_files(root, edits)
    return edits


def _shared(issue: CheckedIssue, looked: TaskState) -> Iterator[str]:
    """Name the findings of checks that say the same as an issue."""
    for finding in looked.findings:
        if finding.tier is Tier.CONFIRMED and finding.category == issue.issue.category:
            if same_place(finding.evidence, issue):
                yield finding.id


def _value(change: Change) -> Any:
    if len(change.value) > _LONGEST:
        raise PatchError(f"the new value at {change.path!r} has more than {_LONGEST} characters")
    try:
        value = json.loads(change.value, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise PatchError(f"the new value at {change.path!r} is not valid JSON: {error}") from error
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _with_wording(task: AgentTask, changed: GroundTruth) -> GroundTruth:
    """Restore the original wording of the calls that the patch does not change; patches do not see it."""
    known = {_key(call): call for _, call in task.gold_calls()}
    turns = tuple(tuple(known.get(_key(call), call) for call in turn) for turn in changed.turns)
    return changed.model_copy(update={"turns": turns})


def _key(call: ToolCall) -> str:
    return json.dumps(call.model_dump(mode="json", exclude={"text"}), sort_keys=True)


def _with_expectations(task: AgentTask, changed: AgentTask) -> AgentTask:
    """Let checks expect the new values at the places that they compare with.

    Raises:
        PatchError: A text is required that no check of the record is about.
    """
    outputs, checks = changed.ground_truth.outputs, list(changed.evaluation.checks)
    if outputs != task.ground_truth.outputs:
        of_outputs = [check for check in checks if _is_of_output(check, task)]
        if outputs and not of_outputs:
            raise PatchError("no check looks at required texts yet; how one is added, only the benchmark's file tells")
        checks = [check for check in checks if check not in of_outputs]
        checks += [_of_output(of_outputs[0], number, text) for number, text in enumerate(outputs)]
    kept = tuple(_updated(check, task, changed) for check in checks)
    return changed.model_copy(update={"evaluation": changed.evaluation.model_copy(update={"checks": kept})})


def _is_of_output(check: Check, task: AgentTask) -> bool:
    return check.pointer.startswith(_OUTPUTS) or (
        check.kind == "output_substring" and check.expected in task.ground_truth.outputs
    )


def _of_output(like: Check, number: int, text: str) -> Check:
    pointer = f"{_OUTPUTS}{number}" if like.pointer else ""
    return like.model_copy(update={"expected": text, "pointer": pointer})


def _updated(check: Check, task: AgentTask, changed: AgentTask) -> Check:
    if not check.pointer or check.expected is None or _is_of_output(check, task):
        return check
    try:
        before, after = resolve(task, check.pointer), resolve(changed, check.pointer)
    except LookupError:
        return check
    return check.model_copy(update={"expected": after}) if check.expected == before else check
