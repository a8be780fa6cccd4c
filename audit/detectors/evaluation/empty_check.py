"""Scored checks, and turns of the user, that have nothing to compare."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import Attempt
from agenthard.audit.proof import wrongly_passes
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask, Check

_REQUEST = re.compile(
    r"\?|\b(?:please|kindly|can you|could you|would you|i(?:'d| would) like|i(?:'m| am) looking|i (?:need|want|have to)"
    r"|let(?:'s| us)|help me|for me|make sure|go ahead)\b",
    re.IGNORECASE,
)


class EmptyCheck(TaskDetector):
    """A scored check compares with nothing, or a request of the user is followed by an empty ground truth.

    Rules:

    1. a scored text, rubric or assertion is empty: any reply contains an empty text;
    2. where an empty gold turn means "nothing is checked" (trait ``unchecked_turns``), the user asks for something in
       that turn. Of a task whose user withholds something once (trait ``clarification_turns``), the first empty turn is
       the one in which the agent has to ask back; it is empty by design and no flaw.

    The first is confirmed where the evaluator passes a run that does nothing; where other checks fail it, or nothing at
    hand can evaluate it, it is suspected.

    Flagged: the user's last turn is "Could you also send me the invoice?", and the ground truth of that turn is [].
    Not flagged: a user's turn that asks for nothing ("That is all."), a turn that only reveals a tool, and tasks whose
    list of required texts is empty, which is normal where the final state decides.

    The rule is wrong where a request is rhetorical, or where the agent can only answer that it cannot be done; then too
    nothing tells an agent that says so from one that ignores the user.
    """

    id = "empty-check"
    title = "a scored check has nothing to compare"
    version = "2"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    why = "Whatever the agent does there, it passes."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        scored = any(check.scored for check in task.evaluation.checks)
        return None if scored or "unchecked_turns" in task.traits else "no check is scored"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the empty checks and the unanswered requests of ``task``."""
        for i, check in enumerate(task.evaluation.checks):
            if check.scored and _compares_with_nothing(check):
                kind = check.kind.replace("_", " ")
                yield Hit(
                    claim=f"Scored check {i} ({kind}) expects an empty text, which any run satisfies",
                    evidence=(quote(task, f"/evaluation/checks/{i}", note="expected is empty"),),
                    fix="State what is expected, or remove the check.",
                    proof=wrongly_passes(task, Attempt()),
                )
        if "unchecked_turns" in task.traits:
            for turn in _unanswered(task):
                yield Hit(
                    claim=f"The user asks for something in turn {turn + 1}, and nothing is checked there",
                    evidence=(
                        *_requests(task, turn),
                        quote(task, f"/ground_truth/turns/{turn}", note="the ground truth of this turn"),
                    ),
                    fix="Add the calls that the request needs, or remove the turn.",
                    category="unscored-requirement",
                    severity=Severity.MAY_AFFECT_SCORE,
                )


def _compares_with_nothing(check: Check) -> bool:
    if check.kind == "output_substring" and isinstance(check.expected, list):
        return any(isinstance(text, str) and not text.strip() for text in check.expected)
    if check.kind not in ("output_substring", "rubric", "judge", "state_assertion"):
        return False
    return check.expected in (None, {}) or (isinstance(check.expected, str) and not check.expected.strip())


def _unanswered(task: AgentTask) -> Iterator[int]:
    empty = [i for i, turn in enumerate(task.ground_truth.turns) if not turn and i < len(task.user.turns)]
    if "clarification_turns" in task.traits:
        empty = empty[1:]
    for turn in empty:
        if any(message.role == "user" and _REQUEST.search(message.content) for message in task.user.turns[turn]):
            yield turn


def _requests(task: AgentTask, turn: int) -> Iterator[Evidence]:
    for j, message in enumerate(task.user.turns[turn]):
        if message.role == "user" and message.content:
            yield quote(task, f"/user/turns/{turn}/{j}/content", note="the user's request")
