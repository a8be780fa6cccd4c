"""Shared code of OpenAI's two interfaces: the SDK client, and helpers for requests and replies."""

import json
from typing import Any

from agenthard.models.errors import BadRequestError
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import CONNECT_SECONDS, attempt
from agenthard.models.request import ChatMessage, Image, Reply, Request


class OpenAISDK:
    """A client of OpenAI's SDK without retries."""

    def __init__(self, destination: Destination) -> None:
        """Create the client; nothing is sent."""
        import openai

        from agenthard.models.providers.http import LimitedClient

        self._to = destination
        self._http = LimitedClient()
        self._sdk = openai.AsyncOpenAI(
            api_key=destination.key, base_url=destination.name.base_url, max_retries=0, http_client=self._http
        )

    async def post(self, api: str, body: dict[str, Any], extra: dict[str, Any], timeout: float) -> Any:
        """Send a request once.

        Args:
            api: ``chat``, ``responses`` or ``embeddings``.
            body: The request in the format of the interface.
            extra: Further fields of the body, which take precedence.
            timeout: Timeout in seconds.

        Returns:
            The JSON of the answer.

        Raises:
            ModelError: The request failed.
        """
        import httpx2

        path = "/chat/completions" if api == "chat" else f"/{api}"
        limit = httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))

        async def send() -> Any:
            # The methods of the SDK traverse every tool and message again: half of the CPU time of a request.
            answer = await self._sdk.post(
                path, cast_to=httpx2.Response, body={**body, **extra}, options={"timeout": limit}
            )
            return answer.json()

        return await attempt(send, timeout, self._to)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()


def arguments_text(arguments: Any) -> str:
    """Return the arguments of a call as text; some servers send the object itself."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def refusal_of(error: BadRequestError, request: Request) -> Reply | None:
    """Return a refusal if the error is one: some servers report a content filter as an error."""
    text = str(error)
    if "content_filter" in text or "content management policy" in text or "was flagged as potentially" in text:
        return Reply(message=ChatMessage(role="assistant", text=text), finish="refusal", model_version=request.model)
    return None


def data_url(image: Image) -> str:
    """Return an image as a data URL."""
    return f"data:{image.media_type};base64,{image.data}"
