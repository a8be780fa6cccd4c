"""What a provider has to offer: one attempt at one request."""

from typing import Protocol

from agenthard.models.request import Completion, Reply, Request


class Provider(Protocol):
    """A service that answers requests. It never retries and never caches; agenthard.models.client does both."""

    async def complete(self, request: Request, timeout: float) -> Reply:
        """Send the request once.

        Args:
            request: What is asked.
            timeout: Seconds until it is given up.

        Returns:
            The reply.

        Raises:
            ModelError: One of agenthard.models.errors, which says whether another attempt is worth while.
        """
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


class Model(Protocol):
    """Whatever answers requests with all that belongs to it: cache, limits, retries, budget (models.client)."""

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Answer a request.

        Args:
            request: What is asked.
            purpose: Who pays: ``agent``, ``user`` or ``judge``.
            owner: What the request is for, such as the id of an episode; it groups transcripts and costs.

        Returns:
            The reply with what it took.

        Raises:
            ModelError: No reply could be had.
        """
        ...
