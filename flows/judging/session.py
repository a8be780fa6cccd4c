"""Ask one question until its answer can be used, within the limits that all questions of a run share."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from agenthard.audit.judge.context.material import Passage
from agenthard.audit.judge.conversation import Conversation
from agenthard.audit.judge.conversation import ask as converse
from agenthard.audit.judge.investigation.investigator import Investigator
from agenthard.audit.judge.settings import JudgeSettings
from agenthard.audit.judge.verdict import Judged, JudgeError
from agenthard.audit.judge.verify.verdict_parser import UnreadableVerdictError, read_verdict
from agenthard.flows.judging.cascade import PURPOSES, Cascade
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.prompts import PreparedPrompt
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.flows.judging.store import MAX_SAMPLES, AnswerStore, Question, repetition
from agenthard.flows.judging.workers import PromptWorker
from agenthard.models.errors import StopError
from agenthard.models.request import Model, Request, Usage
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.printable import printable

_RETRIED = ("refusal", "timeout", "unreadable")
"""Errors after which another reply to the same request may be usable."""
_QUEUED_PER_SLOT = 4
"""Items in progress per question in flight: while some questions are asked, the prompts of others are written."""
T = TypeVar("T")
Item = TypeVar("Item")


class NotAskedError(AgentHardError):
    """A request was not sent: it was only written down, or its answer has not arrived yet."""

    code = "AH803"
    remedy = "Import the answers to the exported prompts, then run the same command again."


class Unanswered(NamedTuple):
    """A question that was not sent to a model."""

    question: Question
    """The question."""
    request: Request
    """The request, exactly as it would be sent."""
    attempt: int
    """Number of the attempt, from 0."""
    prompt: PreparedPrompt
    """Its prompt."""


class AskedVerdict(NamedTuple):
    """The outcome of a question that asks for a verdict."""

    judged: Judged
    """The verdict, or the error of the last attempt."""
    digest: str
    """Digest of the first request of the last attempt."""
    attempts: int
    """Number of attempts, those of earlier runs included."""


@dataclass
class Attempts(Generic[T]):
    """The attempts at one question: the outcome of the last one, and the cost of all."""

    request: Request
    """First request of the last attempt."""
    count: int = 0
    """Number of attempts, those of earlier runs included."""
    value: T | None = None
    """The answer; None without one."""
    error: JudgeError | None = None
    """Why an answer is missing."""
    lookups: tuple[Passage, ...] = ()
    """Results of the look-ups of the last attempt."""
    usage: Usage = Usage()
    """Tokens of all requests."""
    cost: float | None = 0.0
    """Cost of all requests; None without a price."""

    def digest(self, question: Question, prompt: PreparedPrompt) -> str:
        """Return the digest of the first request of the last attempt; for a first attempt it is known already."""
        return prompt.digests[question.sample] if self.count == 1 else self.request.digest


async def ask(
    model: Model,
    question: Question,
    prompt: PreparedPrompt,
    settings: JudgeSettings,
    read: Callable[[str], T],
    investigator: Callable[[], Investigator] | None = None,
    failed_attempts: int = 0,
) -> Attempts[T] | Unanswered:
    """Ask a question, and ask again after a refusal, a timeout or an unreadable answer.

    The client repeats requests after transport errors (agenthard.models.client).

    Args:
        model: The model that answers.
        question: The question.
        prompt: Its prompt.
        settings: The panel.
        read: Parses an answer; raises `UnreadableVerdictError` when it cannot.
        investigator: Makes the look-up tools of one attempt; None when the judge has none.
        failed_attempts: Failed attempts of earlier runs; their replies are not requested again.

    Returns:
        The attempts. When a repeated attempt cannot be sent, they hold the error of the attempt before.

    Raises:
        StopError: The model cannot be asked anything more.
        ModelError: The model is not configured correctly.
    """
    attempts: Attempts[T] = Attempts(prompt.request)
    tier = next(judge.tier for judge in settings.judges if judge.name == question.judge)
    purpose = PURPOSES["defence" if question.against else "votes" if question.votes_on else tier]
    for attempt in range(failed_attempts, failed_attempts + settings.attempts):
        request = repetition(prompt.request, question.sample + MAX_SAMPLES * attempt)
        if prompt.too_long:
            talk = Conversation(error=JudgeError(kind="context_overflow", message=prompt.too_long))
        else:
            tools = investigator() if investigator else None
            try:
                talk = await converse(model, request, tools, settings.lookups, owner=question.owner, purpose=purpose)
            except NotAskedError:
                return attempts if attempts.count else Unanswered(question, request, attempt, prompt)
        attempts.request, attempts.count, attempts.lookups = request, attempt + 1, talk.lookups
        attempts.usage += talk.usage
        attempts.cost = None if attempts.cost is None or talk.cost is None else attempts.cost + talk.cost
        attempts.value, attempts.error = None, talk.error
        if talk.error is None:
            try:
                attempts.value = read(talk.text)
            except UnreadableVerdictError as error:
                attempts.error = JudgeError(kind="unreadable", message=str(error))
        if attempts.error is None or attempts.error.kind not in _RETRIED:
            break
    return attempts


async def ask_for_verdict(
    model: Model,
    question: Question,
    prompt: PreparedPrompt,
    settings: JudgeSettings,
    investigator: Callable[[], Investigator],
    failed_attempts: int = 0,
) -> AskedVerdict | Unanswered:
    """Ask for a verdict; the arguments are those of `ask`."""
    judge = next(judge for judge in settings.judges if judge.name == question.judge)
    attempts = await ask(
        model,
        question,
        prompt,
        settings,
        lambda text: read_verdict(text, prompt.categories),
        investigator if judge.investigates else None,
        failed_attempts,
    )
    if isinstance(attempts, Unanswered):
        return attempts
    judged = Judged(
        task_id=question.task_id,
        judge=question.judge,
        sample=question.sample,
        prompt_version=prompt.version,
        verdict=attempts.value,
        error=attempts.error,
        lookups=attempts.lookups,
        usage=attempts.usage,
        cost=attempts.cost,
    )
    return AskedVerdict(judged, attempts.digest(question, prompt), attempts.count)


def internal_error(error: Exception) -> JudgeError:
    """Describe an exception of our own code as the error of one question, so that the other questions continue."""
    return JudgeError(kind="internal", message=printable(f"unexpected {type(error).__name__}: {error}"))


class Session:
    """One run: its model, its answers, and its limit of questions in flight.

    Once the model cannot be asked anything more, the session stops; answers in flight are still stored.
    """

    def __init__(
        self,
        settings: JudgingSettings,
        model: Model,
        store: AnswerStore,
        worker: PromptWorker,
        inputs: AuditInputs,
        on_unanswered: Callable[[Unanswered], None] = lambda question: None,
    ) -> None:
        """Set up the run; nothing is asked yet.

        Args:
            settings: The run.
            model: Answers the questions of all judges.
            store: Keeps the answers.
            worker: Writes prompts and checks verdicts.
            inputs: The audit: its tasks, for judges that look things up, and its policy.
            on_unanswered: Called with each question that was not sent to a model.
        """
        self.stopped = ""
        """Why the session stopped; empty while it has not."""
        self.settings, self.model, self.store, self.worker = settings, model, store, worker
        self.task = inputs.task
        self.cascade = Cascade.of(settings.judges, inputs)
        self._on_unanswered = on_unanswered
        self._free = asyncio.Semaphore(settings.in_flight)

    async def ask(self, question: Callable[[], Awaitable[T | Unanswered]]) -> T | None:
        """Ask a question as soon as a slot is free; None when it was not sent."""
        async with self._free:
            if self.stopped:
                return None
            try:
                found = await question()
            except StopError as error:
                self.stopped = self.stopped or str(error)
                return None
        if isinstance(found, Unanswered):
            self._on_unanswered(found)
            return None
        return found

    async def for_each(self, items: Iterable[Item], work: Callable[[Item], Awaitable[None]]) -> None:
        """Work on all items, many at a time; no item is started once the session has stopped."""
        room = asyncio.Semaphore(self.settings.in_flight * _QUEUED_PER_SLOT)

        async def one(item: Item) -> None:
            try:
                await work(item)
            finally:
                room.release()

        async with asyncio.TaskGroup() as group:
            for item in items:
                await room.acquire()
                if self.stopped:
                    break
                group.create_task(one(item))
