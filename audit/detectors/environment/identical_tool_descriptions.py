"""Two tools that the documentation does not tell apart."""

import re
from collections.abc import Iterable
from itertools import combinations

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.finding import Level, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolSpec


class IdenticalToolDescriptions(TaskDetector):
    """Two tools offered in one task have the same description and the same parameters, and the gold needs one of them.

    Differences in capitals, spaces and punctuation do not count.

    Flagged: ``get_temperature_from_a`` and ``get_temperature_from_b``, both "Gets the outside temperature.", and a
    ground truth that calls only the first.
    Not flagged: the pair in a task whose ground truth calls neither, or both; tools whose parameters or descriptions
    differ in a word; tools without any description, whose names are all the documentation there is.

    All tasks that need one tool of the same pair are one finding. The rule is wrong where the names say enough and the
    user's text uses their words.
    """

    id = "identical-tool-descriptions"
    title = "two tools share one description"
    version = "2"
    category = "misleading-tool-design"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    level = Level.ENVIRONMENT
    why = "Nothing but the name says which of the two is meant, and the ground truth accepts only one."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if any(task.ground_truth.turns) else "the ground truth names no call"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield each pair of tools that only their names tell apart and of which the gold needs one."""
        called = {call.name: pointer for pointer, call in reversed(list(task.gold_calls()))}
        groups: dict[str, list[tuple[int, ToolSpec]]] = {}
        for index, tool in enumerate(task.environment.tools):
            if tool.description.strip():
                groups.setdefault(_words(tool.description), []).append((index, tool))
        for twins in groups.values():
            for (i, one), (j, other) in combinations(twins, 2):
                if one.name == other.name or (one.name in called) == (other.name in called):
                    continue
                if _words(canonical_json(one.parameters)) != _words(canonical_json(other.parameters)):
                    continue
                needed, twin = (one, other) if one.name in called else (other, one)
                yield Hit(
                    claim=f"{needed.name} and {twin.name} have the same description and the same parameters, and only "
                    f"{needed.name} is in the ground truth",
                    evidence=(
                        quote(task, join("/environment/tools", i, "description"), note=one.name),
                        quote(task, join("/environment/tools", j, "description"), note=other.name),
                        quote(task, join(called[needed.name], "name"), note="the ground truth calls this one"),
                    ),
                    fix="Say in each description what sets the tool apart, or accept either.",
                    cause=f"{min(one.name, other.name)} = {max(one.name, other.name)}",
                )


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
