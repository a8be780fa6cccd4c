"""Tasks that send the agent to a rubric which it does not get, or hand it a rubric that tells the answer."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.task_texts import asked, graded, sentence_around, shown_criteria
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_REFERENCE = re.compile(
    r"\b(?:rubric[- ](?:criteria|defined|required|comparator)|(?:described|defined|stated|required|listed) (?:in|by) "
    r"the rubric|(?:per|matches|meets|in|of) the rubric(?:'s)?(?: criteria)?)\b",
    re.IGNORECASE,
)
MAYBE = "rubric_maybe_in_prompt"
"""Trait of tasks whose rubric is a field of its own, and no file says whether the agent gets it."""
_TOLD = re.compile(
    r"\b(?:correctly|accurately) (?:identifies|concludes|names)\s+(?P<named>[A-Z][\w.&'-]*(?: [A-Z][\w.&'-]*){0,3})"
    r"|\b(?P<before>[A-Z][\w.&'-]*(?: [A-Z][\w.&'-]*){1,3}) ground truth\b"
)


class UnseenRubric(TaskDetector):
    """The text cannot be followed without the rubric, or the agent is shown a rubric that names the answer.

    Rules:

    1. what is asked points at the rubric ("the company that matches the rubric criteria"), and the rubric is in
       none of the texts that the agent gets, or nothing says that it gets it;
    2. the rubric is in a text that the agent gets and names the answer ("correctly identifies Acme Corp."), which
       the rest of the text does not. This is answer leakage.

    A rubric that the agent sees is a convention of some benchmarks and no flaw as long as it tells how the work is
    graded and not what the answer is.

    Flagged: "Identify the company described by the rubric", without the rubric.
    Not flagged: the same text, followed by the criteria that describe the company.

    Wrong where the benchmark's own runner adds the rubric to the prompt; then the second rule holds instead, because
    such a rubric tells the answer. Suspected, because no run can be scored by a rubric to show it.
    """

    id = "unseen-rubric"
    title = "the text needs a rubric that the agent may not get"
    version = "3"
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "Which answer is wanted cannot be known, or need not be found."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if any(True for _ in graded(task)) else "no written criteria"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield references to an unseen rubric, or answers in a rubric that is seen."""
        shown = list(shown_criteria(task))
        if not shown:
            yield from _references(task)
        for pointer, text in shown:
            said = " ".join(words for _, words in asked(task))
            for match in _TOLD.finditer(text):
                answer = match["named"] or match["before"]
                if answer not in said:
                    yield Hit(
                        claim=f"The rubric names the answer, {answer}, and the agent reads it",
                        evidence=(quote(task, pointer, text=sentence_around(text, *match.span()), note="shown"),),
                        fix="Leave the answer out of the text that the agent gets.",
                        category="answer-leakage",
                    )
                    return


def _references(task: AgentTask) -> Iterator[Hit]:
    found = [(pointer, text, match) for pointer, text in asked(task) for match in _REFERENCE.finditer(text)]
    if not found:
        return
    pointer, text, match = found[0]
    at, criteria = next(iter(graded(task)))
    unknown = MAYBE in task.traits
    what = "which no file says that the agent gets" if unknown else "which the agent does not get"
    note = "what it may not read" if unknown else "what it does not read"
    yield Hit(
        claim=f"The text points at the rubric (“{match[0]}”), {what}",
        evidence=(
            quote(task, pointer, text=sentence_around(text, *match.span()), note="what the agent reads"),
            quote(task, at, text=criteria, note=note),
        ),
        fix="State in the text what identifies the right answer.",
    )
