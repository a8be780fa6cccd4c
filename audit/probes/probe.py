"""What a probe is: a way of guessing that uses no more than one trait of the candidates."""

from collections.abc import Iterator
from dataclasses import dataclass

from audit.probes.columns import Floats
from audit.probes.table import Table


@dataclass(frozen=True)
class Probe:
    """A score per candidate; the candidates with the highest score of their choice are picked."""

    id: str
    """Names the probe within the battery."""
    family: str
    """Probes of one family use the same trait, so that several of them can find one and the same give-away."""
    says: str
    """What is claimed of the answer, as a verb phrase: "is listed first"."""
    score: Floats
    """Per candidate; NaN where the probe has nothing to say."""
    detail: str = ""
    """Where the trait shows most, for the maintainer."""


def ends(table: Table, id: str, family: str, trait: str, values: Floats, *, middle: bool = True) -> Iterator[Probe]:
    """Yield the probes for one number per candidate: the lowest, the highest and the one nearest to the middle.

    Args:
        table: the candidates.
        id: what the probe ids start with.
        family: family of the probes.
        trait: the number, as in "has the lowest {trait}".
        values: the number per candidate, NaN where there is none.
        middle: False where the middle means nothing.
    """
    yield Probe(f"{id}:lowest", family, f"has the lowest {trait}", -values)
    yield Probe(f"{id}:highest", family, f"has the highest {trait}", values)
    if middle:
        # Exact arithmetic on halves, so that the two next to the middle of an even number tie.
        distance = abs(table.ranks(values) - 0.5)
        yield Probe(f"{id}:middle", family, f"has the {trait} in the middle", -distance.round(9))
