"""OpenAI's Batch API, which some other servers support too."""

from functools import partial
from pathlib import Path
from typing import Any

from agenthard.models.batch.progress import Progress, State
from agenthard.models.batch.wire import ENDPOINTS
from agenthard.models.model_file import ModelFile
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import attempt, read
from agenthard.taxonomy.files import naming

_TAG = "agenthard"
"""Key of our tag in a batch's metadata."""
_STATES: dict[str, State] = {"completed": "ended", "expired": "ended", "cancelled": "ended", "failed": "failed"}


class OpenAIBatches:
    """Batches of one model."""

    def __init__(self, file: ModelFile, destination: Destination) -> None:
        """Create the SDK client; nothing is sent."""
        import openai

        from agenthard.models.providers.http import LimitedClient

        self._file, self._to = file, destination
        self._http = LimitedClient()
        self._sdk = openai.AsyncOpenAI(
            api_key=destination.key,
            base_url=destination.name.base_url,
            max_retries=4,
            timeout=file.timeout,
            http_client=self._http,
        )

    async def submit(self, file: Path, tag: str) -> str:
        """Upload a file and start its batch (agenthard.models.batch.service)."""

        async def send() -> str:
            uploaded = await self._sdk.files.create(file=file, purpose="batch")
            batch = await self._sdk.batches.create(
                input_file_id=uploaded.id,
                endpoint=ENDPOINTS[self._file.api],  # type: ignore[arg-type]
                completion_window="24h",
                metadata={_TAG: tag},
            )
            return batch.id

        return await attempt(send, self._file.timeout, self._to)

    async def find(self, tag: str) -> str | None:
        """Find a batch by its tag."""

        async def send() -> str | None:
            async for batch in self._sdk.batches.list(limit=100):
                if (batch.metadata or {}).get(_TAG) == tag:
                    return batch.id
            return None

        return await attempt(send, self._file.timeout, self._to)

    async def progress(self, batch: str) -> Progress:
        """Return the progress of a batch."""
        found = await self._retrieve(batch)
        return read(lambda: self._progress(found), self._to)

    def _progress(self, found: Any) -> Progress:
        reasons = [error.message or error.code or "" for error in (found.errors and found.errors.data) or ()]
        counts = found.request_counts
        return Progress(
            state=_STATES.get(found.status, "running"),
            message=self._to.quote(": ".join([found.status, "; ".join(reasons[:3])]) if reasons else found.status),
            done=counts.completed if counts else 0,
            failed=counts.failed if counts else 0,
        )

    async def download(self, batch: str, to: Path) -> None:
        """Append answers and errors to a file."""
        found = await self._retrieve(batch)
        for name in (found.output_file_id, found.error_file_id):
            if name:
                await attempt(partial(self._append, name, to), self._file.timeout, self._to)

    async def cancel(self, batch: str) -> None:
        """Ask the provider to cancel a batch."""
        await attempt(lambda: self._sdk.batches.cancel(batch), self._file.timeout, self._to)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    async def _retrieve(self, batch: str) -> Any:
        return await attempt(lambda: self._sdk.batches.retrieve(batch), self._file.timeout, self._to)

    async def _append(self, name: str, to: Path) -> None:
        from agenthard.models.providers.http import MAX_BATCH_BYTES, limited_bytes

        async with self._sdk.files.with_streaming_response.content(name) as answer:
            with naming(to), to.open("ab") as stream:
                async for part in limited_bytes(answer.http_response, MAX_BATCH_BYTES):
                    stream.write(part)
                stream.write(b"\n")
