"""Instructions of a simulated user that it cannot follow, or that give the agent's work away."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.task_texts import sentence_around
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_VALUES = {
    r"e-?mail(?: address)?": re.compile(r"[\w.+-]+@[\w-]+\.\w{2,}"),
    r"(?:reservation|booking|confirmation) (?:id|number|code)s?": re.compile(
        r"\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{6}\b"
    ),
    r"order (?:id|number)s?": re.compile(r"#W?\d{5,}"),
    r"user ?(?:id|name)": re.compile(r"\b[a-z]+_[a-z]+_\d{3,}\b"),
    r"zip ?code": re.compile(r"(?<![\d#.-])\d{5}(?![\d-])"),
    r"phone number": re.compile(r"\b\d{3}-\d{3}-\d{4}\b"),
}
_UNKNOWN = {
    kind: re.compile(
        rf"\b(?:do not|don['’]t|cannot|can['’]t) (?:remember|know|recall) (?:what )?(?:your|the|any of your) {kind}"
        r"(?P<rest>[^.\n]*)",
        re.IGNORECASE,
    )
    for kind in _VALUES
}
_UNTIL = re.compile(
    r"\b(?:but|until|at first|for the first|only|for (?:the|your) (?:other|first|second))\b", re.IGNORECASE
)
_GRADING = re.compile(
    r"\b(?:ground[- ]truth|gold (?:answer|action|label)|reward function|test case"
    r"|evaluation (?:script|criteria)|graded)\b",
    re.IGNORECASE,
)


class SimulatorInstruction(TaskDetector):
    """The instruction of a simulated user contradicts itself, or carries what only the agent or the evaluator knows.

    Rules:

    1. the user is said not to know a value (an e-mail address, an order number, a user id ...), without "until" or
       "at first", and exactly such a value is in what the simulator is told;
    2. a tool of the agent is named (one of the names of two or more words joined by underscores, which no one says by
       chance), unless it is the user's own tool as well;
    3. the text mentions the ground truth or the grading.

    Flagged: "You do not remember your email address" next to "your email is ada@example.com"; "Have the agent call
    get_user_details". Not flagged: "You don't remember the number at first, it is #W1234567"; an order number next to
    an unknown e-mail address.

    The first rule is wrong where the value belongs to someone else, such as a friend's address.
    """

    id = "simulator-instruction"
    title = "the simulator is told what it cannot say or know"
    version = "1"
    experimental = True
    category = "user-role-confusion"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    why = "Whether the user says it decides the run, and that differs from one simulator to the next."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if task.user.kind == "simulated" else "the user's turns are fixed; no simulator is instructed"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield what the simulator's texts should not hold."""
        texts = [item for item in task.user_texts() if not item[0].startswith("/user/turns")]
        yield from _contradictions(task, texts)
        yield from _tools(task, texts)
        for pointer, text in texts:
            if match := _GRADING.search(text):
                yield Hit(
                    claim=f"The simulator is told about the grading (“{match[0]}”)",
                    evidence=(quote(task, pointer, text=sentence_around(text, *match.span()), note="instruction"),),
                    fix="Remove it.",
                    category="answer-leakage",
                )


def _contradictions(task: AgentTask, texts: list[tuple[str, str]]) -> Iterator[Hit]:
    for kind, pattern in _UNKNOWN.items():
        for pointer, text in texts:
            match = pattern.search(text)
            if not match or _UNTIL.search(match["rest"]):
                continue
            for at, told in texts:
                if value := _VALUES[kind].search(told):
                    yield Hit(
                        claim=f"The user does not know a value that the simulator is told: {value[0]}",
                        evidence=(
                            quote(task, pointer, text=match[0], note="what the user does not know"),
                            quote(task, at, text=sentence_around(told, *value.span()), note="what it is told"),
                        ),
                        fix="Remove the value, or let the user know it.",
                    )
                    break
            break


def _tools(task: AgentTask, texts: list[tuple[str, str]]) -> Iterator[Hit]:
    own = {tool.name for tool in task.environment.user_tools}
    names = [tool.name for tool in task.environment.tools if "_" in tool.name and tool.name not in own]
    for pointer, text in texts:
        for name in names:
            if name in text and (match := re.search(rf"\b{re.escape(name)}\b", text)):
                yield Hit(
                    claim=f"The simulator is told the name of the agent's tool {name}",
                    evidence=(quote(task, pointer, text=sentence_around(text, *match.span()), note="instruction"),),
                    fix="Say what the user wants, not how the agent does it.",
                )
