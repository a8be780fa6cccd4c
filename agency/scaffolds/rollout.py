"""What a scaffold leaves of one attempt: every message, every call with its result, every compaction."""

from typing import Annotated, Literal

from pydantic import Field

from agenthard.agency.tools import CallResult
from agenthard.models.request import Call
from agenthard.play.llm import recorded_call
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import Message, ToolEffect
from agenthard.taxonomy.trajectory import RunStatus

Ended = Literal["done", "turns", "tokens", "money", "hours", "truncations", "context_overflow", "no_script", "crashed"]
"""How an attempt ended: the agent said that it was, a limit, replies that were cut off, a conversation that no longer
fits, no script for it, or a program of the agent that ended with an error."""


class Said(Record):
    """A reply of the agent."""

    kind: Literal["said"] = "said"
    """What kind of event it is."""
    text: str = ""
    """Its text."""
    reasoning: str = ""
    """Reasoning, where the provider shows it."""
    calls: tuple[Call, ...] = ()
    """The calls in it, as they were written."""
    seconds: float = 0.0
    """How long it took."""


class Called(Record):
    """A call that was carried out."""

    kind: Literal["called"] = "called"
    """What kind of event it is."""
    call: Call
    """The call, as it was written."""
    result: CallResult
    """What it gave."""


class Told(Record):
    """A message to the agent."""

    kind: Literal["told"] = "told"
    """What kind of event it is."""
    text: str
    """Its text."""
    by: Literal["task", "user", "harness"]
    """Who speaks: the task, the simulated user, or the harness."""


class Compacted(Record):
    """Older messages were taken out of the conversation that the model sees."""

    kind: Literal["compacted"] = "compacted"
    """What kind of event it is."""
    messages: int
    """How many messages were taken out."""
    tokens_before: int
    """Estimated tokens of the conversation before."""
    tokens_after: int
    """Estimated tokens after."""


Event = Annotated[Said | Called | Told | Compacted, Field(discriminator="kind")]


class Rollout(Record):
    """One attempt of an agent."""

    events: tuple[Event, ...] = ()
    """Everything that happened, in order."""
    ended: Ended = "done"
    """How it ended; this is not a verdict."""
    status: RunStatus = "ok"
    """Whether the agent failed in a way that is its own error."""
    reason: str = ""
    """Why, in words."""
    other_answers: int = 0
    """Calls of a replayed attempt that did not give what the recorded ones gave."""

    @property
    def said(self) -> list[Said]:
        """The replies."""
        return [event for event in self.events if isinstance(event, Said)]

    @property
    def called(self) -> list[Called]:
        """The calls that were carried out."""
        return [event for event in self.events if isinstance(event, Called)]

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation as runs hold it, without what differs from one run to the next."""
        found = []
        for event in self.events:
            if isinstance(event, Said):
                calls = tuple(map(recorded_call, event.calls))
                found.append(Message(role="assistant", content=event.text, tool_calls=calls))
            elif isinstance(event, Called):
                found.append(_answer(event))
            elif isinstance(event, Told):
                found.append(Message(role="user", content=event.text))
            else:
                words = f"[the harness took {event.messages} older messages out of the conversation]"
                found.append(Message(role="system", content=words))
        return tuple(found)


def _answer(event: Called) -> Message:
    result = event.result
    changed = (*result.changed.added, *result.changed.changed, *result.changed.removed)
    effect = ToolEffect(exit_code=result.exit_code, trouble=result.trouble, changed=tuple(sorted(changed)))
    id, name = event.call.id, event.call.name
    return Message(role="tool", content=result.output, tool_call_id=id, tool_name=name, effect=effect)
