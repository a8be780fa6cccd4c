"""What a provider's batch service has to offer."""

from pathlib import Path
from typing import Literal, Protocol

from agenthard.models.errors import ConfigurationError
from agenthard.models.model_file import ModelFile
from agenthard.models.providers.destination import Destination
from agenthard.taxonomy.record import Record

State = Literal["running", "ended", "failed"]
"""running: answers are still to come; ended: whatever there will be is there, also after expiry or cancellation;
failed: the whole batch was refused, and nothing was answered."""


class Progress(Record):
    """How far a batch is."""

    state: State
    """Whether there is something to wait for."""
    words: str
    """The provider's own word for its state, and its reason where it gives one."""
    done: int = 0
    """Requests answered so far, as far as the provider says."""
    failed: int = 0
    """Requests that ended in an error so far."""


class BatchService(Protocol):
    """A provider's batches. Every method raises agenthard.models.errors.ModelError when it does not work out."""

    async def submit(self, file: Path, tag: str) -> str:
        """Upload a file of requests and begin a batch of it, known to the provider by a tag of ours.

        Returns:
            The provider's id of the batch.
        """
        ...

    async def find(self, tag: str) -> str | None:
        """Return the id of the batch with this tag, if the provider has one."""
        ...

    async def progress(self, batch: str) -> Progress:
        """Say how far a batch is."""
        ...

    async def download(self, batch: str, to: Path) -> None:
        """Append everything that was answered, errors included, to a file, line by line."""
        ...

    async def cancel(self, batch: str) -> None:
        """Ask the provider to stop; what is answered by then can be downloaded."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


def service_for(file: ModelFile) -> BatchService:
    """Make the batch service of a model. It belongs to the event loop that first uses it.

    Raises:
        MissingKeyError: The environment holds no key for it; nothing was sent.
        ConfigurationError: What the environment holds cannot be a key, or a setting does not fit batches.
    """
    if file.text_calls:
        raise ConfigurationError(
            f"{file.label}: text_calls is for servers that answer at once; leave it out for batches"
        )
    destination = Destination.of(file)
    if file.parsed_name.provider == "google":
        from agenthard.models.batch.google_batches import GoogleBatches

        return GoogleBatches(destination, file.timeout)
    from agenthard.models.batch.openai_batches import OpenAIBatches

    return OpenAIBatches(file, destination)
