"""Text with highlighted spans, and JSON laid out in lines without changing a token of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agenthard.audit.sources.formats.json_nodes import JsonNode

LINE = 88
"""A JSON value that is longer is laid out with one member or item per line."""
LONGEST = 20_000
"""Characters of one text that are shown."""

Span = tuple[int, int, str]
"""First character, the one behind the last, and the id of the finding that quotes them."""
Piece = str | list[object]
"""A part of a text: plain, or a list of the text and the ids of the findings that quote it."""


def pieces(text: str, spans: Iterable[Span], longest: int = LONGEST) -> list[Piece]:
    """Cut a text at the borders of its spans.

    Args:
        text: the text.
        spans: what is highlighted; spans may overlap.
        longest: of a longer text the beginning is kept, with a note of how much is left out.

    >>> pieces("order W17 now", [(6, 9, "f1")])
    ['order ', ['W17', ['f1']], ' now']
    >>> pieces("abcdef", [(0, 2, "f1")], longest=4)
    [['ab', ['f1']], 'cd', ' [… 2 more characters]']
    """
    shown = text[:longest]
    kept = [(max(start, 0), min(end, len(shown)), name) for start, end, name in spans]
    kept = [span for span in kept if span[0] < span[1]]
    borders = sorted({0, len(shown), *(border for start, end, _ in kept for border in (start, end))})
    found: list[Piece] = []
    for start, end in zip(borders, borders[1:], strict=False):
        names = sorted({name for first, last, name in kept if first <= start and end <= last})
        found.append([shown[start:end], names] if names else shown[start:end])
    if len(text) > longest:
        found.append(f" [… {len(text) - longest:,} more characters]")
    return found


def laid_out(raw: str, spans: Sequence[Span] = ()) -> tuple[str, list[Span]]:
    """Lay out JSON in lines: only the white space between tokens changes.

    Args:
        raw: JSON as a file writes it.
        spans: spans of it.

    Returns:
        The text, and the spans in it. Text that is not valid JSON, or is nested too deeply, stays as it is.

    >>> laid_out('{"a":[1,2]}', [(5, 10, "f1")])
    ('{"a":[1,2]}', [(5, 10, 'f1')])
    """
    layout = _Layout()
    try:
        layout.add(JsonNode.of(raw), 0)
    except (ValueError, RecursionError):
        return raw, list(spans)
    return "".join(layout.parts), [(layout.place(a), layout.place(b - 1) + 1, name) for a, b, name in spans if a < b]


@dataclass
class _Layout:
    parts: list[str] = field(default_factory=list)
    """The text so far."""
    copied: list[tuple[int, int, int]] = field(default_factory=list)
    """Spans of the original text, and where each begins in the new one."""
    length: int = 0

    def add(self, node: JsonNode, depth: int) -> None:
        """Append a value."""
        if node.text[node.start] not in "{[" or (node.end - node.start <= LINE and "\n" not in node.raw):
            self._copy(node.text, node.start, node.end)
            return
        self._copy(node.text, node.start, node.start + 1)
        for number, child in enumerate(node.children):
            self._write(("," if number else "") + "\n" + "  " * (depth + 1))
            self._copy(node.text, child.begin, child.start)
            self.add(child, depth + 1)
        if node.children:
            self._write("\n" + "  " * depth)
        self._copy(node.text, node.end - 1, node.end)

    def place(self, position: int) -> int:
        """Return where a character of the original text is now; of white space left out, where the next one is."""
        for start, end, new in self.copied:
            if position < end:
                return new + max(position - start, 0)
        return self.length

    def _copy(self, text: str, start: int, end: int) -> None:
        self.copied.append((start, end, self.length))
        self._write(text[start:end])

    def _write(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)
