"""What is asked of a model and what it answers, the same for every provider."""

import hashlib
import json
from typing import Any, Literal

from pydantic import Field, model_validator

from agenthard.taxonomy.record import Record

Role = Literal["system", "user", "assistant", "tool"]


class Tool(Record):
    """A function that the model may call."""

    name: str
    """Name the model calls."""
    description: str = ""
    """What it does, for the model."""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema of the arguments object."""


class Call(Record):
    """A tool call as the model wrote it."""

    id: str
    """Id that the tool's answer refers to."""
    name: str
    """Name of the tool, which may be none of those offered."""
    arguments: str
    """JSON text of the arguments, as the model wrote it: it may be cut off or no JSON at all."""


class Image(Record):
    """A picture shown to the model."""

    media_type: Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
    """What kind of file it is."""
    data: str
    """Its bytes in base64."""


class ChatMessage(Record):
    """One message of the conversation with a model."""

    role: Role
    """Who speaks; "tool" is the answer to a call."""
    text: str = ""
    """What is said."""
    images: tuple[Image, ...] = ()
    """Pictures shown by the user."""
    calls: tuple[Call, ...] = ()
    """Tool calls of the assistant."""
    call_id: str | None = None
    """For a tool message: the id of the call it answers."""
    tool_name: str | None = None
    """For a tool message: the name of the tool."""
    reasoning: str = ""
    """Thoughts that the provider shows; sent back only as the provider asks for them."""
    provider_state: str | None = None
    """What the provider wants back unchanged with this message, as JSON text (thought signatures, reasoning items)."""

    @model_validator(mode="after")
    def _parts_fit_the_role(self) -> "ChatMessage":
        if self.calls and self.role != "assistant":
            raise ValueError(f"only an assistant calls tools, not a {self.role}")
        if (self.call_id is not None) != (self.role == "tool"):
            raise ValueError("call_id belongs to tool messages, and each of them needs it")
        return self


class Sampling(Record):
    """How replies are drawn. None leaves a choice to the provider."""

    temperature: float | None = None
    """0 for the likeliest reply."""
    top_p: float | None = None
    """Share of probability that is drawn from."""
    max_output_tokens: int | None = Field(default=None, ge=1)
    """Tokens a reply may have, thoughts included where the provider counts them so."""
    seed: int | None = None
    """Seed, where the provider takes one."""
    thinking_tokens: int | None = Field(default=None, ge=0)
    """Budget for thoughts, where the provider takes a number."""
    reasoning_effort: str | None = None
    """Effort for thoughts, where the provider takes a word (low, medium, high ...)."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further parameters for this provider, passed on as they are."""


class OutputSchema(Record):
    """A JSON object that the reply has to be."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    """What it is called."""
    json_schema: dict[str, Any]
    """JSON Schema of the object."""


class Request(Record):
    """Everything that decides a reply; nothing else may change what is sent."""

    model: str
    """Full name of the model, such as ``openai/NAME`` or ``compatible/NAME@BASE_URL`` (agenthard.models.names)."""
    messages: tuple[ChatMessage, ...]
    """The conversation so far."""
    tools: tuple[Tool, ...] = ()
    """Functions on offer."""
    tool_choice: Literal["auto", "none", "required"] = "auto"
    """Whether the model may, must not or must call a tool."""
    output: OutputSchema | None = None
    """What the reply has to be; None for free text."""
    sampling: Sampling = Sampling()
    """How the reply is drawn."""
    dialect: str = ""
    """How the model is spoken to where that is not the usual way (ModelFile.addressed); replies depend on it."""
    sample: int = 0
    """Number of the reply among those to the same words; never sent, it keeps repeated samples apart in the cache."""

    @property
    def digest(self) -> str:
        """SHA-256 of the whole request in hexadecimal: the key of its reply in the cache."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()


class Usage(Record):
    """Tokens of one reply, as the provider counted them."""

    prompt_tokens: int = Field(default=0, ge=0)
    """Tokens of the request, cached ones included."""
    completion_tokens: int = Field(default=0, ge=0)
    """Tokens of the reply, thoughts included."""
    cached_tokens: int = Field(default=0, ge=0)
    """Tokens of the request that the provider had cached."""
    reasoning_tokens: int = Field(default=0, ge=0)
    """Tokens of the reply that were thoughts."""

    def __add__(self, other: "Usage") -> "Usage":
        """Adds up the tokens of two replies."""
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


Finish = Literal["stop", "tool_calls", "length", "refusal"]
"""Why a reply ended: said all, calls tools, cut off at the length limit, or refused (content filters included)."""


class Reply(Record):
    """A model's answer."""

    message: ChatMessage
    """What it said and which tools it calls."""
    finish: Finish
    """Why it ended."""
    usage: Usage = Usage()
    """Tokens it took."""
    usage_stated: bool = True
    """Whether the provider said so; where it did not, `usage` is the most that the reply can have taken."""
    model_version: str = ""
    """What the provider says the model is."""


class Completion(Record):
    """A reply, and what it took to get it."""

    reply: Reply
    """The answer."""
    cached: bool = False
    """True when it came from our cache and nothing is paid now."""
    attempts: int = 1
    """Requests that were sent for it; 0 when it was cached."""
    seconds: float = 0.0
    """From the first attempt to the reply."""
    cost: float | None = None
    """What the reply costs, in the currency of the price table, whether it is paid now or was paid when the cache got
    it; None when the model has no price. What was spent is in the ledger."""
