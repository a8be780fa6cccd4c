"""One question put to one judge: what it looks up first, and its answer."""

import asyncio

from agenthard.audit.judge.context.fence import fence_code, fenced, fenced_text
from agenthard.audit.judge.context.material import Passage
from agenthard.audit.judge.investigation.investigator import Investigator
from agenthard.audit.judge.templates import render
from agenthard.audit.judge.verdict import ErrorKind, JudgeError
from agenthard.models.errors import (
    ConfigurationError,
    ContextOverflowError,
    MalformedReplyError,
    MissingKeyError,
    ModelError,
    RequestTimeoutError,
    StopError,
)
from agenthard.models.request import Call, ChatMessage, Model, Reply, Request, Usage
from agenthard.taxonomy.record import Record

PURPOSE = "judge"
"""Who pays, in the ledger."""
CALLS_PER_TURN = 8
"""Calls of one turn that are carried out; the rest is told to wait."""
_WAIT = f"Not carried out: {CALLS_PER_TURN} calls at once are the most. Ask again if you still need it."
_KINDS: tuple[tuple[type[ModelError], ErrorKind], ...] = (
    (ContextOverflowError, "context_overflow"),
    (RequestTimeoutError, "timeout"),
    (MalformedReplyError, "unreadable"),
)


class Conversation(Record):
    """The outcome of a question: the judge's answer, not yet parsed, or why it is missing."""

    text: str = ""
    """The answer as the judge wrote it."""
    error: JudgeError | None = None
    """Why there is none."""
    lookups: tuple[Passage, ...] = ()
    """What the judge looked up, in order."""
    requests: int = 0
    """Requests that were answered."""
    usage: Usage = Usage()
    """Tokens of all of them."""
    cost: float | None = 0.0
    """What they cost together; None when one has no price."""


def judge_error(error: ModelError) -> JudgeError:
    """Turn an error of a model into the error of one question.

    Args:
        error: What the model raised.

    Raises:
        ModelError: The error itself, when it ends the run rather than the question: a wrong key, a spent budget, a
            setting that has to be fixed first.
    """
    if isinstance(error, StopError | ConfigurationError | MissingKeyError):
        raise error
    kind = next((kind for raised, kind in _KINDS if isinstance(error, raised)), "provider")
    return JudgeError.model_validate({"kind": kind, "message": str(error)})


async def ask(
    model: Model, request: Request, investigator: Investigator | None, turns: int, *, owner: str, purpose: str = PURPOSE
) -> Conversation:
    """Put a question to a judge.

    With an investigator there are up to `turns` requests with its tools and without the schema of the answer, since not
    every provider takes both. The last request is the question again with all that was looked up, as text: it has
    neither tools nor calls, so every provider can answer it with the schema, and it can be read by itself.

    Args:
        model: Who answers.
        request: The question, a system and a user message, with the schema of its answer.
        investigator: Looks things up; None when the judge may not.
        turns: Most requests with tools.
        owner: What the question is for (agenthard.models.request.Model).
        purpose: Who pays.

    Returns:
        The answer, or the error that it ended with; what was spent on the way is counted in either case.

    Raises:
        ModelError: One that ends the run (`judge_error`).
    """
    talk = _Talk(model, owner, purpose)
    try:
        if investigator is not None:
            request = await _investigated(talk, request, investigator, turns)
        reply = await talk.put(request)
        text, error = reply.message.text, _failure(reply)
    except _RefusedError as refusal:
        text, error = "", JudgeError(kind="refusal", message=str(refusal))
    except ModelError as failed:
        text, error = "", judge_error(failed)
    return Conversation(
        text="" if error else text,
        error=error,
        lookups=investigator.lookups if investigator else (),
        requests=talk.requests,
        usage=talk.usage,
        cost=talk.cost,
    )


class _RefusedError(ModelError):
    """The judge refused while it looked things up."""


class _Talk:
    """Sums up the usage of the requests of one question."""

    def __init__(self, model: Model, owner: str, purpose: str) -> None:
        self._model, self._owner, self._purpose = model, owner, purpose
        self.requests, self.usage = 0, Usage()
        self.cost: float | None = 0.0

    async def put(self, request: Request) -> Reply:
        completion = await self._model.complete(request, purpose=self._purpose, owner=self._owner)
        self.requests += 1
        self.usage += completion.reply.usage
        self.cost = None if self.cost is None or completion.cost is None else self.cost + completion.cost
        return completion.reply


def _failure(reply: Reply) -> JudgeError | None:
    if reply.finish == "refusal":
        return JudgeError(kind="refusal", message=reply.message.text or "the provider's filter stopped the answer")
    if reply.finish == "length":
        return JudgeError(kind="unreadable", message="the answer was cut off; allow more output tokens")
    if not reply.message.text.strip():
        return JudgeError(kind="unreadable", message="the answer is empty")
    return None


async def _investigated(talk: _Talk, request: Request, investigator: Investigator, turns: int) -> Request:
    """Let the judge look things up, and return the question with what it found."""
    # Threads, since a replay can take a while and the other conversations continue.
    tools = await asyncio.to_thread(investigator.tools)
    messages, notes = list(request.messages), list[str]()
    for _ in range(turns):
        asking = {"messages": tuple(messages), "tools": tools, "tool_choice": "auto", "output": None}
        reply = await talk.put(request.model_copy(update=asking))
        if reply.finish == "refusal":
            raise _RefusedError(reply.message.text or "the provider's filter stopped the look-ups")
        if reply.message.text.strip():
            notes.append(reply.message.text)
        if not reply.message.calls:
            break
        messages.append(reply.message)
        for number, call in enumerate(reply.message.calls):
            text = _WAIT if number >= CALLS_PER_TURN else await _answer(investigator, call)
            messages.append(ChatMessage(role="tool", text=text, call_id=call.id, tool_name=call.name))
    return _with_lookups(request, investigator.lookups, "\n\n".join(notes))


async def _answer(investigator: Investigator, call: Call) -> str:
    passage = await asyncio.to_thread(investigator.look_up, call)
    return fenced(passage, fence_code([passage]))


def _with_lookups(request: Request, lookups: tuple[Passage, ...], notes: str) -> Request:
    """The question with what was looked up, and what the judge wrote meanwhile, behind it."""
    code = fence_code(lookups, [notes])
    passages = [fenced(passage, code) for passage in lookups]
    own = fenced_text(notes, code, "your notes") if notes else ""
    section = render("lookups.md.j2", code=code, passages=passages, notes=own)
    *before, last = request.messages
    asked = last.model_copy(update={"text": last.text + section})
    return request.model_copy(update={"messages": (*before, asked)})
