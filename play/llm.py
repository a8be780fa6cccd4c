"""A model plays an episode by calling tools."""

import json
from random import Random

from pydantic import Field

from agenthard.models.errors import BadRequestError, ContextOverflowError, MalformedReplyError, TransientError
from agenthard.models.request import Call, ChatMessage, Completion, Model, Reply, Request, Sampling, Usage
from agenthard.play.ending import Ending
from agenthard.play.episode import MAX_TURNS, Episode, OutOfTurnsError
from agenthard.play.session import Session
from agenthard.play.text_calls import text_calls
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import ToolCall
from agenthard.taxonomy.trajectory import RunStatus, Trajectory

MAX_OUTPUT_TOKENS = 16_384
"""Tokens a reply may have, where neither the model file nor the benchmark says."""


class LlmSettings(Record):
    """How a model plays. The defaults are those of the ACE-Bench paper."""

    model: str
    """Full name of the model, as requests give it."""
    sampling: Sampling = Sampling()
    """How replies are drawn. The seed is replaced by that of the trial; without a limit of tokens the paper's holds."""
    seed: int = 42
    """Seed of the run; see :func:`trial_seed`."""
    max_turns: int = Field(default=MAX_TURNS, ge=1)
    """Replies the model may give: the steps of papers."""
    max_truncations: int = Field(default=3, ge=0)
    """Replies cut off at the length limit that are forgiven: one more ends the episode as failed."""
    max_idle: int = Field(default=10, ge=0)
    """Replies without a tool call, one after the other, that are answered with a reminder: one more ends it."""
    text_calls: bool = False
    """Whether tool calls are also read from the text of a reply (agenthard.play.text_calls)."""


def trial_seed(seed: int, trial: int) -> int:
    """Returns the seed of a trial: for the model, the order of the tools and the calls that fail.

    Args:
        seed: Seed of the run.
        trial: Number of the repetition, from 0.

    Returns:
        A number from 0 to 1,000,000, drawn as the code of ACE-Bench draws it: 670487 for the first trial of seed 42.
    """
    random = Random(seed)
    return [random.randint(0, 1_000_000) for _ in range(trial + 1)][-1]


async def play(
    model: Model,
    settings: LlmSettings,
    session: Session,
    trial: int = 0,
    *,
    agent: str | None = None,
    condition: str = "",
    task_id: str | None = None,
    owner: str | None = None,
) -> Trajectory:
    """Lets a model play one episode.

    Each request follows from the arguments and the replies so far, so a cache answers an episode that is played again.

    Args:
        model: What answers requests.
        settings: How it plays.
        session: A fresh session of the instance.
        trial: Number of the repetition, from 0.
        agent: Name it is listed under; None for the model's.
        condition: What the run's conditions are called; part of the record's id.
        task_id: Id of the task; None for the id of the instance.
        owner: What requests are charged to; None for the id of the record.

    Returns:
        The record. A conversation that outgrows the model is the agent's failure (``agent_error``); a request that
        could not be answered does not count for or against the model (``infrastructure_error``, no verdict).

    Raises:
        models.errors.ModelError: Nothing more can be asked of the model, or it is set up wrongly; the episode has not
            happened.
    """
    name = agent or settings.model
    episode = Episode(session, name, trial, condition=condition, task_id=task_id, max_turns=settings.max_turns)
    talk = _Talk(settings, episode)
    status: RunStatus = "ok"
    reason = ""
    try:
        ending = await talk.run(model, owner or episode.id)
    except OutOfTurnsError:
        ending = Ending.MAX_STEPS
    except ContextOverflowError as error:
        ending, status, reason = Ending.CONTEXT_OVERFLOW, "agent_error", str(error)
    except (BadRequestError, TransientError, MalformedReplyError) as error:
        ending, status, reason = Ending.ERROR, "infrastructure_error", f"{type(error).__name__}: {error}"
    return episode.trajectory(ending, status=status, reason=reason, usage=talk.usage())


def first_request(settings: LlmSettings, session: Session, trial: int = 0) -> Request:
    """Returns what a model is asked first, so that costs can be foreseen; nothing is sent.

    Args:
        settings: How it plays.
        session: A fresh session of the instance.
        trial: Number of the repetition, from 0.

    Returns:
        The request.
    """
    return _Talk(settings, Episode(session, settings.model, trial)).request()


