"""Reference paths that are compared call by call."""

from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Level, Severity, Tier
from agenthard.taxonomy.task import AgentTask


class PathCompared(TaskDetector):
    """Calls of which the benchmark says that they are one way among several are not demanded one by one.

    Rule: the ground truth is a reference path (its ``semantics``), a scored check compares calls, they are compared
    exactly or in any order, and the path has a look-up or several changes, so that there is another way to go.

    Flagged: a reference path that looks an order up before it cancels it, with ``call_matching`` "exact": a run that
    finds the order by its customer fails. Not flagged: calls that are required; a reference path that is scored by the
    state it leaves; a single change, to which there may be no other way.

    Wrong where the environment leaves only this one way.
    """

    id = "path-compared"
    title = "one way of several is compared call by call"
    version = "1"
    experimental = True
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    level = Level.EVALUATOR
    why = "A run that takes another way to the same result fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if task.ground_truth.semantics == "reference_path" else "the ground truth is not a reference path"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the check that compares the calls of the path."""
        calls = [call for _, call in task.gold_calls() if call.requestor == "assistant"]
        tools = [task.tool(call.name) for call in calls]
        looks = any(tool is not None and tool.effect == "read" for tool in tools)
        if task.ground_truth.call_matching not in ("exact", "any_order") or not (looks or len(calls) > 1):
            return
        for i, check in enumerate(task.evaluation.checks):
            if check.scored and check.kind == "tool_calls":
                yield Hit(
                    claim="The calls of a path that is called one of several are compared one by one",
                    evidence=(
                        quote(task, "/ground_truth/semantics", note="one way to the right state"),
                        quote(task, "/ground_truth/call_matching", note="how calls are compared"),
                        quote(task, f"/evaluation/checks/{i}/kind", note="the scored check"),
                    ),
                    fix="Compare the state that the calls leave, or say that the calls are required.",
                )
                return
