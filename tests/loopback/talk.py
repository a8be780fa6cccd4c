"""What a model is told and what it says, whatever the protocol; a brain turns the one into the other."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Finish = Literal["stop", "tool_calls", "length", "refusal"]


class Refused(Exception):
    """The server answers with an error of the protocol instead of a reply."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


@dataclass(frozen=True)
class Called:
    name: str
    arguments: str | dict[str, Any]
    """Text is sent as it is where the protocol sends text, so that a brain can write broken JSON."""

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Said:
    role: str
    """system, user, assistant or tool."""
    text: str = ""
    calls: tuple[Called, ...] = ()
    tool: str = ""
    """For a tool's answer: the name of the tool."""
    images: tuple[str, ...] = ()
    """Media type and base64 data of each picture, as ``image/png;DATA``."""


@dataclass(frozen=True)
class Asked:
    """A request as a brain sees it."""

    protocol: Literal["chat", "responses", "gemini"]
    model: str
    said: tuple[Said, ...]
    tools: tuple[dict[str, Any], ...] = ()
    """name, description and parameters of each."""
    tool_choice: str = "auto"
    schema: dict[str, Any] | None = None
    seed: int | None = None
    max_tokens: int | None = None
    body: dict[str, Any] = field(default_factory=dict)
    """The JSON of the request as it came."""

    @property
    def turn(self) -> int:
        """Replies given so far in this conversation."""
        return sum(said.role == "assistant" for said in self.said)

    @property
    def digest(self) -> str:
        """Hash of the whole request, the same for the same request."""
        words = json.dumps([self.protocol, self.model, self.body], sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()


@dataclass(frozen=True)
class Answer:
    text: str = ""
    calls: tuple[Called, ...] = ()
    finish: Finish | None = None
    """None: tool_calls when there are calls, else stop."""
    reasoning: str = ""
    usage: dict[str, int] | None = None
    """prompt, completion, cached, reasoning; None: counted from the words (`count`)."""

    @property
    def ending(self) -> Finish:
        return self.finish or ("tool_calls" if self.calls else "stop")


Brain = Callable[[Asked], Answer]


def count(asked: Asked, answer: Answer) -> dict[str, int]:
    """Tokens of a reply: one for each four characters begun; all but the last message count as cached from 256 on."""
    if answer.usage is not None:
        return {name: answer.usage.get(name, 0) for name in ("prompt", "completion", "cached", "reasoning")}
    sizes = [_tokens(said.text + "".join(call.name + call.text for call in said.calls)) for said in asked.said]
    tools = _tokens(json.dumps(asked.tools)) if asked.tools else 0
    before = tools + sum(sizes[:-1])
    thoughts = _tokens(answer.reasoning)
    words = _tokens(answer.text) + sum(_tokens(call.name + call.text) for call in answer.calls)
    return {
        "prompt": tools + sum(sizes),
        "completion": thoughts + words,
        "cached": before if before >= 256 else 0,
        "reasoning": thoughts,
    }


def _tokens(text: str) -> int:
    return -(-len(text) // 4)
