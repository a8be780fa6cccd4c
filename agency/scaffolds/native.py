"""The native loop: a model calls tools until it says that it is done."""

from agenthard.agency.scaffolds.budget import Budget
from agenthard.agency.scaffolds.compaction import compacted
from agenthard.agency.scaffolds.rollout import Called, Ended, Event, Rollout, Said, Told
from agenthard.agency.scaffolds.scaffold import Player, Prompt, carry_out
from agenthard.agency.tools import Toolset
from agenthard.containment.command import PLACE
from agenthard.models.errors import ContextOverflowError
from agenthard.models.request import Call, ChatMessage, Completion, Request
from agenthard.models.tokens import prompt_tokens
from agenthard.play.text_calls import text_calls

SYSTEM = f"""\
You do a chain of tasks in the folder {PLACE}, with tools. Each task continues what the one before left there.
Nothing outside the folder counts, and the network is off. Work until the deliverables of the task are complete and
checked. Then reply without calling a tool: that ends your work on the task, and what is in the folder is judged."""
CUT_OFF = "Your reply was cut off at the length limit, and its calls were not carried out. Reply more briefly."


class Native:
    """Plays with the tools of :mod:`agenthard.agency.tools`."""

    def __init__(self, player: Player) -> None:
        """Play with a model."""
        self._player = player

    async def run(self, prompt: Prompt, workspace: Toolset, history: list[ChatMessage], budget: Budget) -> Rollout:
        """Play one attempt."""
        if not history:
            history.append(ChatMessage(role="system", text=SYSTEM))
        history.append(ChatMessage(role="user", text=prompt.text))
        return await _Loop(self._player, workspace, history, budget, prompt).run()


class _Loop:
    """One attempt."""

    def __init__(
        self, player: Player, workspace: Toolset, history: list[ChatMessage], budget: Budget, prompt: Prompt
    ) -> None:
        self._player, self._workspace, self._history, self._budget = player, workspace, history, budget
        self._events: list[Event] = [Told(text=prompt.text, by="task")]
        self._truncations = self._calls = 0

    async def run(self) -> Rollout:
        while (limit := self._budget.reached()) is None:
            if self._player.context is not None and prompt_tokens(self._request()) > self._player.context:
                self._compact()
            try:
                completion = await self._player.ask(self._request(), self._budget)
            except ContextOverflowError as error:
                if self._compact():
                    continue
                return self._ended("context_overflow", str(error))
            if completion is None:
                continue  # the time is over, which `reached` says
            self._budget.take_turn()
            if ended := await self._take(completion):
                return self._ended(ended)
        return self._ended(limit)

    def _ended(self, ended: Ended, reason: str = "") -> Rollout:
        status = "agent_error" if ended in ("context_overflow", "truncations") else "ok"
        return Rollout(events=tuple(self._events), ended=ended, status=status, reason=reason)

    def _request(self) -> Request:
        settings = self._player.settings
        return Request(
            model=settings.model,
            messages=tuple(self._history),
            tools=self._workspace.tools(),
            sampling=settings.sampling,
            sample=self._player.sample,
        )

    def _compact(self) -> bool:
        event = compacted(self._history, self._request, self._workspace.desk.notes)
        if event is not None:
            self._events.append(event)
        return event is not None

    async def _take(self, completion: Completion) -> Ended | None:
        """Do what a reply asks for; return how the attempt ends, if it does."""
        message, finish = completion.reply.message, completion.reply.finish
        calls, native = message.calls, True
        if not calls and self._player.settings.text_calls and finish != "length":
            calls, native = text_calls(message.text, self._calls), False
        self._events.append(
            Said(text=message.text, reasoning=message.reasoning, calls=calls, seconds=completion.seconds)
        )
        if finish == "length":
            return self._cut_off(message.text)
        if calls or message.text:
            self._history.append(message)
        self._calls += len(calls)
        for call in calls:
            self._hear(await carry_out(self._workspace, call, self._budget), native)
        return None if calls else "done"

    def _cut_off(self, text: str) -> Ended | None:
        self._truncations += 1
        self._events.append(Told(text=CUT_OFF, by="harness"))
        if text:
            self._history.append(ChatMessage(role="assistant", text=text))
        self._history.append(ChatMessage(role="user", text=CUT_OFF))
        return "truncations" if self._truncations > self._player.settings.max_truncations else None

    def _hear(self, event: Called, native: bool) -> None:
        call, text = event.call, event.result.output
        self._events.append(event)
        self._history.append(answer_of(call, text, native))


def answer_of(call: Call, text: str, native: bool) -> ChatMessage:
    """Return the result of a call as the model sees it: a text, where the model wrote the call into its text."""
    if native:
        return ChatMessage(role="tool", text=text, call_id=call.id, tool_name=call.name)
    return ChatMessage(role="user", text=f"<tool_response>\n{text}\n</tool_response>")
