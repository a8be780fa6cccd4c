"""One question put to one judge until its answer can be used, or no attempt is left."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from agenthard.audit.judge.context.material import Passage
from agenthard.audit.judge.conversation import Conversation
from agenthard.audit.judge.conversation import ask as converse
from agenthard.audit.judge.investigating import Investigator
from agenthard.audit.judge.judged import Judged, JudgeError
from agenthard.audit.judge.settings import JudgeSettings
from agenthard.audit.judge.verify.reading import UnreadableVerdictError, read_verdict
from agenthard.flows.judging.questions import MOST_SAMPLES, Question
from agenthard.flows.judging.workbench import Ready
from agenthard.models.provider import Model
from agenthard.models.request import Request, Usage
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.printable import printable

_AGAIN = ("refusal", "timeout", "unreadable")
"""Errors after which another reply to the same words may do better."""
T = TypeVar("T")


class NotAskedError(AgentHardError):
    """A request was not put to anybody: it was only written down, or nobody has answered it yet."""

    code = "AH803"
    remedy = "Import the answers to the exported prompts, then run the same command again."


class Unanswered(NamedTuple):
    """A question that was not put to anybody."""

    question: Question
    """The question."""
    request: Request
    """What would be asked, just as it would be sent."""
    attempt: int
    """Number of the attempt, from 0."""
    ready: Ready
    """Its prompt."""


class Asked(NamedTuple):
    """What came of a question."""

    judged: Judged
    """The verdict, or the last attempt's error."""
    digest: str
    """Digest of the last attempt's first request."""
    attempts: int
    """Attempts in all, those of earlier runs included."""


@dataclass
class Effort(Generic[T]):
    """The attempts at one question: what the last gave, and what they took together."""

    request: Request
    """The last attempt's first request."""
    attempts: int = 0
    """Attempts in all, those of earlier runs included."""
    value: T | None = None
    """The answer; None without one."""
    error: JudgeError | None = None
    """Why there is none."""
    lookups: tuple[Passage, ...] = ()
    """What the last attempt looked up."""
    usage: Usage = Usage()
    """Tokens of all requests."""
    cost: float | None = 0.0
    """What they cost; None without a price."""

    def digest(self, question: Question, ready: Ready) -> str:
        """Digest of the last attempt's first request; that of a first attempt is known already."""
        return ready.digests[question.sample] if self.attempts == 1 else self.request.digest


async def put(
    model: Model,
    question: Question,
    ready: Ready,
    settings: JudgeSettings,
    read: Callable[[str], T],
    investigator: Callable[[], Investigator] | None = None,
    before: int = 0,
) -> Effort[T] | Unanswered:
    """Put a question.

    An answer that is refused, comes too late or cannot be read is asked for again; what no repetition can help is not.
    Transport errors are the client's to repeat (agenthard.models.client).

    Args:
        model: What answers.
        question: The question.
        ready: Its prompt.
        settings: The panel.
        read: Reads an answer; what it cannot read is `UnreadableVerdictError`.
        investigator: Makes what looks things up for one attempt; None when the judge may not.
        before: Attempts that earlier runs made in vain; their replies are not asked for again.

    Returns:
        What came of it; an attempt that nobody answers leaves the error of the one before, if there was one.

    Raises:
        Stop: Nothing more can be asked of this model.
        ModelError: It is set up wrongly.
    """
    effort: Effort[T] = Effort(ready.request)
    for attempt in range(before, before + settings.attempts):
        number = ready.request.sample + question.sample + MOST_SAMPLES * attempt
        request = ready.request.model_copy(update={"sample": number})
        if ready.too_long:
            talk = Conversation(error=JudgeError(kind="context_overflow", message=ready.too_long))
        else:
            helper = investigator() if investigator else None
            try:
                talk = await converse(model, request, helper, settings.lookups, owner=question.owner)
            except NotAskedError:
                return effort if effort.attempts else Unanswered(question, request, attempt, ready)
        effort.request, effort.attempts, effort.lookups = request, attempt + 1, talk.lookups
        effort.usage += talk.usage
        effort.cost = None if effort.cost is None or talk.cost is None else effort.cost + talk.cost
        effort.value, effort.error = None, talk.error
        if talk.error is None:
            try:
                effort.value = read(talk.text)
            except UnreadableVerdictError as error:
                effort.error = JudgeError(kind="unreadable", message=str(error))
        if effort.error is None or effort.error.kind not in _AGAIN:
            break
    return effort


def unforeseen(error: Exception) -> JudgeError:
    """Say that our own code failed on one question: an error of this question, and no reason to end the others."""
    return JudgeError(kind="internal", message=printable(f"unexpected {type(error).__name__}: {error}"))


async def ask(
    model: Model,
    question: Question,
    ready: Ready,
    settings: JudgeSettings,
    investigator: Callable[[], Investigator],
    before: int = 0,
) -> Asked | Unanswered:
    """Ask for a verdict; the arguments are those of `put`."""
    judge = next(judge for judge in settings.judges if judge.name == question.judge)
    effort = await put(
        model,
        question,
        ready,
        settings,
        lambda text: read_verdict(text, ready.categories),
        investigator if judge.investigates else None,
        before,
    )
    if isinstance(effort, Unanswered):
        return effort
    judged = Judged(
        task_id=question.task_id,
        judge=question.judge,
        sample=question.sample,
        prompt_version=ready.version,
        verdict=effort.value,
        error=effort.error,
        lookups=effort.lookups,
        usage=effort.usage,
        cost=effort.cost,
    )
    return Asked(judged, effort.digest(question, ready), effort.attempts)
