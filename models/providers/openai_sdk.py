"""What OpenAI's two interfaces have in common: the SDK's client, and one post."""

import json
from typing import Any

from agenthard.models.errors import BadRequestError
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import CONNECT_SECONDS, attempt
from agenthard.models.request import ChatMessage, Image, Reply, Request


class OpenAISDK:
    """A client of OpenAI's SDK that never tries twice."""

    def __init__(self, destination: Destination) -> None:
        """Make it; nothing is sent."""
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
            api: ``chat`` or ``responses``.
            body: What the interface takes, as JSON values.
            extra: Further fields of the body; they win.
            timeout: Seconds until it is given up.

        Returns:
            The answer's JSON, as it came.

        Raises:
            ModelError: What went wrong.
        """
        import httpx2

        path = "/chat/completions" if api == "chat" else "/responses"
        limit = httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))

        async def send() -> Any:
            # The SDK's methods would walk through every tool and message once more: half of a request's CPU time.
            answer = await self._sdk.post(
                path, cast_to=httpx2.Response, body={**body, **extra}, options={"timeout": limit}
            )
            return answer.json()

        return await attempt(send, timeout, self._to)

    async def close(self) -> None:
        """Close its connections."""
        await self._sdk.close()


def arguments_text(arguments: Any) -> str:
    """Arguments of a call as text; some servers send the object itself."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def refusal_of(error: BadRequestError, request: Request) -> Reply | None:
    """The reply that some servers dress up as an error: a content filter that stopped the request."""
    words = str(error)
    if "content_filter" in words or "content management policy" in words or "was flagged as potentially" in words:
        return Reply(message=ChatMessage(role="assistant", text=words), finish="refusal", model_version=request.model)
    return None


def picture(image: Image) -> str:
    """A picture as a data URL."""
    return f"data:{image.media_type};base64,{image.data}"
