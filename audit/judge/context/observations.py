"""The results of the audit for a task, as passages: the replay of its ground truth, the results of checks, runs."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.environment import Environment, ExecutionError, ToolResponse, UnavailableError
from agenthard.audit.execution.gold import environment_of, why_no_path
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.execution.state_diff import Difference, differences
from agenthard.audit.judge.context.material import Part, Passage
from agenthard.audit.judge.context.state_index import shared_index
from agenthard.audit.judge.context.state_records import terms_in
from agenthard.taxonomy.finding import Coverage, Evidence, Finding, Status, Tier
from agenthard.taxonomy.pointer import resolve, split
from agenthard.taxonomy.task import AgentTask, Message, ToolCall
from agenthard.taxonomy.trajectory import Trajectory

JUDGE = "judge"
"""Id under which a judge's own findings go: no judge is shown another's."""
_CHANGES = 12
"""Changes of the state that are written out per call."""
_VALUE = 400
"""Characters of a changed value that are written out."""
_QUOTE = 500
"""Characters of a quote that are written out."""
_TIERS = list(Tier)
_CHECKS = "/evaluation/checks/"


def replay_passages(task: AgentTask) -> Iterator[Passage]:
    """Replay the ground truth and describe the response and the changes of each call, or why it was not replayed.

    Calls that fail or change something are kept before those that only look.
    """
    reason = why_no_path(task)
    if reason is None:
        try:
            yield from _steps(environment_of(task), task)
            return
        except UnavailableError as unavailable:
            reason = str(unavailable)
        except ExecutionError as failure:
            reason = f"the environment broke: {failure}"
    yield _passage("replay/0", "replay", "replay of the ground truth", f"Not replayed: {reason}.")


def _steps(environment: Environment, task: AgentTask) -> list[Passage]:
    environment.reset(task)
    state = environment.snapshot()
    passages: list[Passage] = []
    for turn, calls in enumerate(gold_turns(task)):
        for index, call in enumerate(calls):
            seen = environment.call(call)
            after = environment.snapshot()
            changes = differences(state, after, task.environment.state)
            title = f"replay of /ground_truth/turns/{turn}/{index}" + (": it FAILED" if seen.error else "")
            text = _step(call, _response(task, call, seen), seen.error, changes)
            rank = 0 if seen.error or changes else 1
            passages.append(_passage(f"replay/{len(passages) + 1}", "replay", title, text, rank))
            state = after
    return passages


def _response(task: AgentTask, call: ToolCall, seen: ToolResponse) -> str:
    """Return the response; a record that comes back unchanged from the shared state is named by its pointer alone."""
    if not seen.text.startswith("{"):
        return seen.text
    try:
        returned = json.loads(seen.text)
    except (ValueError, RecursionError):
        return seen.text
    index = shared_index(task.environment)
    for term in sorted(terms_in(call.arguments)):
        for pointer in sorted(index.named(term)):
            if resolve(task, pointer) == {key: value for key, value in returned.items() if value is not None}:
                nulls = sorted(key for key, value in returned.items() if value is None)
                return f"the record {pointer} as it stands there" + (
                    f", with null for {', '.join(nulls)}" if nulls else ""
                )
    return seen.text


def _step(call: ToolCall, response: str, error: str | None, changes: Sequence[Difference]) -> str:
    lines = [f"{call.requestor} calls {call.name}({canonical_json(call.arguments)})", f"response: {response}"]
    if error:
        lines.append(f"the call failed: {error}")
    lines.append("changes of the state:" if changes else "changes of the state: none")
    for change in changes[:_CHANGES]:
        lines.append(f"  {change.pointer}: {_short(change.before)} -> {_short(change.after)}")
    if len(changes) > _CHANGES:
        lines.append(f"  and {len(changes) - _CHANGES} more")
    return "\n".join(lines)


def _short(value: Any, most: int = _VALUE) -> str:
    text = "nothing" if value is None else canonical_json(value)
    return text if len(text) <= most else f"{text[:most]} (shortened, {len(text)} characters)"


def check_passages(task: AgentTask, findings: Sequence[Finding], coverage: Sequence[Coverage]) -> Iterator[Passage]:
    """Yield one passage per finding on the task, surest first, and one that says what else was checked.

    A finding that only repeats that checks of the task are not scored is left out: the checks themselves say so.
    """
    own = [finding for finding in findings if task.id in finding.task_ids and finding.check != JUDGE]
    own = [finding for finding in own if not _states_what_is_unscored(task, finding)]
    own.sort(key=lambda finding: (_TIERS.index(finding.tier), finding.check, finding.id))
    for number, finding in enumerate(own, 1):
        title = f"finding of the check {finding.check} ({finding.tier.value})"
        yield _passage(f"checks/{number}", "checks", title, _finding(task, finding))
    text = _coverage([row for row in coverage if row.task_id == task.id and row.check != JUDGE])
    if text:
        yield _passage("checks/0", "checks", "what other checks did", text, rank=1)


def _states_what_is_unscored(task: AgentTask, finding: Finding) -> bool:
    """Tell whether a finding says only that checks are stated which this task lists as not scored."""
    if finding.category != "unscored-requirement" or not finding.evidence:
        return False
    if not all(item.pointer.startswith(_CHECKS) for item in finding.evidence):
        return False
    own = {split(item.pointer)[2] for item in finding.evidence if item.task_id == task.id}
    unscored = {str(number) for number, check in enumerate(task.evaluation.checks) if not check.scored}
    return bool(unscored) and own <= unscored


def _finding(task: AgentTask, finding: Finding) -> str:
    lines = [finding.claim, f"category: {finding.category}; severity: {finding.severity.value}"]
    if len(finding.task_ids) > 1:
        lines.append(f"the same cause is in {len(finding.task_ids)} tasks")
    lines += [_quote(task, item) for item in finding.evidence if item.task_id == task.id]
    return "\n".join(lines)


def _quote(task: AgentTask, item: Evidence) -> str:
    """Describe a quote and its place; a whole call of the ground truth, shown elsewhere, by its name."""
    where = item.pointer if item.trajectory_id is None else f"run {item.trajectory_id}, {item.pointer}"
    note = f" ({item.note})" if item.note else ""
    calls = dict(task.gold_calls()) if item.trajectory_id is None else {}
    call = calls.get(item.pointer)
    whole = call is not None and item.quote == canonical_json(call)
    return f"at {where}: {f'this call of {call.name}' if call and whole else _cut(item.quote)}{note}"


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTE else f"{text[:_QUOTE]} (shortened, {len(text)} characters)"


def _coverage(rows: Sequence[Coverage]) -> str:
    """Describe in one line which checks found nothing, how many do not apply to the task, and which failed on it."""
    clean, failed = (sorted({row.check for row in rows if row.status is s}) for s in (Status.CLEAN, Status.ERROR))
    others = len({row.check for row in rows if row.status is Status.NOT_CHECKED})
    said = [f"Ran and found nothing: {', '.join(clean)}."] if clean else []
    said += [f"Not applicable: {others}."] if others else []
    said += [f"Failed: {', '.join(failed)}."] if failed else []
    return " ".join(said)


def run_passages(task: AgentTask, runs: Sequence[Trajectory]) -> Iterator[Passage]:
    """Yield what is known about each run (``run/1``) and its messages (``run/1/1`` ...), except the policy."""
    for number, run in enumerate((run for run in runs if run.task_id == task.id), 1):
        passed = {True: "passed", False: "failed", None: "not scored"}[run.passed]
        text = f"run by {run.model}, trial {run.trial}: {passed}, status {run.status} {run.status_reason}".rstrip()
        yield _passage(f"run/{number}", "run", f"run {number}", text)
        for place, message in enumerate(run.messages, 1):
            said = _said(message)
            if said and not (message.role == "system" and task.environment.policy in message.content):
                yield _passage(f"run/{number}/{place}", "run", f"run {number}, {message.role}", said, rank=2)


def _said(message: Message) -> str:
    calls = [f"calls {call.name}({canonical_json(call.arguments)})" for call in message.tool_calls]
    return "\n".join(filter(None, (message.content, *calls)))


def _passage(label: str, part: Part, title: str, text: str, rank: int = 0) -> Passage:
    return Passage(label=label, part=part, title=title, text=text, rank=rank)
