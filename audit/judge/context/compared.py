"""What the evaluator of a task never compares: said in the prompt, so that no judge takes it for a reason to fail."""

from collections.abc import Iterator

from agenthard.audit.judge.templates import data
from agenthard.taxonomy.task import AgentTask

_SPOKEN = ("rubric", "judge")
"""Kinds of checks that look at what the agent says or leaves behind as a whole."""


def never_compared(task: AgentTask) -> str:
    """Say in one sentence what no scored check of a task looks at; empty where all of it may be looked at."""
    words = data("wording.yaml")["never"]
    parts = [words[name] for name in _names(task)]
    return f"{words['opening']} {'; '.join(parts)}. {words['closing']}" if parts else ""


def _names(task: AgentTask) -> Iterator[str]:
    scored = {check.kind for check in task.evaluation.checks if check.scored}
    if not scored or scored & {*_SPOKEN} or "expects_no_call" in task.traits:
        return  # Nothing is known of what such an evaluator looks at, or there is nothing to compare.
    matching = task.ground_truth.call_matching
    if "output_substring" in scored:
        yield "other_words"
    else:
        yield "words"
    if "final_state" in scored and "tool_calls" not in scored:
        yield "path"
    elif matching == "any_order" and "tool_calls" in scored:
        yield "order"
    if "tool_calls" in scored and matching in ("exact", "any_order") and "final_state" not in scored:
        yield "responses"
    if "state_assertion" in scored and "final_state" not in scored:
        yield "other_state"
    if any(not check.scored for check in task.evaluation.checks):
        yield "unscored"
