"""Tasks of a series that build on a step which does not exist yet."""

import re
from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.task_texts import asked, sentence_around
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_NUMBER = re.compile(r"(?:^|/)(?P<word>sub ?task|step|stage|part|phase)[ _-]?(?P<number>\d{1,2})$", re.IGNORECASE)
_BUILDS_ON = (
    r"(?:extend(?:s|ing)?|upgrade|enhance|build(?:ing|s)? (?:up)?on|continue (?:from|with)|reuse|modify|on top of)"
)


class WrongStepReference(TaskDetector):
    """A task of a series is told to extend a step that is not done when it begins.

    Rule: the task's id ends in a number of a step ("subtask3"), and its text has the agent extend, upgrade, enhance,
    reuse or build on the step of that number or of a later one. A task can only build on an earlier step.

    Flagged: "Extend Subtask 3 with tags" in the third task. Not flagged: the same in the fourth; "Implement Subtask 3"
    in the third; "do not extend subtask 5".

    Wrong where a text numbers its steps differently from the benchmark; the reader of the text cannot know which.
    """

    id = "wrong-step-reference"
    title = "a task builds on a step that is not done yet"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    why = "The agent has to guess whether work is missing or the number is wrong."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if _NUMBER.search(task.id) else "the task is not a numbered step"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the first reference to a step that is not done."""
        own = _NUMBER.search(task.id)
        if own is None:
            return
        reference = re.compile(
            rf"(?<!not ){_BUILDS_ON} (?:the )?{own['word']}[ _-]?(?P<number>\d{{1,2}})\b",
            re.IGNORECASE,
        )
        for pointer, text in asked(task):
            for match in reference.finditer(text):
                if int(match["number"]) >= int(own["number"]):
                    yield Hit(
                        claim=f"Step {own['number']} is told to “{match[0]}”, which is not done before it",
                        evidence=(quote(task, pointer, text=sentence_around(text, *match.span()), note="the text"),),
                        fix="Name the step that the task builds on.",
                    )
                    return
