"""Check: a gold value is in another unit than the documentation or the user names."""

from collections.abc import Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import spoken_in
from agenthard.audit.detectors.support.unit_pairs import Discord, discords
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask


class OtherUnit(TaskDetector):
    """x"""

    id = "other-unit"
    title = "A gold value is in another unit than the documentation or the user names"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    experimental = True
    why = "A run that converts what the user says differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls or without a text of the user cannot be checked."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        return None if any(True for _ in task.user_texts()) else "the user says nothing"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value."""
        spoken = spoken_in(task)
        for pointer, call in task.gold_calls():
            tool = task.tool(call.name, call.requestor)
            if tool is None:
                continue
            turn = int(pointer.split("/")[3])
            for found in discords(call, tool, spoken.scope(turn)):
                yield _hit(task, pointer, call.name, found)


def _hit(task: AgentTask, pointer: str, name: str, found: Discord) -> Hit:
    at, shown = found.value.accepted[0]
    return Hit(
        claim=f"The gold call of {name!r} gives {found.value.name!r} as {shown!r}, {found.how}.",
        evidence=(
            quote(task, f"{pointer}/arguments{at}", note="the gold call"),
            quote(task, found.at, text=found.text, note="what the user says"),
        ),
        fix="Convert what the user says, or name its unit in the documentation.",
        cause=shared_cause(task, name, found.value.member, str(shown), found.text),
    )
