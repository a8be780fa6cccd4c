"""What a look-up found, and how much of it is shown."""

from collections.abc import Callable
from dataclasses import dataclass

from agenthard.audit.judge.context.material import Part
from agenthard.taxonomy.errors import AgentHardError

CHARACTERS = 6_000
"""Most characters that one look-up shows."""
ENTRY_CHARACTERS = 1_500
"""Most characters of one member of a list."""
CUT = " [cut]"


class InvalidLookupError(AgentHardError):
    """A look-up cannot be done as it was asked for; the message tells the judge why, and what to do."""

    code = "AH406"
    remedy = "Nothing: the judge reads the message and asks for something else."


@dataclass(frozen=True)
class Found:
    """The outcome of a look-up."""

    part: Part
    """What it belongs to."""
    title: str
    """What was looked up, and what of it is not shown."""
    text: str
    """What was found."""
    pointer: str | None = None
    """Place in the task record whose text (audit.evidence.text_at) holds all that is quoted; None for none."""


@dataclass(frozen=True)
class Page:
    """Some of the entries of a list."""

    text: str
    """The entries."""
    where: str
    """A description of which ones they are; empty when all are shown."""
    whole: bool
    """Whether nothing at all was left out."""
    end: int
    """Number of the first entry behind them."""


def page(
    count: int, entry: Callable[[int], str], offset: int = 0, separator: str = "\n", limit: int = ENTRY_CHARACTERS
) -> Page:
    """Show as many entries as there is room for.

    Args:
        count: How many there are.
        entry: Returns one of them by its number, from 0; it is asked only for those that there is room for.
        offset: How many to pass over.
        separator: The text between two entries.
        limit: Most characters of one entry.

    Raises:
        InvalidLookupError: There is none from there on.
    """
    if count and offset >= count:
        raise InvalidLookupError(f"offset {offset} is behind the last of {count} entries, which are counted from 0")
    shown: list[str] = []
    room, clipped = CHARACTERS, False
    for number in range(offset, count):
        text = entry(number)
        short = clip(text, limit)
        if shown and len(short) + len(separator) > room:
            break
        shown.append(short)
        clipped |= short != text
        room -= len(short) + len(separator)
    last = offset + len(shown)
    rest = f"; ask again with offset {last} for more" if last < count else ""
    where = f"entries {offset} to {last - 1} of {count}{rest}" if len(shown) < count else ""
    return Page(separator.join(shown), where, not where and not clipped, last)


def clip(text: str, limit: int) -> str:
    """Cut a text that is too long, and say so."""
    return text if len(text) <= limit else text[:limit] + CUT
