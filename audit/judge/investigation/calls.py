"""Look-ups that involve calls: replay the ground truth, try a call, check a call against the documentation.

Everything runs in the benchmark's environment of this thread: in memory, or in a worker process without network. Every
user of the environment begins with a reset, so changes made here do not last.
"""

from typing import Any

from agenthard.audit.detectors.ground_truth.call_schema import CallSchema
from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.environment import Environment, ExecutionError, UnavailableError
from agenthard.audit.execution.gold import MILESTONES, environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step, gold_turns
from agenthard.audit.execution.state_diff import Difference, differences
from agenthard.audit.judge.investigation.results import Found, InvalidLookupError, Page, clip, page
from agenthard.taxonomy.task import AgentTask, ToolCall

_VALUE = 400
"""Characters of a value before or after a change."""


def why_no_replay(task: AgentTask) -> str | None:
    """Return why the ground truth cannot be replayed; None when it can."""
    try:
        return why_not_replayed(task)
    except (ExecutionError, UnavailableError) as failure:
        return str(failure)


def why_no_trial(task: AgentTask) -> str | None:
    """Return why no call can be tried; None when one can."""
    if task.ground_truth.call_matching != "state":
        return "the calls of a run are compared with the ground truth; nothing executes them"
    try:
        environment_of(task).reset(task)
    except (ExecutionError, UnavailableError) as failure:
        return str(failure)
    return None


def replay_gold(task: AgentTask, first: int = 1, last: int | None = None, show: str = "responses") -> Found:
    """Replay the ground truth.

    Args:
        task: The task.
        first: Number of the first call whose response is shown, from 1.
        last: Number of the last call that is carried out; None for all.
        show: ``responses``: what each call returned; ``state``: what they changed together.

    Raises:
        InvalidLookupError: It cannot be replayed, or these calls do not exist.
        ExecutionError: The environment broke.
    """
    if (reason := why_no_replay(task)) is not None:
        raise InvalidLookupError(f"the ground truth cannot be replayed: {reason}")
    steps = gold_replay(task).steps
    last = len(steps) if last is None else last
    if not 1 <= first <= last <= len(steps):
        raise InvalidLookupError(f"no gold calls {first} to {last}: they are numbered 1 to {len(steps)}")
    if show == "responses":
        shown = page(last - first + 1, lambda number: _step(first + number, steps[first + number - 1]))
        end = first + shown.end - 1
        cut = f"; no room for {end + 1} to {last}, ask for them alone" if end < last else ""
        return Found("replay", f"gold calls {first} to {end} of {len(steps)}, replayed{cut}", shown.text)
    environment = environment_of(task)
    environment.reset(task)
    before = environment.snapshot()
    _carry_out(environment, task, last)
    changed = _changes(task, before, environment.snapshot())
    cut = f"; {changed.where.partition(';')[0]}" if changed.where else ""
    title = f"what gold calls 1 to {last} of {len(steps)} change{cut}"
    return Found("replay", title, changed.text or "Nothing: the state is what it was.")


def try_call(task: AgentTask, name: str, arguments: dict[str, Any], after: int = 0) -> Found:
    """Execute one call of the agent in the state that the first gold calls leave.

    Args:
        task: The task.
        name: Name of one of the agent's tools.
        arguments: Arguments of the call.
        after: How many calls of the ground truth go before it.

    Raises:
        InvalidLookupError: It cannot be tried.
        ExecutionError: The environment broke.
    """
    if task.tool(name) is None:
        raise InvalidLookupError(
            f"the agent has no tool {name!r}; it has {', '.join(t.name for t in task.environment.tools)}"
        )
    if (reason := why_no_trial(task)) is not None:
        raise InvalidLookupError(f"no call can be tried: {reason}")
    known = sum(1 for _ in task.gold_calls())
    if after and task.ground_truth.semantics == "milestones":
        raise InvalidLookupError(f"{MILESTONES}; a call can only be tried after 0 of them")
    if after > known:
        raise InvalidLookupError(f"the ground truth has {known} calls, not {after}")
    environment = environment_of(task)
    environment.reset(task)
    failed = _carry_out(environment, task, after)
    before = environment.snapshot()
    observation = environment.call(ToolCall(name=name, arguments=arguments))
    changed = _changes(task, before, environment.snapshot())
    lines = [f"Response: {clip(observation.text, 4_000)}"]
    if observation.error:
        lines.append(f"It failed: {clip(observation.error, _VALUE)}")
    lines.append(f"It changes the state:\n{clip(changed.text, 1_500)}" if changed.text else "The state stays as it is.")
    if failed:
        lines.append(f"Gold calls before it that failed: {', '.join(map(str, failed))}")
    title = f"{clip(f'{name}({canonical_json(arguments)})', 300)}, tried after {after} gold calls"
    return Found("replay", title, "\n".join(lines))


def _step(number: int, step: Step) -> str:
    call = f"{step.call.name}({canonical_json(step.call.arguments)})"
    outcome = "changes the state" if step.changed else "changes nothing"
    failed = f", failed: {clip(step.observation.error, _VALUE)}" if step.observation.error else ""
    return f"{number}. {clip(call, 600)} [{step.pointer}; {outcome}{failed}]\n-> {clip(step.observation.text, 1_000)}"


def _carry_out(environment: Environment, task: AgentTask, calls: int) -> list[int]:
    """Execute the first gold calls; return the numbers of those that failed."""
    gold = [call for turn in gold_turns(task) for call in turn]
    observed = [environment.call(call) for call in gold[:calls]]
    return [number for number, observation in enumerate(observed, 1) if observation.error]


def _changes(task: AgentTask, before: Any, after: Any) -> Page:
    found = differences(before, after, task.environment.state)
    return page(len(found), lambda number: _difference(found[number]))


def _difference(found: Difference) -> str:
    before, after = (clip(canonical_json(value), _VALUE) for value in (found.before, found.after))
    return f"{found.pointer}: {before} -> {after}"


def validate_call(task: AgentTask, name: str, arguments: dict[str, Any]) -> Found:
    """Check whether the agent could make a call from the documentation of its tools.

    The benchmark's conventions hold as they do for its gold calls; tools that are revealed late count as offered.

    Args:
        task: The task.
        name: Name of the tool.
        arguments: Arguments of the call.
    """
    call = ToolCall(name=name, arguments=arguments)
    gold = task.ground_truth.model_copy(update={"turns": ((call,),)})
    asked = task.model_copy(update={"ground_truth": gold, "hidden_tools": {}})
    title = f"the call {clip(f'{name}({canonical_json(arguments)})', 300)} against the documentation"
    reason = CallSchema().not_applicable(asked)
    if reason is not None:
        return Found("checks", title, f"It cannot be checked: {reason}.")
    lines = []
    for hit in CallSchema().inspect(asked):
        lines.append(hit.claim.replace("The gold calls", "The call names", 1).replace("The gold call", "The call", 1))
        documented = [item for item in hit.evidence if item.pointer.startswith("/environment")]
        lines += [f"  {item.pointer} says: {clip(item.quote, 600)}" for item in documented]
    return Found("checks", title, "\n".join(lines) or "It keeps to the documented names, types and bounds.")
