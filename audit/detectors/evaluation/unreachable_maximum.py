"""Rubrics whose full score no run can reach."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.task_texts import Passage, asked, graded, sentence_around
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask

_NUMBER = r"(?<![\d.])\d{1,9}(?:\.\d{1,9})?"
_ONLY_AT_ZERO = re.compile(
    rf"\(\s*(?P<budget>{_NUMBER})\s*-\s*(?P<spent>[A-Za-z_]\w*)\s*\)\s*/\s*(?P<scale>{_NUMBER})\s*,\s*0(?:\.0)?\s*,"
    r"\s*1(?:\.0)?\s*\)"
)
_DURATION = re.compile(r"latenc|duration|elapsed|runtime|response time|\b\d+ ?ms\b", re.IGNORECASE)
_WEIGHT = re.compile(
    rf"^(?:[-*•] )?(?=\S)[^\n(]{{0,80}}\((?:weight:? )?(?P<share>0?\.\d+|{_NUMBER}(?P<percent> ?%))\)",
    re.IGNORECASE | re.M,
)
_TERM = re.compile(r"(?<![\d.])(?P<share>0?\.\d+)\s*\*\s*[A-Za-z_]\w*")
_SUM = re.compile(rf"{_NUMBER}\s*\*\s*\((?P<terms>(?:\s*0?\.\d+\s*\*\s*[A-Za-z_]\w*\s*\+?)+)\)")
_PAGE = re.compile(r"`index\.html`|`window\.\w+")
_PROGRAM = re.compile(r"\b(?:node|express|flask|fastapi|django|server\.(?:js|py)|backend server|php)\b", re.IGNORECASE)
_LOG = r"`[\w-]+\.(?:log|txt|csv)`"
_GROWS = re.compile(
    rf"{_LOG} (?:must |should )?(?:appends?|records?|gains?|(?:must )?have|logs) (?:entries|one|a|each|at least)\b"
    rf"|\b(?:append|record|add|write|persist)s?\b[^.\n]{{0,60}}\b(?:inside|to|into|in) {_LOG}"
    rf"|\bon-disk {_LOG}",
    re.IGNORECASE,
)
_TOLERANCE = 0.005


class UnreachableMaximum(TaskDetector):
    """The rubric's own arithmetic, or what it demands of the environment, keeps every run below full score.

    Rules:

    1. a criterion earns ``clamp((budget - x) / budget, 0, 1)`` where x is a duration: it earns everything only when
       the work takes no time, and a run that just meets the budget earns nothing;
    2. the weights of the criteria add up to less, or to more, than the whole;
    3. a task that delivers a static page (``index.html`` and no program that serves it) is graded on a file that
       grows while the page is used. A page in a browser cannot write to the files that it came from, though a lenient
       judge may read the file as part of the page.

    The first is arithmetic and confirmed (it may affect the score); the others are suspected, because no run can be
    scored by a rubric to show them.

    Flagged: "Latency (0.15): clamp((0.5 - latency) / 0.5, 0, 1)"; weights 0.4, 0.3 and 0.2; "`session.log` must append
    one line per move" for a page without a server.
    Not flagged: ``clamp(1 - stddev / 1.5, 0, 1)``, because a spread can be 0; a log that a method of the page returns.

    The first rule is wrong where scores are rounded so coarsely that a short time counts as none; the claim names the
    scale. The third is wrong where the page is really served by a program that the task does not mention.
    """

    id = "unreachable-maximum"
    title = "full score is out of reach by the rubric itself"
    version = "3"
    category = "unreachable-score"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "No run can earn all points, so scores say less about the agent than about the rubric."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if any(True for _ in graded(task)) else "no written criteria"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield what keeps full score out of reach."""
        criteria = list(graded(task))
        for passage in criteria:
            yield from _zero_durations(task, passage)
        yield from _weights(task, criteria)
        yield from _page_writes(task, criteria)


def _zero_durations(task: AgentTask, passage: Passage) -> Iterator[Hit]:
    pointer, text = passage
    for match in _ONLY_AT_ZERO.finditer(text):
        line = sentence_around(text, *match.span())
        if float(match["budget"]) == float(match["scale"]) and _DURATION.search(line):
            yield Hit(
                claim=f"The criterion earns all its points only when {match['spent']} is 0, and none at the budget of "
                f"{match['budget']}",
                evidence=(quote(task, pointer, text=line, note="how the criterion is scored"),),
                fix="Give all points at or below the budget.",
                severity=Severity.MAY_AFFECT_SCORE,
                tier=Tier.CONFIRMED,
            )


def _weights(task: AgentTask, criteria: list[Passage]) -> Iterator[Hit]:
    weighed = [(pointer, match) for pointer, text in criteria for match in _WEIGHT.finditer(text)]
    shares = [float(m["share"].rstrip(" %")) / (100 if m["percent"] else 1) for _, m in weighed]
    if len(shares) > 1 and abs(sum(shares) - 1) > _TOLERANCE:
        quotes = tuple(quote(task, pointer, text=match[0], note="a weight") for pointer, match in weighed)
        yield _unbalanced(f"The weights of the {len(shares)} criteria", sum(shares), quotes)
    for pointer, text in criteria:
        for formula in _SUM.finditer(text):
            total = sum(float(term["share"]) for term in _TERM.finditer(formula["terms"]))
            if abs(total - 1) > _TOLERANCE:
                whole = quote(task, pointer, text=formula[0], note="the score formula")
                yield _unbalanced("The factors of the score formula", total, (whole,))


def _unbalanced(what: str, total: float, quotes: tuple[Evidence, ...]) -> Hit:
    return Hit(claim=f"{what} add up to {total:g} instead of 1", evidence=quotes, fix="Correct the weights.")


def _page_writes(task: AgentTask, criteria: list[Passage]) -> Iterator[Hit]:
    texts = [text for _, text in asked(task)]
    if not any(_PAGE.search(text) for text in texts):
        return
    if any(_PROGRAM.search(text) for text in texts):
        return
    for pointer, text in criteria:
        match = _GROWS.search(text)
        if match:
            yield Hit(
                claim="A file has to grow while the page is used, and a page in a browser cannot write to it",
                evidence=(quote(task, pointer, text=sentence_around(text, *match.span()), note="what is graded"),),
                fix="Grade what a method of the page returns, or what it keeps in the browser's storage.",
                severity=Severity.MAY_AFFECT_SCORE,
            )
            return
