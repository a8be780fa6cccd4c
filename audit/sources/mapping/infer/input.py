"""What is read of the files, once, before a mapping is proposed: rows and their columns, and what belongs to them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.audit.sources.formats.promptfoo import is_promptfoo
from agenthard.audit.sources.formats.remote import is_url, split_url
from agenthard.audit.sources.formats.rows import row_format
from agenthard.audit.sources.formats.sqlite import SUFFIXES, is_sqlite
from agenthard.audit.sources.mapping.data import MappedRow, without_key
from agenthard.audit.sources.mapping.fetched import fetched_file, fetched_folder
from agenthard.audit.sources.mapping.infer.columns import Column, columns_of
from agenthard.audit.sources.mapping.infer.files import Group, find_groups
from agenthard.audit.sources.mapping.infer.partners import Partner, partner_of, shared_values
from agenthard.audit.sources.mapping.infer.questions import SIMULATED

_GENERAL_NAMES = ("tasks", "data", "test", "train", "dev", "questions", "benchmark", "validation")


@dataclass(frozen=True)
class RowsRead:
    """What is read of the files, once."""

    url: str
    """URL of their folder; empty for one of this machine."""
    settled: Mapping[str, Any]
    """Answers that follow from the format."""
    group: Group
    """The files of the tasks."""
    partner: Partner | None
    """Rows that belong to them."""
    required: bool
    """Whether each row has a partner."""
    columns: Sequence[Column]
    """Columns of some rows."""
    texts: Sequence[str]
    """Columns that hold objects as text."""
    every: Sequence[MappedRow]
    """All rows."""
    shared: Mapping[str, str]
    """Files with a value for all tasks, by key of the mapping."""
    left_aside: Sequence[str]
    """Files that are not used."""

    @property
    def name(self) -> str:
        """A name for the benchmark: of its only file, unless that says nothing, else of its folder."""
        stem = self.group.paths[0].name.split(".")[0].lower()
        folder = re.split(r"[/:]+", self.url.rstrip("/"))[-1] if self.url else self.group.folder.resolve().name
        own = len(self.group.paths) == 1 and stem not in _GENERAL_NAMES
        return re.sub(r"[^a-z0-9]+", "-", stem if own else folder.lower()).strip("-") or "benchmark"


def _fetched(url: str) -> tuple[str, Path]:
    """Copy what is behind a URL; return the URL of the folder, and the file or folder."""
    above, name = split_url(url)
    if row_format(Path(name)) or Path(name).suffix in (*SUFFIXES, ".yaml", ".yml"):
        return above, fetched_file(url)
    return url, fetched_folder(url, ("*",))


def read_input(path: Path | str) -> RowsRead:
    """Find the rows at a path or a URL, and what belongs to them.

    Raises:
        SourceError: No rows, or the URL cannot be read.
    """
    url = ""
    if isinstance(path, str) and is_url(path):
        url, path = _fetched(path)
    path = Path(path)
    groups = find_groups(path)
    chosen, others = groups[0], groups[1:]
    if path.is_file() and not is_sqlite(path) and not is_promptfoo(path):
        others = [group for group in find_groups(path.parent) if path not in group.paths or len(group.paths) > 1]
        others = [_without(group, path) for group in others]
    partner = partner_of(chosen, others)
    rows = [dict(row.values) for row in chosen.sample()]
    required = partner is None or _join_rows(rows, partner)
    columns, texts = columns_of(rows)
    every, shared = chosen.sample(10**6), dict(shared_values(chosen))
    used = {*chosen.names(), *shared.values(), *(partner.group.names() if partner else ())}
    rest = {name for group in groups[1:] for name in group.names()} - used if path.is_dir() else set()
    settled = {SIMULATED.key: "turns"} if is_promptfoo(chosen.paths[0]) else {}
    return RowsRead(url, settled, chosen, partner, required, columns, texts, every, shared, sorted(rest))


def _without(group: Group, path: Path) -> Group:
    return Group(group.folder, tuple(item for item in group.paths if item != path), group.rows, group.columns)


def _join_rows(rows: list[dict[str, Any]], partner: Partner) -> bool:
    """Join rows to others; tell whether each has a partner."""
    theirs: dict[str, list[dict[str, Any]]] = {}
    for row in partner.group.sample(10**6):
        theirs.setdefault(str(row.values.get(partner.key)), []).append(row.values)
    for own in rows:
        found = theirs.get(str(own[partner.on]), [])
        own[partner.name] = [without_key(each, partner.key) for each in found] if partner.many else (found or [{}])[0]
    return all(row[partner.name] for row in rows)
