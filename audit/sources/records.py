"""The objects in a file of any format, however they are arranged, for looking at files that no source reads."""

import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.json_stream import JsonStreamError, stream_members
from agenthard.audit.sources.formats.reading import MAX_RECORD_BYTES, open_binary
from agenthard.audit.sources.formats.rows import JSON, is_array, read_rows, row_format
from agenthard.taxonomy.yaml_text import read_yaml

YAML_SUFFIXES = (".yaml", ".yml")
RUN_KEYS = frozenset({"simulations", "trajectories", "results", "samples", "runs", "messages"})
"""Members of a document that make it a log of runs, which may embed the tasks that were run."""


def record_format(path: Path) -> bool:
    """Tell by its name whether a file may hold records."""
    return path.suffix in YAML_SUFFIXES or row_format(path) is not None


def records_of(path: Path) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Stream the objects of a file, each with whether it is the whole document.

    Read are rows (JSON Lines, arrays, CSV, TSV, Parquet, Arrow), a JSON or YAML document that is one object, and the
    lists that such an object holds. What cannot be read yields nothing: it cannot be told to be tasks.
    """
    if path.suffix in YAML_SUFFIXES:
        yield from _in_document(_yaml(path))
    elif row_format(path) == JSON and not is_array(path) and not _has_lines(path):
        yield from _in_document(_members(path))
    else:
        for row in read_rows(path, path.name, Quarantine()):
            yield False, row.values


def value_hash(value: Any) -> str:
    """Hash a record by its values, whatever the order of keys and the spaces between them."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _in_document(document: Any) -> Iterator[tuple[bool, dict[str, Any]]]:
    if isinstance(document, list):
        yield from ((False, item) for item in document if isinstance(item, dict))
    elif isinstance(document, dict):
        yield True, document
        if not RUN_KEYS & set(document):
            for member in document.values():
                if isinstance(member, list):
                    yield from ((False, item) for item in member if isinstance(item, dict))


def _yaml(path: Path) -> Any:
    try:
        return read_yaml(path)
    except (OSError, ValueError, yaml.YAMLError):
        return None


def _members(path: Path) -> Any:
    found: dict[str, Any] = {}
    try:
        for member in stream_members(path):
            if member.index is None:
                found[member.key] = member.value
            else:
                found.setdefault(member.key, []).append(member.value)
    except JsonStreamError:
        return None
    return found


def _has_lines(path: Path) -> bool:
    """Tell whether a ``.json`` file holds one object per line: its first line is one, and another line follows."""
    try:
        with open_binary(path) as stream:
            first, second = stream.readline(MAX_RECORD_BYTES), stream.readline(1 << 16)
        return bool(second.strip()) and isinstance(json.loads(first), dict)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError):
        return False
