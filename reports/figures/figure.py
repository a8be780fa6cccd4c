"""A figure with the words and the data that stand beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from agenthard.reports.cleaning.analysis import CleaningAnalysis


@dataclass(frozen=True)
class Key:
    """One entry of a legend; its shape tells the marks apart without colour."""

    glyph: str
    """Character of the mark's shape."""
    colour: str
    """Name of the colour: a class of the style sheet."""
    text: str
    """What the mark stands for."""


@dataclass(frozen=True)
class Figure:
    """A drawing, or the reason why there is none, with its caption, description and data."""

    id: str
    """Anchor on the page and name of the data file."""
    title: str
    """What it shows, in a few words."""
    caption: str
    """n, method, seed and level of the intervals."""
    alt: str
    """What a reader would see, for those who do not."""
    svg: Markup | None = None
    """The drawing."""
    reason: str = ""
    """Why there is no drawing; empty when there is one."""
    keys: tuple[Key, ...] = ()
    """Legend."""
    subjects: tuple[str, ...] = ()
    """What a reader can pick to see it stand out."""
    columns: tuple[str, ...] = ()
    """Columns of its data."""
    rows: Sequence[tuple[Any, ...]] = field(default=(), repr=False)
    """The data."""


def short(name: str, most: int = 32) -> str:
    """Cut a long name for a label; the tooltip, the table and the data hold all of it.

    >>> short("a" * 40, 10)
    'aaaaaaaaa…'
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"


COUNTED = "Counted, not sampled: no seed and no interval."


def sampling(analysis: CleaningAnalysis) -> str:
    """Say how everything random in the analysis was drawn."""
    made = analysis.provenance
    return (
        f"Seed {made.seed}; {made.draws:,} random subsets behind every null; {100 * made.level:g} % intervals of "
        f"{made.resamples:,} bootstrap resamples."
    )
