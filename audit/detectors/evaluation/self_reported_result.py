"""Grades computed from figures that the agent's own program, or the agent itself, writes down."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.task_texts import asked, graded, sentence_around
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_REPORT = re.compile(
    r"\b(?:write|writes|output|outputs|generate|generates|emit|emits|produce|produces|print|prints|record|records)\b"
    r"[^.\n]{0,80}\b(?:report|json|metrics)\b",
    re.IGNORECASE,
)
_KEY = re.compile(r"`(?P<key>[a-z][a-z0-9]*(?:_[a-z0-9]+)+)`")
_FORMULA = re.compile(
    r"`(?P<formula>[^`\n]*(?:clamp|min|max|round)\([^`\n]*)`|`(?P<flag>[a-z]\w*)` (?:is|indicates) \w+"
)
_OWN_OUTPUT = re.compile(
    r"\b(?:as reported by|reported by|emitted by|derived from|printed by|output of|from)\s+(?:the )?"
    r"`(?P<switch>--[\w-]+)`(?: output)?",
    re.IGNORECASE,
)
_NOTED = re.compile(
    r"\brecord the results? in (?:\w+ ){0,3}?(?P<file>`?[\w./-]+\.json`?)[^.\n]{0,80}\bkeys?:?\s*"
    r"(?:[\w`]+, )*(?P<key>`?(?:loss|score|accuracy|mse|error)`?)\b",
    re.IGNORECASE,
)


class SelfReportedResult(TaskDetector):
    """The score is computed from figures that the agent's own work reports about itself.

    Rules:

    1. the text has the agent's program write a report with named figures, and a formula of the rubric takes at least
       one of these names;
    2. a criterion is measured by what a switch of the agent's own program prints (``as reported by --run-tests``);
    3. the task's only stated result is a figure (loss, score, accuracy) that the agent notes in a JSON file; the
       text does not say whether the figure is measured again.

    A rubric is scored by a script or a judge that is not available, so no run can be scored to show it: suspected.

    Flagged: "The report must contain `tasks_done`, `total_tasks`", graded by ``clamp(tasks_done / total_tasks, 0, 1)``.
    Not flagged: the loss that a given ``evaluate.py`` prints; the keys of a report whose presence alone is graded.

    Wrong where the evaluator measures the same figure itself and uses the report's name for it.
    """

    id = "self-reported-result"
    title = "the agent's own report decides its score"
    version = "2"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "A program that prints the best figures scores full marks without doing the work."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if task.user.kind == "scripted" else "the work of a simulated user's agent is its calls"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield what the agent reports about itself."""
        yield from _report_keys(task)
        yield from _own_switches(task)
        yield from _noted_figures(task)


def _report_keys(task: AgentTask) -> Iterator[Hit]:
    for at, said in asked(task):
        report = _REPORT.search(said)
        keys = {match["key"] for match in _KEY.finditer(said)} if report else set()
        if not report or len(keys) < 2:
            continue
        found = []
        for pointer, text in graded(task):
            for match in _FORMULA.finditer(text):
                used = keys & set(re.findall(r"\w+", match["formula"] or match["flag"]))
                found += [(pointer, match[0], used)] if used else []
        if found:
            names = sorted(set().union(*(used for *_, used in found)))
            yield Hit(
                claim=f"The score is computed from {', '.join(names)}, which the agent's own program reports",
                evidence=(
                    quote(task, at, text=sentence_around(said, *report.span()), note="the report asked for"),
                    *(quote(task, pointer, text=formula, note="how it scores") for pointer, formula, _ in found),
                ),
                fix="Measure the figures outside the agent's program.",
            )


def _own_switches(task: AgentTask) -> Iterator[Hit]:
    texts = list(asked(task))
    found = [
        (pointer, match)
        for pointer, text in graded(task)
        for match in _OWN_OUTPUT.finditer(text)
        if any(f"`{match['switch']}`" in said for _, said in texts)
    ]
    if found:
        switches = ", ".join(dict.fromkeys(match["switch"] for _, match in found))
        yield Hit(
            claim=f"Criteria are measured by what the agent's own program prints for {switches}",
            evidence=tuple(
                quote(task, pointer, text=sentence_around(match.string, *match.span()), note="how it is measured")
                for pointer, match in found
            ),
            fix="Run tests that are not the agent's.",
        )


def _noted_figures(task: AgentTask) -> Iterator[Hit]:
    if any(check.kind == "tool_calls" for check in task.evaluation.checks):
        return
    for pointer, text in asked(task):
        for match in _NOTED.finditer(text):
            yield Hit(
                claim=f"The agent itself notes its {match['key'].strip('`')} in {match['file'].strip('`')}",
                evidence=(quote(task, pointer, text=match[0], note="what the agent writes"),),
                fix="Compute the figure from the work.",
            )
