"""How both benchmarks score an attempt: by its final state, by what was said and, for some tasks, by its calls."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agenthard.audit.execution.environment import Attempt, UnavailableError, Verdict
from agenthard.audit.execution.tau.state import Records, same
from agenthard.audit.execution.tau.tools import Tools
from agenthard.taxonomy.task import AgentTask, Check, Message, ToolCall


@dataclass(frozen=True)
class StateReplay:
    """What a sequence of calls leaves, from the initial state."""

    calls: tuple[ToolCall, ...]
    """The calls."""
    states: tuple[Records, ...]
    """The changed records before each call, and after the last one."""
    changes: Records
    """Records that differ from the database in the end."""
    failures: tuple[str, ...]
    """Errors, call by call; the benchmarks ignore them silently."""


def replay(tools: Tools, calls: Sequence[ToolCall]) -> StateReplay:
    """Carry out calls from the initial state; a call that fails is skipped, as in both benchmarks."""
    tools.state.reset()
    failures, states = [], [tools.state.held()]
    for number, call in enumerate(calls):
        observation = tools.invoke(call.name, call.arguments)
        if observation.error is not None:
            failures.append(f"call {number} ({call.name}): {observation.error}")
        states.append(tools.state.held())
    return StateReplay(tuple(calls), tuple(states), tools.state.changes(), tuple(failures))


def changes_after(tools: Tools, calls: Sequence[ToolCall], gold: StateReplay) -> Records:
    """Return the records that calls leave changed; those with which the ground truth begins too are not repeated."""
    shared = 0
    for one, other in zip(calls, gold.calls, strict=False):
        if one is not other and not (one.name == other.name and same(one.arguments, other.arguments)):
            break
        shared += 1
    if shared == len(calls) == len(gold.calls):
        return gold.changes
    tools.state.hold(gold.states[shared])
    for call in calls[shared:]:
        tools.invoke(call.name, call.arguments)
    return tools.state.changes()


def judge(task: AgentTask, attempt: Attempt, tools: Tools, gold: StateReplay) -> Verdict:
    """Judge an attempt by the scored checks of its task.

    Args:
        task: the task with its checks and its ground truth.
        attempt: what the agent did and said.
        tools: tools over a state of their own, which is left changed.
        gold: what the ground truth does with these tools.

    Raises:
        UnavailableError: when the task is scored by assertions in code that is not part of its files.
    """
    scored = [check for check in task.evaluation.checks if check.scored]
    if any(check.kind == "state_assertion" for check in scored):
        raise UnavailableError(f"{task.id} is scored by assertions that only the benchmark's own code can evaluate")
    calls = [call for turn in attempt.turns for call in turn]
    parts: dict[str, bool] = {}
    reason = ""
    if any(check.kind == "final_state" for check in scored):
        parts["database"] = same(changes_after(tools, calls, gold), gold.changes)
        reason = "; ".join(f"the ground truth fails at {failure}" for failure in gold.failures)
    parts["outputs"] = contains_required_texts(
        attempt.replies, [check for check in scored if check.kind == "output_substring"]
    )
    required = [check for check in scored if check.kind == "tool_calls"]
    if required:
        gold_calls = dict(task.gold_calls())
        parts["actions"] = all(has_required_call(gold_calls[check.pointer], check, calls) for check in required)
    return Verdict(passed=all(parts.values()), parts=parts, reason=reason)


def contains_required_texts(replies: Sequence[str], checks: Sequence[Check]) -> bool:
    """Tell whether each required text is in some reply, in lower case and without commas; part of a number counts."""
    said = [reply.lower().replace(",", "") for reply in replies]
    return all(any(str(check.expected).lower() in reply for reply in said) for check in checks)


def has_required_call(gold: ToolCall, check: Check, calls: Sequence[ToolCall]) -> bool:
    """Tell whether a call matches the gold call's name and the compared arguments (by default all its own)."""
    compared = (check.expected or {}).get("compare_args")
    return any(
        call.name == gold.name
        and all(
            same(call.arguments.get(key), gold.arguments.get(key))
            for key in (call.arguments if compared is None else compared)
        )
        for call in calls
    )


def answered_calls(messages: Iterable[Message]) -> Iterator[tuple[ToolCall, str]]:
    """Yield the calls of a conversation with their responses; a call without a response was never carried out."""
    waiting: list[ToolCall] = []
    for message in messages:
        if message.role == "tool" and waiting:
            named = (i for i, call in enumerate(waiting) if call.id == message.tool_call_id)
            yield waiting.pop(next(named, 0)), message.content
        elif message.role != "tool":
            waiting = list(message.tool_calls)


def attempt_of(messages: Sequence[Message], *, beside_calls: bool) -> Attempt:
    """Return what the agent of a conversation did and said.

    Args:
        messages: the conversation.
        beside_calls: whether text that accompanies a tool call counts as said.
    """
    spoken = (message for message in messages if message.role == "assistant" and message.content)
    replies = tuple(message.content for message in spoken if beside_calls or not message.tool_calls)
    return Attempt(turns=(tuple(call for call, _ in answered_calls(messages)),), replies=replies)


def is_complete(messages: Sequence[Message], stop: str, transfer: str) -> bool:
    """Tell whether a conversation ended with the text ``stop`` of the user or a call of the tool ``transfer``."""
    last = messages[-1] if messages else None
    if last is None:
        return False
    return (last.role == "user" and stop in last.content) or (last.role == "tool" and last.tool_name == transfer)
