"""What the tests of all providers share."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from agenthard.models.model_file import ModelFile
from agenthard.models.providers import provider_for
from agenthard.models.request import Call, ChatMessage, Image, Provider, Request, Tool
from tests.loopback import Loopback

APIS = ("chat", "responses", "gemini")
SECONDS = 30.0
WEATHER = Tool(
    name="weather",
    description="Says how the weather is.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
PIXEL = Image(
    media_type="image/png",
    data="iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
)


def model_file(api: str, server: Loopback, model: str = "", **settings: Any) -> ModelFile:
    if api == "gemini":
        return ModelFile(name=f"google/{model or 'gemini-3-pro'}@{server.url}", **settings)
    return ModelFile.model_validate(
        {"name": f"compatible/{model or 'org/model'}@{server.openai_url}", "api": api, **settings}
    )


@asynccontextmanager
async def provider(file: ModelFile) -> AsyncIterator[Provider]:
    made = provider_for(file)
    try:
        yield made
    finally:
        await made.close()


Ask = Callable[..., Request]


def ask(file: ModelFile, *messages: ChatMessage, **settings: Any) -> Request:
    talk = messages or (ChatMessage(role="user", text="Hello"),)
    return Request.model_validate({"model": file.name, "messages": talk, **settings})


def user(text: str, **more: Any) -> ChatMessage:
    return ChatMessage(role="user", text=text, **more)


def answer(call: Call, text: str) -> ChatMessage:
    return ChatMessage(role="tool", call_id=call.id, tool_name=call.name, text=text)
