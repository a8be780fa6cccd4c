"""The texts of a benchmark's files, whole or line by line, with the place of every character."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection
from functools import cache, cached_property, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path

from agenthard.audit.sources.formats.files import MAX_RECORD_BYTES, open_binary
from agenthard.audit.sources.formats.json_nodes import JsonNode
from agenthard.taxonomy.files import MAX_BYTES

HELD_LINES = 512
"""Lines of JSON Lines files in memory."""


class FileText:
    """A text that is a file, or a line of one."""

    def __init__(self, text: str, line: int, byte: int) -> None:
        """Hold a text that begins at a 1-based line and a 0-based byte of its file."""
        self.text, self._line, self._byte = text, line, byte
        self._nodes: dict[int, JsonNode | None] = {}

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins, in characters."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def _starts_in_bytes(self) -> list[int]:
        if self.text.isascii():
            return self.starts
        lengths = (len(self.text[a:b].encode("utf-8")) for a, b in pairwise(self.starts))
        return list(accumulate(lengths, initial=0))

    def place(self, start: int) -> tuple[int, int]:
        """Return the 1-based line and the 0-based byte in the file of a character."""
        row = bisect_right(self.starts, start) - 1
        before = len(self.text[self.starts[row] : start].encode("utf-8"))
        return self._line + row, self._byte + self._starts_in_bytes[row] + before

    def node(self, start: int = 0) -> JsonNode | None:
        """Return the JSON value that begins at a character, after white space; None when none does."""
        if start not in self._nodes:
            try:
                self._nodes[start] = JsonNode.of(self.text, start)
            except (ValueError, RecursionError):
                self._nodes[start] = None
        return self._nodes[start]

    def object_on_line(self, line: int) -> JsonNode | None:
        """Return the first JSON object that begins on a 1-based line of the file, or later; None when none does."""
        row = line - self._line
        start = self.text.find("{", self.starts[row]) if row < len(self.starts) else -1
        return None if start < 0 else self.node(start)


class FileTexts:
    """The texts of a benchmark's files. A file is read when it is asked for."""

    def __init__(self, path_of: Callable[[str], Path], most_bytes: int = MAX_BYTES) -> None:
        """Read nothing yet.

        Args:
            path_of: where the file of a name is.
            most_bytes: a larger file is not read as a whole.
        """
        self._path_of, self._most_bytes = path_of, most_bytes
        self._held: dict[tuple[str, int], FileText] = {}
        self.whole = cache(self._whole)
        self.line = lru_cache(HELD_LINES)(self._one_line)
        self._offsets = cache(self._line_offsets)

    def hold_lines(self, name: str, lines: Collection[int]) -> None:
        """Read lines of a packed file, in which one cannot be reached without those before it, in one pass."""
        wanted, byte = set(lines), 0
        try:
            path = self._path(name)
            if path is None or path.suffix != ".gz" or not wanted:
                return
            with open_binary(path) as stream:
                for number in range(1, max(wanted) + 1):
                    data = stream.readline(MAX_RECORD_BYTES)
                    if number in wanted:
                        self._held[name, number] = FileText(data.decode("utf-8"), number, byte)
                    byte += len(data)
        except (OSError, EOFError, ValueError):
            return

    def _path(self, name: str) -> Path | None:
        path = self._path_of(name)
        root = path.parents[len(Path(name).parts) - 1]
        return path if path.resolve().is_relative_to(root.resolve()) else None

    def _whole(self, name: str) -> FileText | None:
        """Return a file's text; None when it is gone, too large, not UTF-8, or outside its folder."""
        try:
            path = self._path(name)
            if path is None:
                return None
            with open_binary(path) as stream:
                begin = stream.tell() if stream.seekable() else 0
                data = stream.read(self._most_bytes + 1)
                return FileText(data.decode("utf-8"), 1, begin) if len(data) <= self._most_bytes else None
        except (OSError, EOFError, ValueError):
            return None

    def _one_line(self, name: str, line: int) -> FileText | None:
        """Return a 1-based line of a file without reading the others; None where that is impossible."""
        if (name, line) in self._held:
            return self._held[name, line]
        offsets = self._offsets(name)
        if offsets is None or not 0 < line < len(offsets) or offsets[line] - offsets[line - 1] > MAX_RECORD_BYTES:
            return None
        try:
            with open_binary(self._path_of(name)) as stream:
                stream.seek(offsets[line - 1])
                text = stream.read(offsets[line] - offsets[line - 1]).decode("utf-8")
        except (OSError, ValueError):
            return None
        return FileText(text, line, offsets[line - 1])

    def _line_offsets(self, name: str) -> "array[int] | None":
        """Return the byte at which each line begins, and the size; None for a packed file and one that is gone."""
        try:
            path = self._path(name)
            if path is None or path.suffix == ".gz":
                return None
            with open_binary(path) as stream:
                offsets = array("q", [stream.tell()])
                while piece := stream.readline(MAX_RECORD_BYTES):
                    if piece.endswith(b"\n"):
                        offsets.append(stream.tell())
                if offsets[-1] != stream.tell():
                    offsets.append(stream.tell())
                return offsets
        except (OSError, ValueError):
            return None
