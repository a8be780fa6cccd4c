"""Text that somebody else wrote, inside a Markdown document."""

import re
from collections.abc import Sequence

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
