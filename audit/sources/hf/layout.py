"""Which files of a data set's folder hold its rows, and to which configuration and split they belong."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.formats.columnar import ARROW, PARQUET
from agenthard.audit.sources.formats.json_text import load_document
from agenthard.audit.sources.formats.rows import ABOUT, row_files, row_format
from agenthard.taxonomy.files import read_bytes
from agenthard.taxonomy.yaml_text import load_yaml

CARD = "README.md"
MAX_CARD_BYTES = 1 << 20
"""A longer card is not read."""

_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_SPLIT = re.compile(r"(?:^|[/_.-])(train|test|validation|valid|val|dev|eval)(?=[/_.-])", re.IGNORECASE)


@dataclass(frozen=True)
class Shard:
    """One file of rows."""

    path: Path
    """The file."""
    config: str = ""
    """Configuration, where the card names several."""
    split: str = ""
    """Split, where the folder tells."""


def looks_like_data_set(root: Path) -> bool:
    """Tell whether a path is a file of Parquet or Arrow, or a folder that says it is a data set or holds only these."""
    if root.is_file():
        return row_format(root) in (PARQUET, ARROW)
    if any((root / name).is_file() for name in ABOUT) or {"configs", "dataset_info"} & set(_card(root)):
        return True
    formats = {row_format(path) for path in row_files(root)}
    return bool(formats) and formats <= {PARQUET, ARROW}


def find_shards(root: Path) -> list[Shard]:
    """List the files of rows at ``root``.

    The card's ``configs`` decide where there are any; else ``state.json`` next to Arrow files, which lists them; else
    every file of rows counts and its path tells the split.

    Raises:
        SourceError: when the card names files outside the folder, or files that are not there.
    """
    if root.is_file():
        return [Shard(root)]
    configs = _card(root).get("configs")
    if isinstance(configs, list):
        declared = sorted(_declared(root, configs), key=lambda shard: (shard.config, shard.split, shard.path))
        if declared:
            several = len({shard.config for shard in declared}) > 1
            return declared if several else [Shard(shard.path, split=shard.split) for shard in declared]
    return [Shard(path, split=_split(path, root)) for path in row_files(root) if _listed(path)]


def caches(root: Path) -> Iterator[Path]:
    """Yield the Arrow files below a folder that the ``state.json`` next to them does not list."""
    return (path for path in row_files(root) if not _listed(path))


def _card(root: Path) -> dict[str, Any]:
    path = root / CARD
    if not path.is_file() or path.stat().st_size > MAX_CARD_BYTES:
        return {}
    front = _FRONT.match(read_bytes(path, MAX_CARD_BYTES).decode("utf-8-sig", errors="replace"))
    try:
        data = load_yaml(front[1]) if front else None
    except yaml.YAMLError:
        return {}
    return data if isinstance(data, dict) else {}


def _declared(root: Path, configs: list[Any]) -> Iterator[Shard]:
    for config in configs:
        if not isinstance(config, dict):
            continue
        name = str(config.get("config_name", "default"))
        folder = str(config.get("data_dir") or ".")
        for split, pattern in _patterns(config.get("data_files", "**/*")):
            for path in _matching(root, folder, pattern):
                yield Shard(path, name, split or _split(path, root))


def _patterns(written: Any) -> Iterator[tuple[str, str]]:
    """Yield split and pattern of ``data_files``, in any of the forms that a card may give them."""
    for item in written if isinstance(written, list) else [written]:
        if isinstance(item, str):
            yield "", item
        elif isinstance(item, dict) and "path" in item:
            for pattern in item["path"] if isinstance(item["path"], list) else [item["path"]]:
                yield str(item.get("split", "")), str(pattern)
        elif isinstance(item, dict):
            for split, patterns in item.items():
                for pattern in patterns if isinstance(patterns, list) else [patterns]:
                    yield str(split), str(pattern)


def _matching(root: Path, folder: str, pattern: str) -> list[Path]:
    whole = f"{folder}/{pattern}".removeprefix("./")
    if ".." in Path(whole).parts or Path(whole).is_absolute() or "://" in whole:
        raise SourceError(f"{root / CARD}: data_files names {pattern!r}, which is not inside the folder; copy it there")
    found = sorted(path for path in root.glob(whole) if path.is_file() and row_format(path))
    if not found:
        raise SourceError(f"{root / CARD}: no file matches {pattern!r} of data_files; fetch it, or fix the card")
    return found


def _listed(path: Path) -> bool:
    """Tell whether an Arrow file is one of those that ``state.json`` next to it lists; caches are not."""
    state = path.parent / "state.json"
    if row_format(path) != ARROW or not state.is_file():
        return True
    try:
        files = load_document(state)["_data_files"]
        return path.name in {item["filename"] for item in files}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return True


def _split(path: Path, root: Path) -> str:
    found = _SPLIT.search(path.relative_to(root).as_posix())
    if found:
        return found[1].lower()
    return path.parent.name if (path.parent / "state.json").is_file() and path.parent != root else ""
