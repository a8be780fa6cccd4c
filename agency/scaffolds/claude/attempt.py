"""One attempt: what the program asks goes to our client, and what it calls to our tools.

The calls of a reply are carried out in the order in which the model wrote them, each once, whatever the program makes
of them: one that it refuses itself, such as a call of a tool that does not exist, is answered by our tools as well.
What a model sees of its own replies and of results is what was recorded, whole.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from agenthard.agency.scaffolds.budget import Budget
from agenthard.agency.scaffolds.claude.protocol import STOPS, Answered, Asked, Refused
from agenthard.agency.scaffolds.native import answer_of
from agenthard.agency.scaffolds.rollout import Ended, Event, Rollout, Said, Told
from agenthard.agency.scaffolds.scaffold import Player, Prompt, carry_out
from agenthard.agency.tools import TOOLS, Toolset
from agenthard.models.errors import ContextOverflowError, TransientError
from agenthard.models.request import Call, ChatMessage, Completion, Request
from agenthard.models.tokens import prompt_tokens
from agenthard.play.text_calls import text_calls

PREFIX = "mcp__workspace__"
"""What the program puts before the names of tools; models see the names without it."""


class ClaudeProgramError(TransientError):
    """The program of the Claude Agent SDK cannot be started, has died, or asks in a way that is not understood."""

    code = "AH658"
    remedy = "Run the same command again; if it persists, install the version of claude-agent-sdk that AgentHard names."


@dataclass(frozen=True)
class _Due:
    """A call of the last reply that is to be carried out."""

    id: str
    """Its id in the program."""
    call: Call
    """The call, as the model wrote it."""
    native: bool
    """Whether it is a call of the reply; else it was written into the text."""


class Attempt:
    """Joins the program to our client and our tools."""

    def __init__(
        self, player: Player, workspace: Toolset, budget: Budget, history: list[ChatMessage], prompt: Prompt
    ) -> None:
        self._player, self._workspace, self._budget, self._prompt = player, workspace, budget, prompt
        self._history = history
        self._earlier = [message for message in history if message.role != "system"]
        self._events: list[Event] = [Told(text=prompt.text, by="task")]
        self._busy = asyncio.Lock()
        self._due: list[_Due] = []
        self._results: dict[str, ChatMessage] = {}
        self._said: dict[str, tuple[ChatMessage, tuple[str, ...]]] = {}
        self._spoken: dict[str, ChatMessage] = {}
        self._replies = self._calls = self._truncations = self._heard = 0
        self.ended: Ended | None = None
        """How the attempt ended, where it was not the program that ended it."""
        self.reason = ""
        """Why, in words."""
        self.failure: Exception | None = None
        """What our client, a tool or the reading of a request raised."""

    def rollout(self, ended: Ended, reason: str = "") -> Rollout:
        """Return everything that happened."""
        failed = ended in ("context_overflow", "truncations", "crashed")
        status = "agent_error" if failed else "ok"
        return Rollout(events=tuple(self._events), ended=ended, status=status, reason=reason)

    def count(self, asked: Asked) -> int:
        """Estimate the tokens of a request; no model is asked."""
        system = ChatMessage(role="system", text=asked.system)
        return prompt_tokens(self._request((system, *self._earlier, *asked.messages)))

    async def answer(self, asked: Asked) -> Answered:
        """Ask the model what the program asks.

        Raises:
            Refused: the attempt is over, by a limit or by a failure.
        """
        async with self._busy:
            self._require_open()
            try:
                await self._carry_out(len(self._due))
                self._hear(asked)
                return await self._ask(asked)
            except Refused as refused:
                if self.ended is None:
                    self.failure = ClaudeProgramError(f"the Claude Agent SDK: {refused.message}")
                raise
            except Exception as error:
                self.failure = error
                raise self._over() from error

    async def call(self, name: str, given: dict[str, Any]) -> str:
        """Carry out the call of the last reply that the program makes now, and the ones before it.

        Raises:
            Refused: the attempt is over.
        """
        async with self._busy:
            self._require_open()
            try:
                number = self._number(name, given)
                id = self._due[number].id
                await self._carry_out(number + 1)
            except Exception as error:
                self.failure = error
                raise
            return self._results[id].text

    def _require_open(self) -> None:
        if self.ended is not None or self.failure is not None:
            raise self._over()

    def _end(self, ended: Ended, reason: str = "") -> NoReturn:
        self.ended, self.reason = ended, reason
        raise self._over()

    def _over(self) -> Refused:
        return Refused(400, "invalid_request_error", f"the attempt is over: {self.ended or 'a failure'}")

    def _number(self, name: str, given: dict[str, Any]) -> int:
        """Return which of the calls that are due is meant: one with these arguments, or else the first of the tool."""
        named = [number for number, due in enumerate(self._due) if due.call.name == name]
        same = [number for number in named if _arguments(self._due[number].call) == given]
        if not named:
            raise ClaudeProgramError(f"the Claude Agent SDK calls {name!r}, which the model did not")
        return (same or named)[0]

    async def _carry_out(self, most: int) -> None:
        """Carry out the first calls that are due."""
        for _ in range(most):
            due = self._due.pop(0)
            event = await carry_out(self._workspace, due.call, self._budget)
            self._events.append(event)
            self._results[due.id] = answer_of(due.call, event.result.output, due.native)

    def _hear(self, asked: Asked) -> None:
        """Take the conversation over, and record what the program itself says to the model."""
        expected = {PREFIX + name for name in TOOLS}
        if (offered := {tool.name for tool in asked.tools}) != expected:
            raise Refused(400, "invalid_request_error", f"other tools are offered: {sorted(offered ^ expected)}")
        system = ChatMessage(role="system", text=asked.system)
        self._history[:] = [system, *self._earlier, *self._conversation(asked)]
        texts = [message.text for message in asked.messages if message.role == "user"]
        if not texts or texts[0].strip() != self._prompt.text.strip():
            raise Refused(400, "invalid_request_error", "the conversation does not begin with the task as it was given")
        self._events += [Told(text=text, by="harness") for text in texts[max(self._heard, 1) :]]
        self._heard = len(texts)

    def _conversation(self, asked: Asked) -> Iterator[ChatMessage]:
        first = True
        for message in asked.messages:
            if message.role == "assistant":
                yield self._whole(message)
            elif message.role == "tool":
                yield self._results[message.call_id or ""]
            else:
                yield ChatMessage(role="user", text=self._prompt.text) if first else message
                first = False

    def _whole(self, message: ChatMessage) -> ChatMessage:
        """Return a reply as the model gave it, with what the provider expects back."""
        if not message.calls:
            return self._spoken.get(message.text.strip(), message)
        ids = tuple(call.id for call in message.calls)
        said, made = self._said.get(ids[0], (message, ()))
        if ids != made:
            raise Refused(400, "invalid_request_error", "the conversation has calls that the model did not make")
        return said

    def _request(self, messages: tuple[ChatMessage, ...]) -> Request:
        settings = self._player.settings
        return Request(
            model=settings.model,
            messages=messages,
            tools=self._workspace.tools(),
            sampling=settings.sampling,
            sample=self._player.sample,
        )

    async def _ask(self, asked: Asked) -> Answered:
        if limit := self._budget.reached():
            self._end(limit)
        try:
            completion = await self._player.ask(self._request(tuple(self._history)), self._budget)
        except ContextOverflowError as error:
            self._end("context_overflow", str(error))
        if completion is None:
            self._end("hours")
        self._budget.take_turn()
        return self._take(completion, asked.model)

    def _take(self, completion: Completion, model: str) -> Answered:
        """Record a reply, and write it as the program reads it. The calls of one that was cut off are not made."""
        reply, message = completion.reply, completion.reply.message
        calls, cut, native = message.calls, reply.finish == "length", True
        if not calls and self._player.settings.text_calls and not cut:
            calls, native = text_calls(message.text, self._calls), False
        self._events.append(
            Said(text=message.text, reasoning=message.reasoning, calls=calls, seconds=completion.seconds)
        )
        kept = message.model_copy(update={"calls": (), "provider_state": None}) if cut else message
        if kept.calls or kept.text:
            self._history.append(kept)
        self._truncations += cut
        if self._truncations > self._player.settings.max_truncations:
            self._end("truncations", "replies were cut off at the length limit")
        made = () if cut else tuple(self._numbered(calls, native))
        if made:
            self._said |= {call.id: (kept, tuple(each.id for each in made)) for call in made}
        else:
            self._spoken[kept.text.strip()] = kept
        self._replies += 1
        stop = "tool_use" if made else STOPS["stop" if reply.finish == "tool_calls" else reply.finish]
        return Answered(
            id=f"msg_{self._replies}", model=model, text=message.text, calls=made, stop=stop, usage=reply.usage
        )

    def _numbered(self, calls: tuple[Call, ...], native: bool) -> Iterator[Call]:
        """Yield calls as the program gets them: providers may give one id twice, and names without our prefix."""
        for call in calls:
            self._calls += 1
            id = f"toolu_{self._calls}"
            self._due.append(_Due(id, call, native))
            yield Call(id=id, name=PREFIX + call.name, arguments=call.arguments)


def _arguments(call: Call) -> Any:
    try:
        return json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return None
