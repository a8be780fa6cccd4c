"""A finding with its repair as the text of an issue for the benchmark's maintainer."""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from agenthard.audit.repair.recheck import GoldRun, Recheck
from agenthard.audit.repair.repairs import Repair
from agenthard.audit.sources.base import Source, Version
from agenthard.audit.sources.formats.json_text import line_of
from agenthard.taxonomy.finding import Evidence, Finding, Severity, Tier
from agenthard.taxonomy.pointer import join, split
from agenthard.taxonomy.task import AgentTask

_SHOWN_TASKS = 20
_SHOWN_CHANGES = 3
_LONGEST = 20_000
"""Characters of a diff or a quote in the text; the whole change is in ``repairs.json``."""

_SCORE = {
    Severity.AFFECTS_SCORE: "A right run can fail, or a wrong run can pass, as the task is now. Scores of stored runs "
    "on these tasks can change with the repair: grade them again before comparing.",
    Severity.MAY_AFFECT_SCORE: "It was not shown that a score moves. Stored runs on these tasks should be graded "
    "again before they are compared with new ones.",
    Severity.COSMETIC: "No score is expected to change.",
}
_SURE = {
    Tier.CONFIRMED: "This follows from the files by a stated rule.",
    Tier.SUSPECTED: "This comes from a heuristic; please judge it.",
    Tier.SIGNAL: "This comes from a statistic; please judge it.",
}


def issue_text(
    source: Source,
    version: Version,
    finding: Finding,
    task: AgentTask,
    repairs: Sequence[Repair],
    left_out: Sequence[str],
) -> str:
    """Write the issue as Markdown. All text of the benchmark is in code blocks that it cannot close.

    Args:
        source: the benchmark as it was audited.
        version: release that was audited.
        finding: the finding.
        task: the task that its evidence quotes.
        repairs: its accepted repairs, one per task.
        left_out: checks that need runs and were not repeated.
    """
    check = repairs[0].recheck
    tasks = [repair.proposal.task_id for repair in repairs]
    parts = [
        f"# {finding.check}: {_first_words(finding)}",
        f"{source.title}, {code(f'{version.label} {version.content_hash}')} (label, and hash of the files read). "
        f"Finding {code(finding.id)} by check {code(f'{finding.check} {finding.check_version}')}, "
        f"category {code(finding.category)}.",
        "## What is wrong",
        fenced(finding.claim),
        f"{_SURE[finding.tier]} Tasks: {_list(tasks)}.",
        "## Evidence",
        *(
            part
            for item in finding.evidence
            if item.trajectory_id is None
            for part in _evidence(item, task, source.root)
        ),
        "## See it yourself",
        fenced(_command(source, task, check), "sh"),
        "## Proposed change",
        finding.fix and fenced(finding.fix),
        *(part for repair in repairs[:_SHOWN_CHANGES] for part in _change(repair)),
        _more(len(repairs) - _SHOWN_CHANGES),
        "## What was re-checked",
        "The change was made in a copy of the files, the benchmark was read again from it, and every task above was "
        "checked again: the finding is gone, no check finds anything that it did not find before, and no check that "
        "could look at the task before cannot look at it now.",
        *([_rechecked(task.id, check.checks_run, check.before, check.after)] if check else []),
        f"Not repeated, because the recorded runs were made with the unchanged task: {_list(left_out)}."
        if left_out
        else "",
        "## What changes for scores",
        _SCORE[finding.severity],
        "## If the present form is intended",
        "If the present form is intended, please say so and why: the finding is then recorded as accepted, with your "
        "reason, and the task is kept as it is.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _command(source: Source, task: AgentTask, check: Recheck | None) -> str:
    """Write what shows the flaw: the replay where the task can be executed, else the audit of the benchmark."""
    executed = check is not None and (not check.before.not_replayed or check.before.accepted is not None)
    if executed:
        return shlex.join(["agenthard", "replay", source.name, str(source.root), task.id])
    return shlex.join(["agenthard", "audit", source.name, str(source.root)])


def code(text: str) -> str:
    """Write text as a code span that it cannot end.

    >>> code("a `b` c")
    '`` a `b` c ``'
    """
    flat = re.sub(r"\s+", " ", text)
    ticks = "`" * (_longest_run(flat) + 1)
    pad = " " if "`" in flat else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def fenced(text: str, language: str = "text") -> str:
    """Write text as a code block that it cannot end; a very long text is cut with a note."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}\n… cut here, {len(text):,} characters in all"
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _first_words(finding: Finding) -> str:
    tasks = len(finding.task_ids)
    return f"{code(finding.task_ids[0])}{f' and {tasks - 1} more' if tasks > 1 else ''}"


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(map(code, names[:_SHOWN_TASKS]))
    return f"{shown} and {len(names) - _SHOWN_TASKS} more" if len(names) > _SHOWN_TASKS else shown


def _evidence(item: Evidence, task: AgentTask, root: Path) -> list[str]:
    note = f": {code(item.note)}" if item.note else ""
    if item.native is None:
        return [f"{_place(task, item.pointer, root)}{note}", fenced(item.quote)]
    native = item.native
    at = f", {code(native.pointer)}" if native.pointer else ""
    return [f"{code(native.file)} line {native.line}{at}{note}", fenced(native.text)]


def _place(task: AgentTask, pointer: str, root: Path) -> str:
    """Name file, line and JSON Pointer of a part of the task as far as they are known."""
    tokens = split(pointer)
    for length in range(len(tokens), 0, -1):
        origin = task.origins.get(join("", *tokens[:length]))
        if origin is not None:
            at = origin.pointer + join("", *tokens[length:])
            line = origin.line or _line(root / origin.file, at)
            return f"{code(origin.file)}{f' line {line}' if line else ''}, at or near {code(at or '/')}"
    whole = task.origins.get("")
    file = f"{code(whole.file)}{f' line {whole.line}' if whole.line else ''}, " if whole else ""
    return f"{file}{code(pointer)} of the task as AgentHard reads it"


def _line(path: Path, pointer: str) -> int | None:
    if path.suffix != ".json":
        return None
    try:
        return line_of(path.read_text(encoding="utf-8"), pointer)
    except (OSError, ValueError):
        return None


def _change(repair: Repair) -> list[str]:
    patches = [
        f"JSON Patch against {code(edit.file)}{f' line {edit.line}' if edit.line else ''}:\n\n"
        + fenced(json.dumps(list(edit.patch), ensure_ascii=False, indent=1), "json")
        for edit in repair.edits
    ]
    return [f"Task {code(repair.proposal.task_id)}:", fenced(repair.diff, "diff"), *patches]


def _more(count: int) -> str:
    return f"The same in {count} more tasks; `repairs.json` holds each change." if count > 0 else ""


def _rechecked(task_id: str, checks: int, before: GoldRun, after: GoldRun) -> str:
    return f"On {code(task_id)} {checks} checks ran. Ground truth before: {_gold(before)}. After: {_gold(after)}."


def _gold(gold: GoldRun) -> str:
    replayed = f"not replayed ({code(gold.not_replayed)})"
    if not gold.not_replayed:
        replayed = f"replayed, {gold.failing_calls} calls fail"
    if gold.accepted is None:
        return f"{replayed}; the evaluator was not asked ({code(gold.not_evaluated)})"
    return f"{replayed}; {'accepted' if gold.accepted else 'rejected'} by the evaluator"
