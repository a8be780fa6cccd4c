"""What was measured of each check: its cost, its agreement with labels, the seeded faults it finds.

The figures stand in ``measured.json`` beside this file, which ``perf/measure_checks.py`` writes from run folders.
"""

from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import Field, TypeAdapter

from agenthard.taxonomy.record import Record


class CheckCost(Record):
    """Time that a check took on a benchmark, with everything that it waited for."""

    tasks: int
    """Tasks it looked at."""
    seconds: float
    """Seconds in all, summed over processes. What checks share is paid by the first of them."""

    @property
    def milliseconds_per_task(self) -> float:
        """Mean over the tasks."""
        return 1000 * self.seconds / self.tasks if self.tasks else 0.0


class LabelCounts(Record):
    """Agreement with labels. A task without a label is not thereby sound, so precision is a lower bound."""

    labelled: int
    """Labelled tasks that the audit read."""
    flawed: int
    """Those labelled flawed."""
    flagged: int
    """Those that the check flags."""
    both: int
    """Those that are flagged and labelled flawed."""
    data: Literal["development", "held-out"] = "development"
    """development: the checks were developed with these labels at hand."""


class SeededCounts(Record):
    """Flaws that were planted in one category into sound tasks."""

    planted: int
    """Tasks with such a flaw."""
    found: int
    """Those that the check flags."""


class Measured(Record):
    """What was measured of one check."""

    cost: dict[str, CheckCost] = Field(default_factory=dict)
    """By benchmark."""
    labels: dict[str, LabelCounts] = Field(default_factory=dict)
    """By label set."""
    seeded: dict[str, SeededCounts] = Field(default_factory=dict)
    """By category of the planted flaw."""


@cache
def measured() -> dict[str, Measured]:
    """Read the figures of this release, by the id of the check."""
    text = files("agenthard.audit.detectors").joinpath("measured.json").read_bytes()
    return TypeAdapter(dict[str, Measured]).validate_json(text)


def measured_lines(check: str) -> list[str]:
    """Say what was measured of a check, a line for each benchmark, label set and category."""
    found = measured().get(check, Measured())
    lines = [
        f"cost on {name}: {cost.milliseconds_per_task:.2f} ms per task ({cost.tasks:,} tasks, {cost.seconds:.1f} s)"
        for name, cost in found.cost.items()
    ]
    lines += [
        f"{counts.data} labels of {name}: {counts.both} of {counts.flagged} flagged tasks are labelled flawed, of "
        f"{counts.flawed} such among {counts.labelled}"
        for name, counts in found.labels.items()
    ]
    lines += [
        f"seeded {category}: finds {counts.found} of {counts.planted}" for category, counts in found.seeded.items()
    ]
    return lines or ["not measured yet"]
