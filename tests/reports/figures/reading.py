"""Reading a drawing back: where its marks stand, and what they say."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from agenthard.reports.figures.cleaning import Figure

_MOVE = re.compile(r"translate\((-?[\d.]+),(-?[\d.]+)\)")


def parsed(figure: Figure) -> ElementTree.Element:
    """Parse the drawing of a figure."""
    assert figure.svg is not None, figure.reason
    return ElementTree.fromstring(figure.svg)


def placed(node: ElementTree.Element, x: float = 0, y: float = 0) -> Iterator[tuple[float, float, ElementTree.Element]]:
    """Walk the elements of a drawing with the position that their transforms give them."""
    move = _MOVE.search(node.get("transform", ""))
    if move:
        x, y = x + float(move[1]), y + float(move[2])
    yield x, y, node
    for child in node:
        yield from placed(child, x, y)


def marks(figure: Figure, tag: str) -> list[tuple[float, float, ElementTree.Element]]:
    """List the marks of one kind that say something, in the order they are drawn."""
    return [(x, y, node) for x, y, node in placed(parsed(figure)) if node.tag == tag and node.get("data-tip")]


def texts(figure: Figure) -> list[str]:
    """List what a drawing writes."""
    return [node.text or "" for node in parsed(figure).iter("text")]
