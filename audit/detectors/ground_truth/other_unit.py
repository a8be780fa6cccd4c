"""Check: a gold value is in another unit than the documentation or the user names."""

from collections.abc import Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.said_and_called import why_not_compared
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import spoken_in
from agenthard.audit.detectors.support.unit_arguments import Discord, names_units
from agenthard.audit.detectors.support.unit_pairs import discords
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask


class OtherUnit(TaskDetector):
    """A value is in the unit that its documentation names, converted from the unit in which the user says it.

    Looked at are numbers with a unit in the user's words for a turn (times, lengths, masses, volumes, temperatures,
    speeds, areas, amounts of data; in English and Chinese), and:

    * **numbers** whose parameter counts in one unit of that dimension, by its description or its name ("in minutes",
      "distance_km"): flagged is what the user says in another unit and the call repeats unconverted, and what is the
      only measure left for a parameter but was converted into the wrong unit;
    * **texts** that are a measure ("5km"): the same number in another unit ("5 miles"); or only another unit accepted
      than the user's, though neither the user nor the documentation names it ("14 days" for "2 weeks");
    * **unit arguments**, given or left to their default: none of the accepted units is one that the user asks for
      ("in miles") or, where the user asks for none, says;
    * **parameters** whose name and description count in two units of one dimension.

    Flagged: ``cooking_time=30``, documented in hours, for "30 minutes". Not flagged: 0.5; a number that the user says
    without a unit or with one of another dimension too; a sum or a difference of two measures (5 feet 10 inches); a
    dimension that a unit argument of the call sets; months and years of any usual length; rounding.

    Wrong where a unit means something else in the tool's trade.
    """

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
        return why_not_compared(task)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value."""
        if not names_units(text for _, text in task.user_texts()):
            return
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
