"""Providers: one class for each interface, each a translation of models.request into what an SDK sends, and back.

An SDK is imported when its provider is made, never with this package.
"""

from agenthard.models.model_file import ModelFile
from agenthard.models.provider import Provider


def provider_for(file: ModelFile) -> Provider:
    """Make the provider of a model. It belongs to the event loop that first uses it.

    Args:
        file: The model and how it is asked.

    Raises:
        MissingKeyError: The environment holds no key for it; nothing was sent.
        ConfigurationError: What the environment holds cannot be a key.
    """
    from agenthard.models.providers.destination import Destination

    destination = Destination.of(file)
    if file.parsed_name.provider == "google":
        from agenthard.models.providers.google import GoogleProvider

        return GoogleProvider(destination)
    if file.api == "responses":
        from agenthard.models.providers.openai_responses import ResponsesProvider

        return ResponsesProvider(file, destination)
    from agenthard.models.providers.openai_chat import ChatProvider

    return ChatProvider(file, destination)
