"""The papers as they were shipped, and evidence from them; what a workspace has made of them does not count."""

import json
from collections.abc import Sequence
from pathlib import Path

from agenthard.agency.judges import Probe, ProbeError
from agenthard.agency.suite.kit import field

FOLDER = Path(__file__).resolve().parent / "documents"
PAPERS = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))}
LEAST = 20
"""Characters of a quote."""
MOST = 3
"""Pieces of evidence for one answer."""
Place = tuple[str, int]


def place(paper: str, words: str) -> Place:
    """Return the line of a paper that holds some words.

    >>> place("errata.txt", "for 96 crowns")
    ('errata.txt', 4)
    """
    (found,) = (at for at, line in enumerate(PAPERS[f"{paper}"].splitlines(), 1) if words in line)
    return paper, found


def document(probe: Probe, name: str) -> dict[str, object]:
    """Return a JSON object that a workspace has to hold.

    Raises:
        ProbeError: it is missing, or another thing.
    """
    try:
        found = json.loads(probe.text(name))
    except (ValueError, RecursionError):
        raise ProbeError(f"{name} is not valid JSON") from None
    if not isinstance(found, dict):
        raise ProbeError(f"{name} is not a JSON object")
    return found


def evidence(items: object) -> list[Place] | str:
    """Return the places of quotes, or what is wrong with them."""
    if not isinstance(items, list) or not 1 <= len(items) <= MOST:
        return f"evidence is not a list of 1 to {MOST} items"
    found = []
    for item in items:
        file, line, quote = (field(item, name) for name in ("file", "line", "quote"))
        if not isinstance(file, str) or file not in PAPERS or type(line) is not int or not isinstance(quote, str):
            return "a piece of evidence has no file, line and quote"
        lines = PAPERS[file].splitlines()
        if not 1 <= line <= len(lines) or len(quote) < LEAST or quote not in lines[line - 1]:
            return f"line {line} of {file} does not hold the quote {quote[:60]!r}"
        found.append((file, line))
    return found


CORRECTED = {
    place("errata.txt", "read 34 metres"): place("board-minutes.txt", "stands 31 metres"),
    place("errata.txt", "read 92 crowns"): place("board-minutes.txt", "from 84 to 96"),
    place("errata.txt", "read 221 wicks"): place("inspection-1874.txt", "212 wicks"),
}
"""The line that an erratum corrects."""


def heading(where: Place) -> Place | None:
    """Return the line above an indented one that says of what it is a part.

    >>> heading(("letters.txt", 17))
    ('letters.txt', 15)
    """
    paper, number = where
    lines = PAPERS[paper].splitlines()
    if not lines[number - 1].startswith(" "):
        return None
    return next(((paper, at) for at in range(number - 1, 0, -1) if lines[at - 1][:1] not in ("", " ")), None)


def covers(found: Sequence[Place], needed: Sequence[Sequence[Place]], also: Sequence[Place] = ()) -> bool:
    """Tell whether places hold one of each group that is needed, and nothing that has no part in it.

    Args:
        found: the places.
        needed: the groups.
        also: places that may stand next to them, as headings and corrected lines may.
    """
    fit = {each for group in needed for each in group} | set(also)
    fit |= {CORRECTED[each] for each in fit if each in CORRECTED}
    fit |= {above for each in fit if (above := heading(each))}
    return all(any(each in found for each in group) for group in needed) and all(each in fit for each in found)
