"""Requests to models and their replies, the same for every provider; and the protocols that answer them."""

import hashlib
import json
from typing import Any, Literal, Protocol

from pydantic import Field, model_validator

from agenthard.taxonomy.record import Record

Role = Literal["system", "user", "assistant", "tool"]


class Tool(Record):
    """A function that the model may call."""

    name: str
    """Name of the function."""
    description: str = ""
    """Description for the model."""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema of the arguments object."""


class Call(Record):
    """A tool call as the model wrote it."""

    id: str
    """Id that the answer of the tool refers to."""
    name: str
    """Name of the tool, which need not be one of the offered tools."""
    arguments: str
    """JSON text of the arguments, as the model wrote it: it may be cut off or not valid JSON."""


class Image(Record):
    """An image shown to the model."""

    media_type: Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
    """Type of the file."""
    data: str
    """Content of the file in base64."""


class ChatMessage(Record):
    """One message of the conversation with a model."""

    role: Role
    """Author of the message; "tool" is the answer to a call."""
    text: str = ""
    """Text of the message."""
    images: tuple[Image, ...] = ()
    """Images shown by the user."""
    calls: tuple[Call, ...] = ()
    """Tool calls of the assistant."""
    call_id: str | None = None
    """For a tool message: the id of the call it answers."""
    tool_name: str | None = None
    """For a tool message: the name of the tool."""
    reasoning: str = ""
    """Reasoning that the provider shows; sent back only where the provider requires it."""
    provider_state: str | None = None
    """State that the provider expects back with this message, as JSON text (thought signatures, reasoning items)."""

    @model_validator(mode="after")
    def _parts_fit_the_role(self) -> "ChatMessage":
        if self.calls and self.role != "assistant":
            raise ValueError(f"only an assistant calls tools, not a {self.role}")
        if (self.call_id is not None) != (self.role == "tool"):
            raise ValueError("call_id belongs to tool messages, and each of them needs it")
        return self


class Sampling(Record):
    """Sampling parameters. None leaves the choice to the provider."""

    temperature: float | None = None
    """0 for the most likely reply."""
    top_p: float | None = None
    """Probability mass of the tokens to sample from."""
    max_output_tokens: int | None = Field(default=None, ge=1)
    """Maximum tokens of a reply, reasoning included where the provider counts it."""
    seed: int | None = None
    """Seed, where the provider supports one."""
    thinking_tokens: int | None = Field(default=None, ge=0)
    """Reasoning budget, where the provider accepts a number."""
    reasoning_effort: str | None = None
    """Reasoning effort, where the provider accepts a level (low, medium, high ...)."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further parameters for this provider, passed on unchanged."""


class OutputSchema(Record):
    """A JSON object that the reply must be."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    """Name of the schema."""
    json_schema: dict[str, Any]
    """JSON Schema of the object."""


class Request(Record):
    """Everything that determines a reply; nothing else may affect what is sent."""

    model: str
    """Full name of the model, such as ``openai/NAME`` or ``compatible/NAME@BASE_URL`` (agenthard.models.names)."""
    messages: tuple[ChatMessage, ...]
    """The conversation so far."""
    tools: tuple[Tool, ...] = ()
    """Functions that the model may call."""
    tool_choice: Literal["auto", "none", "required"] = "auto"
    """Whether the model may, must not or must call a tool."""
    output: OutputSchema | None = None
    """Format of the reply; None for free text."""
    sampling: Sampling = Sampling()
    """Sampling parameters."""
    dialect: str = ""
    """Protocol settings that differ from the default (ModelFile.addressed); replies depend on them."""
    sample: int = 0
    """Number of the request among identical ones; never sent, it separates repeated samples in the cache."""

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
    """Tokens of the reply, reasoning included."""
    cached_tokens: int = Field(default=0, ge=0)
    """Tokens of the request that the provider had cached."""
    reasoning_tokens: int = Field(default=0, ge=0)
    """Reasoning tokens of the reply."""

    def __add__(self, other: "Usage") -> "Usage":
        """Adds up the tokens of two replies."""
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


Finish = Literal["stop", "tool_calls", "length", "refusal"]
"""Why a reply ended: complete, calls tools, cut off at the length limit, or refused (content filters included)."""


class Reply(Record):
    """The answer of a model."""

    message: ChatMessage
    """Its text and its tool calls."""
    finish: Finish
    """Why it ended."""
    usage: Usage = Usage()
    """Token usage."""
    usage_stated: bool = True
    """Whether the provider stated the usage; if not, `usage` is an upper bound."""
    model_version: str = ""
    """Version of the model, as the provider states it."""


class Completion(Record):
    """A reply and its cost."""

    reply: Reply
    """The answer."""
    cached: bool = False
    """Whether it came from our cache, at no cost now."""
    attempts: int = 1
    """Requests sent for it; 0 when it was cached."""
    seconds: float = 0.0
    """From the first attempt to the reply."""
    cost: float | None = None
    """Cost of the reply in the currency of the price table, paid now or when the reply was cached; None when the model
    has no price. The ledger has what was spent."""


class Provider(Protocol):
    """A service that answers requests. It never retries and never caches; agenthard.models.client does both."""

    async def complete(self, request: Request, timeout: float) -> Reply:
        """Send the request once.

        Args:
            request: The request.
            timeout: Timeout in seconds.

        Returns:
            The reply.

        Raises:
            ModelError: An error of agenthard.models.errors, which says whether a retry can help.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class Model(Protocol):
    """Answers requests with everything around a provider: cache, limits, retries, budget (agenthard.models.client)."""

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Answer a request.

        Args:
            request: The request.
            purpose: Purpose of the request in the ledger: ``agent``, ``user`` or ``judge``.
            owner: Owner of the request in the ledger, such as the id of an episode; it groups transcripts and costs.

        Returns:
            The reply with its cost.

        Raises:
            ModelError: No reply.
        """
        ...
