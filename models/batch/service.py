"""The interface of a provider's batch service."""

from pathlib import Path
from typing import Protocol

from agenthard.models.batch.progress import Progress
from agenthard.models.errors import ConfigurationError
from agenthard.models.model_file import ModelFile
from agenthard.models.providers.destination import Destination


class BatchService(Protocol):
    """The batches of one model. Every method raises agenthard.models.errors.ModelError when it fails."""

    async def submit(self, file: Path, tag: str) -> str:
        """Upload a file of requests and start a batch, which the provider stores together with our tag.

        Returns:
            The provider's id of the batch.
        """
        ...

    async def find(self, tag: str) -> str | None:
        """Return the id of the batch with this tag, if the provider has one."""
        ...

    async def progress(self, batch: str) -> Progress:
        """Return the progress of a batch."""
        ...

    async def download(self, batch: str, to: Path) -> None:
        """Append all answers, errors included, to a file, one per line."""
        ...

    async def cancel(self, batch: str) -> None:
        """Ask the provider to cancel a batch; answers that exist by then can be downloaded."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def service_for(file: ModelFile) -> BatchService:
    """Create the batch service of a model. It belongs to the event loop that first uses it.

    Raises:
        MissingKeyError: The environment holds no key for it; nothing was sent.
        ConfigurationError: The value in the environment cannot be a key, or a setting does not fit batches.
    """
    if file.text_calls:
        raise ConfigurationError(f"{file.label}: batches do not support text_calls; remove it from the model file")
    destination = Destination.of(file)
    if file.parsed_name.provider == "google":
        from agenthard.models.batch.google_batches import GoogleBatches

        return GoogleBatches(destination, file.timeout)
    from agenthard.models.batch.openai_batches import OpenAIBatches

    return OpenAIBatches(file, destination)
