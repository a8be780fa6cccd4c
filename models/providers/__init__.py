"""Providers: one class per interface, which translates requests and replies (agenthard.models.request) for an SDK.

An SDK is imported when its provider is created, never with this package.
"""

from agenthard.models.model_file import ModelFile
from agenthard.models.request import Provider


def provider_for(file: ModelFile) -> Provider:
    """Create the provider of a model. It belongs to the event loop that first uses it.

    Args:
        file: The model file.

    Raises:
        MissingKeyError: The environment holds no key for it; nothing was sent.
        ConfigurationError: The value in the environment cannot be a key.
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
