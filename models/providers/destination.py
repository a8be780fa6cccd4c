"""The destination of requests: server, model and key; and messages about it that never show the key."""

import os
import re
from dataclasses import dataclass, field

from agenthard.models.errors import ConfigurationError, MissingKeyError
from agenthard.models.model_file import ModelFile
from agenthard.models.names import ModelName
from agenthard.taxonomy.printable import printable

_NO_KEY = "none"
"""Placeholder for servers that need no key."""
_MAX_MESSAGE = 600


@dataclass(frozen=True)
class Destination:
    """A model, its server and its key."""

    name: ModelName
    """The model."""
    key: str = field(repr=False)
    """The key; never shown."""
    key_variable: str
    """Environment variable of the key."""

    @classmethod
    def of(cls, file: ModelFile) -> "Destination":
        """Find the key of a model in the environment.

        Raises:
            MissingKeyError: There is none, and one is needed.
            ConfigurationError: It contains characters that keys do not have.
        """
        name = file.parsed_name
        variables = (file.key_env,) if file.key_env else name.key_variables
        for variable in variables:
            key = os.environ.get(variable, "").strip()
            if key:
                if not re.fullmatch(r"[!-~]+", key):
                    raise ConfigurationError(
                        f"the key in ${variable} contains spaces, line breaks or other invalid characters"
                    )
                return cls(name, key, variable)
        if name.provider == "compatible" and not file.key_env:
            return cls(name, _NO_KEY, variables[0])
        raise MissingKeyError(f"{name} needs a key: set {' or '.join(f'${v}' for v in variables)} and run again")

    @classmethod
    def without_key(cls, file: ModelFile) -> "Destination":
        """Return the destination without a key, for reading answers; it sends nothing."""
        return cls(file.parsed_name, _NO_KEY, "")

    def quote(self, text: object) -> str:
        """Quote a provider: on one line, shortened, without control characters and without the key."""
        quoted = printable(" ".join(str(text).split()))
        if self.key != _NO_KEY:
            quoted = quoted.replace(self.key, "[key]")
        return quoted if len(quoted) <= _MAX_MESSAGE else f"{quoted[:_MAX_MESSAGE]} ..."
