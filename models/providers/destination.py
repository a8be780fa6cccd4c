"""Where requests go, and with which key; and how to speak of it without showing the key."""

import os
import re
from dataclasses import dataclass, field

from agenthard.models.errors import ConfigurationError, MissingKeyError
from agenthard.models.model_file import ModelFile
from agenthard.models.names import ModelName
from agenthard.taxonomy.printable import printable

_NO_KEY = "none"
"""What a server that wants no key gets."""
_LONGEST_MESSAGE = 600


@dataclass(frozen=True)
class Destination:
    """A model, its place and its key."""

    name: ModelName
    """The model."""
    key: str = field(repr=False)
    """The key, which no text shows."""
    key_variable: str
    """Variable of the environment that the key is from."""

    @classmethod
    def of(cls, file: ModelFile) -> "Destination":
        """Find the key of a model in the environment.

        Raises:
            MissingKeyError: There is none, and one is needed.
            ConfigurationError: It holds characters that no key has.
        """
        name = file.parsed_name
        variables = (file.key_env,) if file.key_env else name.key_variables
        for variable in variables:
            key = os.environ.get(variable, "").strip()
            if key:
                if not re.fullmatch(r"[!-~]+", key):
                    raise ConfigurationError(
                        f"the key in ${variable} holds blanks, line breaks or other odd characters"
                    )
                return cls(name, key, variable)
        if name.provider == "compatible" and not file.key_env:
            return cls(name, _NO_KEY, variables[0])
        raise MissingKeyError(f"{name} needs a key: set {' or '.join(f'${v}' for v in variables)} and start again")

    @classmethod
    def without_key(cls, file: ModelFile) -> "Destination":
        """The destination as a reader of answers knows it, who sends nothing."""
        return cls(file.parsed_name, _NO_KEY, "")

    def quote(self, text: object) -> str:
        """What a provider said, on one line, not too long, without control characters and without the key."""
        words = printable(" ".join(str(text).split()))
        if self.key != _NO_KEY:
            words = words.replace(self.key, "[key]")
        return words if len(words) <= _LONGEST_MESSAGE else f"{words[:_LONGEST_MESSAGE]} ..."
