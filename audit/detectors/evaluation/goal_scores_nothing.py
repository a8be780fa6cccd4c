"""Goals that a run can meet as stated and still score nothing."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.task_texts import Passage, asked, graded, sentence_around
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_NUMBER = r"(?P<{}>\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
_BELOW = r"(?:<=?|≤|below|under|less than|at most)"
_ABOVE = r"(?:>=?|≥|above|over|more than|at least)"
_METRIC = (
    r"(?P<metric>loss|mse|rmse|mae|error|latency|runtime|accuracy|precision|recall|f1|coverage|auc|score|pass rate)"
)
_GOAL = re.compile(
    rf"\b{_METRIC}\s*(?:(?P<below>{_BELOW})\s*{_NUMBER.format('low')}|(?P<above>{_ABOVE})\s*{_NUMBER.format('high')})",
    re.IGNORECASE,
)
_ZERO = re.compile(
    rf"\bscore\s*(?:=|of|is|:)?\s*0\s*(?:if|when|for)\s*(?:the )?{_METRIC}\s*"
    rf"(?:(?P<above>{_ABOVE})\s*{_NUMBER.format('low')}|(?P<below>{_BELOW})\s*{_NUMBER.format('high')})",
    re.IGNORECASE,
)
_SAME = {"mse": "loss", "rmse": "loss", "mae": "loss", "error": "loss"}


class GoalScoresNothing(TaskDetector):
    """The task states a goal for a figure, and the rubric gives no points to runs that only just meet it.

    Rule: the text asks for a figure below (or above) a bound, the rubric gives 0 from (or up to) another bound of the
    same figure, and values between the two meet the goal and score 0. Losses and mean errors count as one figure.
    The widest goal of the text is taken. Where a criterion is a share of a budget, see ``unreachable-maximum``.

    Suspected, because no run can be scored by a rubric to show it.

    Flagged: "reach MSE < 5e-2", graded by "Score = 0 if loss >= 2e-3".
    Not flagged: "reach MSE < 1e-3", graded by "Score = 0 if loss >= 2e-3".

    Wrong where the two sentences are about different losses, such as one for training and one held out.
    """

    id = "goal-scores-nothing"
    title = "a run meets the stated goal and scores 0"
    version = "2"
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "An agent that stops where the task says it is done gets nothing."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if any(True for _ in graded(task)) else "no written criteria"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the bounds that contradict each other."""
        goals = list(_bounds(_GOAL, asked(task)))
        for (pointer, text), zero, metric, low, bound in _bounds(_ZERO, graded(task)):
            rivals = [goal for goal in goals if goal[2] == metric and goal[3] == low]
            looser = [goal for goal in rivals if (goal[4] > bound if low else goal[4] < bound)]
            if not looser:
                continue
            (at, said), goal, *_ = max(looser, key=lambda item: abs(item[4] - bound))
            yield Hit(
                claim=f"The goal is “{goal[0]}”, and the rubric says “{zero[0]}”",
                evidence=(
                    quote(task, at, text=sentence_around(said, *goal.span()), note="the goal"),
                    quote(task, pointer, text=sentence_around(text, *zero.span()), note="the rubric"),
                ),
                fix="Give points from the stated goal on, or state the goal that scores.",
            )


def _bounds(
    pattern: re.Pattern[str], passages: Iterable[Passage]
) -> Iterator[tuple[Passage, re.Match[str], str, bool, float]]:
    """Yield each bound with its passage, its figure, whether low values are wanted, and its value."""
    for passage in passages:
        for match in pattern.finditer(passage[1]):
            metric = match["metric"].lower()
            low = match["low"] is not None
            yield passage, match, _SAME.get(metric, metric), low, float(match["low"] if low else match["high"])
