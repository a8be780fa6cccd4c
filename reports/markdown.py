"""Text that somebody else wrote, inside a Markdown document."""

import re


def md(text: str) -> str:
    r"""Escape text for Markdown: nothing in it becomes markup, a link, a table cell or a mention.

    >>> md("<b> a|b [x](y) @me")
    '\\<b\\> a\\|b \\[x\\](y) @\u200bme'
    """
    flat = re.sub(r"\s+", " ", text)
    return re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", flat).replace("@", "@\u200b")


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Write a Markdown table; the cells are Markdown already.

    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [columns, ["---"] * len(columns), *rows]
    texts = [f"| {' | '.join(line)} |" for line in lines]
    texts[1] = f"|{'---|' * len(columns)}"
    return "\n".join(texts)
