"""What the agent of a run changed or answered, in a form in which runs and the ground truth can be compared."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.recorded_runs import answered, parsed
from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.context import current_execution
from agenthard.taxonomy.task import AgentTask, ToolCall
from agenthard.taxonomy.trajectory import Trajectory

LONGEST_ANSWER = 200
"""Final answers longer than this, in characters, are prose: no two models write the same."""


class RunEffect(NamedTuple):
    """What a run did."""

    lines: tuple[str, ...]
    """Its calls in canonical form, sorted; for tasks with answers the final reply alone."""
    places: Mapping[str, str]
    """JSON Pointer, in the run, of the first call of each line; none for replies."""

    @property
    def text(self) -> str:
        """The lines as one text; empty when nothing could be changed."""
        return "\n".join(self.lines)


def effect_of_run(task: AgentTask, run: Trajectory) -> RunEffect | None:
    """Write down what the agent of a run did; None when the run cannot be compared.

    Calls that were refused, and those of tools documented as reads, are left out. Their order does not count, nor does
    the order within a list of values where a call gives one list only. What is found is kept as long as the task.
    """
    kept = current_execution().remember("effects of runs", task, dict[str, RunEffect | None])
    if run.id not in kept:
        kept[run.id] = _calls_of_run(task, run) if _has_calls(task) else _reply_of_run(task, run)
    return kept[run.id]


def effect_of_gold(task: AgentTask) -> tuple[str, ...] | None:
    """Write down the calls of the ground truth in the same form; None for answers, of which any one suffices."""
    if not _has_calls(task):
        return None
    reads = _reads(task)
    return tuple(
        sorted(
            canonical_call(call)
            for _, call in task.gold_calls()
            if call.requestor == "assistant" and call.name not in reads
        )
    )


def canonical_call(call: ToolCall) -> str:
    """Write a call as its name and its arguments as JSON: 2.0 is 2, and the order within an only list does not count.

    >>> canonical_call(ToolCall(name="sell", arguments={"to": "ada", "ids": ["b", "a"], "price": 2.0}))
    'sell {"ids": ["a", "b"], "price": 2, "to": "ada"}'
    """
    arguments = call.arguments
    lists = [name for name, value in arguments.items() if isinstance(value, list)]
    if len(lists) == 1:
        arguments = {**arguments, lists[0]: sorted(arguments[lists[0]], key=canonical_json)}
    return f"{call.name} {canonical_json(_whole(arguments))}"


def is_refused(text: str) -> bool:
    """Tell whether a response says that a call was not carried out."""
    if text.startswith("Error"):
        return True
    response = parsed(text) if text.startswith("{") and '"error"' in text else None
    return isinstance(response, dict) and "error" in response


def _calls_of_run(task: AgentTask, run: Trajectory) -> RunEffect:
    reads, lines, places = _reads(task), list[str](), dict[str, str]()
    for now in answered(run.messages):
        if now.call.requestor == "assistant" and now.call.name not in reads and not is_refused(now.text):
            line = canonical_call(now.call)
            lines.append(line)
            places.setdefault(line, now.place)
    return RunEffect(tuple(sorted(lines)), places)


def _reply_of_run(task: AgentTask, run: Trajectory) -> RunEffect | None:
    last = next((m.content for m in reversed(run.messages) if m.role == "assistant" and m.content), "")
    answer = " ".join(last.casefold().split())
    known = task.ground_truth.answers and 0 < len(answer) <= LONGEST_ANSWER
    return RunEffect((answer,), {}) if known else None


def _reads(task: AgentTask) -> frozenset[str]:
    return frozenset(tool.name for tool in task.environment.tools if tool.effect == "read")


def _has_calls(task: AgentTask) -> bool:
    return not task.ground_truth.answers and task.ground_truth.semantics in ("required", "reference_path")


def _whole(value: Any) -> Any:
    """Write floats without a fraction as integers, at any depth."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in value.items()}
    return list(map(_whole, value)) if isinstance(value, Iterable) and not isinstance(value, str) else value
