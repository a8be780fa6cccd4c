"""Model files: a model, its sampling, its limits and its retries. A plain name is a file with default settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from agenthard.models.errors import ConfigurationError
from agenthard.models.limits import Limits
from agenthard.models.names import ModelName, parse_name
from agenthard.models.prices import Price
from agenthard.models.request import Request, Sampling
from agenthard.models.retry import RetryPolicy
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import YamlTextError, load_yaml, read_yaml_text

_SUFFIXES = (".yaml", ".yml")
_DIALECT = ("api", "system_role", "max_tokens_parameter", "return_reasoning")
"""Settings that affect what is sent, and are not part of a request."""


class ModelFile(Record):
    """All settings of one model."""

    name: str
    """Full name of the model (agenthard.models.names)."""
    label: str = ""
    """Name in reports; default: the full name."""
    api: Literal["chat", "responses"] = "chat"
    """Which of OpenAI's two interfaces to use; google has its own."""
    sampling: Sampling = Sampling()
    """Sampling parameters."""
    limits: Limits = Limits()
    """Rate limits."""
    timeout: float = Field(default=600.0, gt=0)
    """Timeout of one attempt, in seconds."""
    retries: RetryPolicy = RetryPolicy()
    """Number of attempts and waits between them."""
    key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """Environment variable that holds the key, instead of the default one. Never the key itself."""
    system_role: Literal["system", "developer", "user"] = "system"
    """Role of the system message; ``user`` for models whose template has no system message. Not for google."""
    max_tokens_parameter: Literal["max_tokens", "max_completion_tokens"] | None = None
    """Name of the length limit in the chat interface; None: max_completion_tokens for openai, else max_tokens."""
    text_calls: bool = False
    """Whether tool calls are also parsed from the text of a reply, for servers that do not parse the model's format."""
    return_reasoning: bool = False
    """Whether the chat interface gets the reasoning of a message back, in its original field, as DeepSeek requires."""
    price: Price | None = None
    """Price, which takes precedence over price tables; a file sets prompt, completion and date, and may set cached."""

    @field_validator("name")
    @classmethod
    def _name_in_full(cls, name: str) -> str:
        try:
            return str(parse_name(name))
        except ConfigurationError as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="after")
    def _settings_fit_the_provider(self) -> "ModelFile":
        if self.parsed_name.provider == "google" and self.api != "chat":
            raise ValueError("api selects one of OpenAI's interfaces; leave it out for google")
        if self.parsed_name.provider != "google" and self.sampling.thinking_tokens is not None:
            raise ValueError(
                "sampling.thinking_tokens: OpenAI's protocol has sampling.reasoning_effort instead; "
                "further parameters of a server go into sampling.extra"
            )
        if not self.label:
            object.__setattr__(self, "label", self.name)
        return self

    def addressed(self, request: Request) -> Request:
        """Return the request with the protocol settings of this file; replies are cached under it.

        >>> file = ModelFile(name="openai/a", api="responses")
        >>> file.addressed(Request(model="openai/a", messages=())).dialect
        'api=responses'
        """
        unusual = {name: getattr(self, name) for name in _DIALECT}
        changed = {name: value for name, value in unusual.items() if value != ModelFile.model_fields[name].default}
        return request.model_copy(update={"dialect": " ".join(f"{name}={value}" for name, value in changed.items())})

    @property
    def parsed_name(self) -> ModelName:
        """The name, parsed."""
        return parse_name(self.name)


def load_model(text: str) -> ModelFile:
    """Read a model from the command line.

    Args:
        text: Path of a model file, which ends in .yaml or .yml, or the full name of a model.

    Raises:
        ConfigurationError: The name is not valid, or the file cannot be read or has an invalid setting; the message
            names the file, the setting and its line.
    """
    if not text.endswith(_SUFFIXES):
        return ModelFile(name=str(parse_name(text)))
    try:
        content = read_yaml_text(Path(text))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not valid UTF-8"
        raise ConfigurationError(f"cannot read the model file {text}: {reason}") from None
    return _parse(content, text)


def _parse(text: str, file: str) -> ModelFile:
    try:
        settings, tree = load_yaml(text), yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        # Only the position: the lines around it may contain a key.
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise ConfigurationError(f"{file}, line {line}: not valid YAML: {error.problem}") from None
    except YamlTextError as error:
        raise ConfigurationError(f"{file}: not valid YAML: {error}") from None
    except yaml.YAMLError:
        raise ConfigurationError(f"{file}: not valid YAML") from None
    if not isinstance(settings, dict) or tree is None:
        raise ConfigurationError(f"{file}: a model file is a mapping with at least `name: openai/NAME`")
    price = settings.get("price")
    if isinstance(price, dict):
        settings["price"] = {"source": f"the model file {Path(file).name}", **price, "model": settings.get("name", "")}
    try:
        model = ModelFile.model_validate(settings)
    except ValidationError as error:
        faults = "; ".join(_fault(fault["loc"], fault["type"], fault["msg"], tree) for fault in error.errors())
        raise ConfigurationError(f"{file}: {faults}") from None
    return model if model.price is None else model.model_copy(update={"price": _named(model)})


def _named(model: ModelFile) -> Price | None:
    return model.price and model.price.model_copy(update={"model": model.name})


def _fault(place: Sequence[int | str], kind: str, message: str, tree: yaml.Node) -> str:
    """Describe what is wrong with a setting, without its value, which may be a key."""
    setting = ".".join(str(part) for part in place)
    if kind == "extra_forbidden":
        message = "unknown setting"
        if "key" in setting.lower():
            message += "; a file must not contain a key: set key_env to the environment variable that holds it"
    if setting == "key_env":
        message = "not the name of an environment variable; a file must not contain the key itself"
    where = f"line {_line(place, tree)}"
    return f"{where}, {setting}: {message}" if setting else message


def _line(place: Sequence[int | str], node: yaml.Node) -> int:
    """Return the line of a setting, or of its parent if the setting is missing."""
    line: int = node.start_mark.line + 1
    for part in place:
        found: Any = None
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == str(part)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            found = (node.value[part], node.value[part])
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line