class _Talk:
    """The conversation with a model, as it is sent, next to the episode that records it."""

    def __init__(self, settings: LlmSettings, episode: Episode) -> None:
        seed = trial_seed(settings.seed, episode.trial)
        self._settings, self._episode = settings, episode
        self._chat = [ChatMessage(role=message.role, text=message.content) for message in episode.prompt]
        self._tools = tuple(episode.session.schemas(shuffle=seed))
        limit = settings.sampling.max_output_tokens or MAX_OUTPUT_TOKENS
        self._sampling = settings.sampling.model_copy(update={"seed": seed, "max_output_tokens": limit})
        self._calls = self._idle = self._requests = 0
        self._tokens = Usage()
        self._cost: float | None = 0.0

    async def run(self, model: Model, owner: str) -> Ending:
        """Continues until the episode ends."""
        while not self._episode.session.finished:
            self._episode.require_turn()
            completion = await model.complete(self.request(), purpose="agent", owner=owner)
            self._charge(completion)
            if ending := self._take(completion.reply):
                return ending
        return Ending.DONE

    def request(self) -> Request:
        """What is asked next."""
        return Request(
            model=self._settings.model,
            messages=tuple(self._chat),
            tools=self._tools,
            tool_choice="auto",
            sampling=self._sampling,
            sample=self._episode.trial,
        )

    def usage(self) -> dict[str, float]:
        """Tokens, cost and requests so far."""
        cost = {} if self._cost is None else {"cost": self._cost}
        return {**self._tokens.model_dump(), **cost, "requests": self._requests}

    def _charge(self, completion: Completion) -> None:
        # A cached reply was requested once, by an earlier attempt: a resumed episode counts what it cost.
        self._requests += max(completion.attempts, 1)
        self._tokens += completion.reply.usage
        known = self._cost is not None and completion.cost is not None
        self._cost = (self._cost or 0.0) + (completion.cost or 0.0) if known else None

    def _take(self, reply: Reply) -> Ending | None:
        """Does what a reply asks for; returns how the episode ends, if it does."""
        message = reply.message
        if reply.finish == "length":
            self._episode.truncations += 1
            self._listen(message.text, self._episode.session.cut_off)
            return Ending.TRUNCATIONS if self._episode.truncations > self._settings.max_truncations else None
        calls, native = message.calls, True
        if not calls and self._settings.text_calls:
            calls, native = text_calls(message.text, self._calls), False
        if not calls:
            self._idle += 1
            self._listen(message.text, self._episode.session.go_on)
            return Ending.OPEN if self._idle > self._settings.max_idle else None
        self._idle = 0
        self._calls += len(calls)
        self._chat.append(message)
        self._carry_out(message.text, calls, native)
        return None

    def _listen(self, text: str, notice: str) -> None:
        """Records a reply without a call, and says so. Services refuse an empty message, so none is sent back."""
        self._episode.say(text)
        self._episode.hear(notice)
        if text:
            self._chat.append(ChatMessage(role="assistant", text=text))
        self._chat.append(ChatMessage(role="user", text=notice))

    def _carry_out(self, text: str, calls: tuple[Call, ...], native: bool) -> None:
        """Carries out calls in order; one that has its answer is not repeated until a call changes what is answered."""
        made = [recorded_call(call) for call in calls]
        self._episode.say(text, made)
        answered: dict[tuple[str, str], str] = {}
        for call, record in zip(calls, made, strict=True):
            words = call.name, call.arguments
            if words not in answered:
                if self._episode.session.changes_answers(call.name):
                    answered.clear()
                answered[words] = self._episode.session.message(*words)
            answer = answered[words]
            self._episode.hear(answer, record)
            if native:
                self._chat.append(ChatMessage(role="tool", text=answer, call_id=call.id, tool_name=call.name))
            else:
                self._chat.append(ChatMessage(role="user", text=f"<tool_response>\n{answer}\n</tool_response>"))


def recorded_call(call: Call) -> ToolCall:
    """Return a call as records hold it: with its arguments, or with their text where they are not a JSON object."""
    try:
        arguments = json.loads(call.arguments or "{}")
        json.dumps(arguments, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict):
        return ToolCall(name=call.name, arguments=arguments, id=call.id)
    return ToolCall(name=call.name, text=call.arguments, id=call.id)
