"""Gemini's batches of generateContent."""

from pathlib import Path
from typing import Any

from agenthard.models.batch.progress import Progress, State
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import attempt, read
from agenthard.models.providers.google import close_google_sdk, google_sdk
from agenthard.taxonomy.files import naming

_STATES: dict[str, State] = {
    "JOB_STATE_SUCCEEDED": "ended",
    "JOB_STATE_PARTIALLY_SUCCEEDED": "ended",
    "JOB_STATE_CANCELLED": "ended",
    "JOB_STATE_EXPIRED": "ended",
    "JOB_STATE_FAILED": "failed",
}


class GoogleBatches:
    """Batches of one model."""

    def __init__(self, destination: Destination, timeout: float) -> None:
        """Create the SDK client; nothing is sent.

        Args:
            destination: The model and its key.
            timeout: Timeout of one request, in seconds.
        """
        from agenthard.models.providers.http import MAX_BATCH_BYTES

        self._to, self._timeout = destination, timeout
        self._sdk, self._http = google_sdk(destination, MAX_BATCH_BYTES)

    async def submit(self, file: Path, tag: str) -> str:
        """Upload a file and start its batch (agenthard.models.batch.service)."""

        async def send() -> str:
            uploaded = await self._sdk.aio.files.upload(
                file=file, config={"mime_type": "application/jsonl", "display_name": tag}
            )
            batch = await self._sdk.aio.batches.create(
                model=self._to.name.name, src=uploaded.name or "", config={"display_name": tag}
            )
            return batch.name or ""

        return await attempt(send, self._timeout, self._to)

    async def find(self, tag: str) -> str | None:
        """Find a batch by its tag."""

        async def send() -> str | None:
            async for batch in await self._sdk.aio.batches.list(config={"page_size": 100}):
                if batch.display_name == tag:
                    return batch.name
            return None

        return await attempt(send, self._timeout, self._to)

    async def progress(self, batch: str) -> Progress:
        """Return the progress of a batch."""
        found = await self._get(batch)
        return read(lambda: self._progress(found), self._to)

    def _progress(self, found: Any) -> Progress:
        state = found.state.value if found.state else "unknown"
        reason = found.error.message if found.error and found.error.message else ""
        counts = found.completion_stats
        return Progress(
            state=_STATES.get(state, "running"),
            message=self._to.quote(f"{state}: {reason}" if reason else state),
            done=(counts and counts.successful_count) or 0,
            failed=(counts and counts.failed_count) or 0,
        )

    async def download(self, batch: str, to: Path) -> None:
        """Append answers and errors to a file."""
        found = await self._get(batch)
        name = found.dest.file_name if found.dest else None
        if not name:
            return
        with naming(to), to.open("ab") as stream:

            async def send() -> None:
                with naming(to):
                    await self._sdk.aio.files.download(file=name, destination=stream)

            await attempt(send, self._timeout, self._to)
            stream.write(b"\n")

    async def cancel(self, batch: str) -> None:
        """Ask the provider to cancel a batch."""
        await attempt(lambda: self._sdk.aio.batches.cancel(name=batch), self._timeout, self._to)

    async def close(self) -> None:
        """Close the connections."""
        await close_google_sdk(self._sdk, self._http)

    async def _get(self, batch: str) -> Any:
        return await attempt(lambda: self._sdk.aio.batches.get(name=batch), self._timeout, self._to)
