"""What a task asks for and what its rubric grades, told apart.

Benchmarks with open tasks write the criteria either beside the task or into the text that the agent sees, under a
heading of their own.
"""

import re
from collections.abc import Iterator

from agenthard.taxonomy.task import AgentTask

Passage = tuple[str, str]
"""JSON Pointer of a text, and the part of it that is meant."""

_HEADING = re.compile(
    r"^[ \t]*(?:#+[ \t]*|\*\*)?(?:Rubrics?|Acceptance criteria|Grading(?: criteria)?|Evaluation criteria)"
    r"[ \t]*(?:\([^()\n]*\))?:?(?:\*\*)?:?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


def asked(task: AgentTask) -> Iterator[Passage]:
    """Yield what the user asks, without the criteria that may follow it in the same text."""
    for pointer, text in task.user_texts():
        heading = _HEADING.search(text)
        before = text[: heading.start()] if heading else text
        if before.strip():
            yield pointer, before


def graded(task: AgentTask) -> Iterator[Passage]:
    """Yield the criteria that say more than what is asked.

    These are the texts of rubrics and judges, except those that only repeat the user's words; where no check states
    any, the criteria in the user's text.
    """
    said = [text for _, text in asked(task)]
    stated = [
        (f"/evaluation/checks/{i}/expected", check.expected)
        for i, check in enumerate(task.evaluation.checks)
        if check.kind in ("rubric", "judge") and isinstance(check.expected, str) and check.expected.strip()
    ]
    own = [passage for passage in stated if not any(passage[1] in text for text in said)]
    yield from own if stated else shown_criteria(task)


def shown_criteria(task: AgentTask) -> Iterator[Passage]:
    """Yield the criteria that stand in the user's text, where the agent reads them."""
    for pointer, text in task.user_texts():
        heading = _HEADING.search(text)
        if heading and text[heading.end() :].strip():
            yield pointer, text[heading.end() :]


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the line around a span for a quote, with at most 150 characters and whole words on either side."""
    newline = text.find("\n", end)
    first, last = text.rfind("\n", 0, start) + 1, len(text) if newline < 0 else newline
    if start - first > 150:
        first = text.find(" ", start - 150, start) + 1 or start
    if last - end > 150:
        last = max(end, text.rfind(" ", end, end + 150))
    return text[first:last].strip()
