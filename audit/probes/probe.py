"""What a probe is: a way of guessing that uses no more than one trait of the candidates."""

from collections.abc import Iterator
from dataclasses import dataclass

from agenthard.audit.probes.columns import Floats
from agenthard.audit.probes.table import Table


@dataclass(frozen=True)
class Probe:
    """A score per candidate; the candidates with the highest score of their choice are picked."""

    id: str
    """Names the probe within the battery."""
    family: str
    """Sort of trait it uses: order, ids, attributes ..."""
    trait: str
    """The trait. Several probes of one trait find one and the same give-away."""
    says: str
    """What is claimed of the answer, as a verb phrase: "is listed first"."""
    score: Floats
    """Per candidate; NaN where the probe has nothing to say."""
    detail: str = ""
    """Where the trait shows most, for the maintainer."""


def ends(
    table: Table, id: str, family: str, trait: str, number: str, values: Floats, *, middle: bool = True
) -> Iterator[Probe]:
    """Yield the probes for one number per candidate: the lowest, the highest and the one nearest to the middle.

    Args:
        table: the candidates.
        id: what the probe ids start with.
        family: family of the probes.
        trait: their trait.
        number: what the number is, as in "has the lowest {number}".
        values: the number per candidate, NaN where there is none.
        middle: False where the middle means nothing.
    """
    yield Probe(f"{id}:lowest", family, trait, f"has the lowest {number}", -values)
    yield Probe(f"{id}:highest", family, trait, f"has the highest {number}", values)
    if middle:
        # Exact arithmetic on halves, so that the two next to the middle of an even number tie.
        distance = abs(table.ranks(values) - 0.5)
        yield Probe(f"{id}:middle", family, trait, f"has the {number} in the middle", -distance.round(9))
