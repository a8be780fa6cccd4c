"""Reading a mapping file."""

from pathlib import Path

import yaml
from pydantic import ValidationError

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.mapping.mapping import Mapping
from agenthard.audit.sources.mapping.nearest import nearest, unknown_key
from agenthard.taxonomy.yaml_text import read_yaml

FILE_NAME = "mapping.yaml"
"""Name under which a mapping is found when a folder is given."""


def load_mapping(path: Path) -> Mapping:
    """Read and check a mapping file.

    Raises:
        SourceError: when it is no YAML, or a key is unknown, missing or of the wrong type; the message names the key,
            and for an unknown one the nearest that is known.
    """
    try:
        written = read_yaml(path)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SourceError(f"{path}: cannot read the mapping as YAML: {error}") from error
    if not isinstance(written, dict):
        raise SourceError(f"{path}: a mapping is a YAML object with the keys {', '.join(Mapping.model_fields)}")
    try:
        return Mapping.model_validate(written)
    except ValidationError as error:
        lines = [_explained(item["loc"], item["type"], item["msg"]) for item in error.errors()]
        raise SourceError(f"{path}: {'; '.join(lines)}. See docs/sources/mapping.md") from error


def _explained(loc: tuple[int | str, ...], kind: str, message: str) -> str:
    place = ".".join(str(part) for part in loc)
    if kind == "extra_forbidden":
        known = unknown_key(Mapping, loc)
        return f"unknown key {place!r}{nearest(str(loc[-1]), known)}"
    if kind == "missing":
        return f"the key {place!r} is missing"
    return f"{place or 'mapping'}: {message.removeprefix('Value error, ')}"
