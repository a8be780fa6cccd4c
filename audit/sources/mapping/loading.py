"""Reading a mapping file."""

from pathlib import Path

from pydantic import ValidationError

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.mapping.mapping import Mapping
from agenthard.audit.sources.mapping.nearest import nearest, unknown_key
from agenthard.taxonomy.yaml_text import load_record

FILE_NAME = "mapping.yaml"
"""Name under which a mapping is found when a folder is given."""


def load_mapping(path: Path) -> Mapping:
    """Read and check a mapping file.

    Raises:
        SourceError: when it is no YAML, or a key is unknown, missing or of the wrong type; the message names the key,
            and for an unknown one the nearest that is known.
    """
    return load_record(path, Mapping, error=SourceError, docs="docs/sources/mapping.md", explain=_explain)


def _explain(error: ValidationError) -> str:
    faults = error.errors()
    if faults[0]["type"] in ("model_type", "model_attributes_type"):
        return f"a mapping is a YAML object with the keys {', '.join(Mapping.model_fields)}"
    return "; ".join(_explained(fault["loc"], fault["type"], fault["msg"]) for fault in faults)


def _explained(loc: tuple[int | str, ...], kind: str, message: str) -> str:
    place = ".".join(str(part) for part in loc)
    if kind == "extra_forbidden":
        known = unknown_key(Mapping, loc)
        return f"unknown key {place!r}{nearest(str(loc[-1]), known)}"
    if kind == "missing":
        return f"the key {place!r} is missing"
    return f"{place or 'mapping'}: {message.removeprefix('Value error, ')}"
