"""Names of models: ``openai/NAME``, ``google/NAME[@BASE_URL]``, ``compatible/NAME@BASE_URL``."""

import re
from typing import Literal, get_args
from urllib.parse import urlsplit

from agenthard.models.errors import ConfigurationError
from agenthard.taxonomy.record import Record

ProviderName = Literal["openai", "google", "compatible"]

_HOME = {"openai": "https://api.openai.com/v1", "google": "https://generativelanguage.googleapis.com"}
_KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "compatible": ("COMPATIBLE_API_KEY",),
}
_FORMS = "openai/NAME, google/NAME, google/NAME@BASE_URL or compatible/NAME@BASE_URL"


class ModelName(Record):
    """A model and its server. Only the name determines the server: no environment variable redirects it."""

    provider: ProviderName
    """Protocol: OpenAI's (openai, compatible) or Gemini's (google)."""
    name: str
    """Name at the provider; it may contain slashes."""
    base_url: str
    """Base URL of the server, without a trailing slash."""

    def __str__(self) -> str:
        """Return the full name, as `parse_name` reads it."""
        where = "" if self.base_url == _HOME.get(self.provider) else f"@{self.base_url}"
        return f"{self.provider}/{self.name}{where}"

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Environment variables for the key; the first one that is set is used."""
        return _KEYS[self.provider]


def parse_name(text: str) -> ModelName:
    """Read the full name of a model.

    Args:
        text: Such as ``compatible/Qwen/Qwen3-8B@http://localhost:8000/v1``; the base URL starts at the last ``@http``.

    Raises:
        ConfigurationError: It is not a valid name; the message says why, and lists the valid forms.

    >>> str(parse_name("compatible/Qwen/Qwen3-8B@http://localhost:8000/v1/"))
    'compatible/Qwen/Qwen3-8B@http://localhost:8000/v1'
    >>> parse_name("openai/gpt-5").base_url
    'https://api.openai.com/v1'
    """
    provider, slash, rest = text.partition("/")
    if not slash or provider not in get_args(ProviderName):
        raise _wrong(text, f"{provider!r} is not a provider")
    name, at, url = rest.rpartition("@http")
    if not at:
        name, base_url = rest, _HOME.get(provider)
    elif provider == "openai":
        raise _wrong(text, "openai/NAME takes no base URL; use compatible/NAME@BASE_URL for another server")
    else:
        base_url = _base_url(text, f"http{url}")
    if base_url is None:
        raise _wrong(text, "the base URL is missing, such as @http://localhost:8000/v1")
    if not re.fullmatch(r"[!-~]+", name):
        raise _wrong(text, "NAME is empty, or contains spaces or non-ASCII characters")
    return ModelName.model_validate({"provider": provider, "name": name, "base_url": base_url})


def _base_url(text: str, url: str) -> str:
    if "@" in url:
        # Not shown: the text before the @ may be a password.
        raise ConfigurationError(
            "the base URL of a model contains a user name or password; put the key into the environment instead"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _wrong(text, f"the base URL cannot be read: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise _wrong(text, "the base URL is not of the form http://HOST[:PORT][/PATH]")
    if parts.query or parts.fragment or not re.fullmatch(r"[!-~]+", url):
        raise _wrong(text, "the base URL contains more than http://HOST[:PORT][/PATH]")
    return url.rstrip("/")


def _wrong(text: str, why: str) -> ConfigurationError:
    return ConfigurationError(f"{text!r} is not a valid model name: {why}. Valid names are {_FORMS}")
