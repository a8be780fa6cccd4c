"""Markdown: escaped text, tables, and sections that terminals print as well."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agenthard.taxonomy.printable import printable


def md(text: str) -> str:
    r"""Escape text for Markdown: nothing in it becomes markup, a link, a table cell or a mention.

    >>> md("<b> a|b [x](y) @me")
    '\\<b\\> a\\|b \\[x\\](y) @\u200bme'
    """
    flat = printable(re.sub(r"\s+", " ", text))
    return re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", flat).replace("@", "@\u200b")


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table; the cells are Markdown already.

    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [f"| {' | '.join(cells)} |" for cells in (columns, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(columns)}", *lines[1:]])


@dataclass(frozen=True)
class Section:
    """One table with its title and a sentence."""

    title: str
    """Title; says how many rows there are when not all are shown."""
    text: str = ""
    """Sentence above the table."""
    columns: Sequence[str] = ()
    """Heads; empty without a table."""
    rows: Sequence[Sequence[str]] = ()
    """Cells, as plain text."""


def sections_markdown(sections: Iterable[Section]) -> str:
    """Write titled tables; every text is escaped."""
    parts = []
    for section in sections:
        if section.title:
            parts.append(f"## {md(section.title)}")
        if section.text:
            parts.append(md(section.text))
        if section.rows:
            parts.append(table(section.columns, [[md(cell) for cell in row] for row in section.rows]))
    return "\n\n".join(parts) + "\n"
