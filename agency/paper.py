"""Published results of AgencyBench, and which of their numbers follow from others, or from the released run."""

import csv
from collections.abc import Mapping
from pathlib import Path

from agenthard.agency.metrics import Measures
from agenthard.taxonomy.record import Record

PUBLISHED = Path(__file__).parent / "published.csv"
"""Rows of the paper's tables of scores and passes, one a model."""
MEASURES = Path(__file__).parent / "published_measures.csv"
"""Further numbers that the paper prints, one a line."""
SCENARIOS = {"game": 10, "frontend": 3, "backend": 3, "code": 9, "research": 5, "mcp": 2}
"""Scenarios of each capability."""
TOTAL = sum(SCENARIOS.values())


class PublishedRow(Record):
    """What the paper prints for one model."""

    model: str
    """Model."""
    capabilities: dict[str, float]
    """Score of each capability."""
    s_avg: float
    """Mean score."""
    att: float
    """Attempts per task."""
    pass_at_1: float
    """Pass@1 in percent."""
    pass_at_2: float
    """Pass@2 in percent."""


class PublishedMeasure(Record):
    """One number that the paper prints outside its tables of scores."""

    source: str
    """Where it is printed."""
    model: str
    """Model."""
    measure: str
    """What it is: ``E_att``, ``E_tok``, or the share of a group of tools."""
    value: float
    """As printed."""


class PaperCheck(Record):
    """One printed number against the same number from elsewhere."""

    name: str
    """What is compared with what."""
    printed: float
    """As printed."""
    computed: float
    """From elsewhere."""
    holds: bool
    """Whether they are equal to the printed digit."""


def published_rows() -> tuple[PublishedRow, ...]:
    """Read the published rows."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return tuple(
            PublishedRow(
                model=row["model"],
                capabilities={name: float(row[name]) for name in SCENARIOS},
                **{name: float(row[name]) for name in ("s_avg", "att", "pass_at_1", "pass_at_2")},
            )
            for row in csv.DictReader(file)
        )


def published_measures() -> tuple[PublishedMeasure, ...]:
    """Read the further published numbers.

    >>> [each.value for each in published_measures() if each.measure == "E_att"]
    [38.7]
    """
    with MEASURES.open(encoding="utf-8", newline="") as file:
        return tuple(PublishedMeasure.model_validate(row) for row in csv.DictReader(file))


def checks_within(row: PublishedRow) -> tuple[PaperCheck, ...]:
    """Compare the numbers of a row with each other: passes are shares of scenarios, S_avg is a mean of scenarios.

    >>> [(check.name, check.holds) for check in checks_within(published_rows()[0])][:2]
    [('Pass@1 is a share of 32 scenarios', True), ('Pass@2 is a share of 32 scenarios', True)]
    """
    weighted = sum(row.capabilities[name] * count for name, count in SCENARIOS.items()) / TOTAL
    return (
        *(
            _check(f"Pass@{k} is a share of {TOTAL} scenarios", value, 100 * round(value * TOTAL / 100) / TOTAL, 1)
            for k, value in ((1, row.pass_at_1), (2, row.pass_at_2))
        ),
        _check("S_avg is the mean of the capabilities, weighted by their scenarios", row.s_avg, weighted, 1),
    )


def checks_against(row: PublishedRow, run: Measures) -> tuple[PaperCheck, ...]:
    """Compare a row with a run of the model that was released.

    Raises:
        ValueError: the run has only one attempt per task.
    """
    if len(run.pass_scenario) < 2:
        raise ValueError("the run has one attempt per task, so it has no Pass@2")
    return (
        _check("S_avg of the released run", row.s_avg, run.s_avg, 1),
        _check("Att of the released run", row.att, run.att, 2),
        _check("Pass@1 of the released run", row.pass_at_1, 100 * run.pass_scenario[0], 1),
        _check("Pass@2 of the released run", row.pass_at_2, 100 * run.pass_scenario[1], 1),
    )


def checks_by_capability(row: PublishedRow, computed: Mapping[str, float]) -> tuple[PaperCheck, ...]:
    """Compare the capabilities of a row with those of a run of the model that was released.

    Args:
        row: the published row.
        computed: mean score of the run by capability, as it writes them; those that it lacks are left out.
    """
    known = {name.lower(): value for name, value in computed.items()}
    return tuple(
        _check(f"{name.capitalize() if name != 'mcp' else 'MCP'} of the released run", printed, known[name], 1)
        for name, printed in row.capabilities.items()
        if name in known
    )


def _check(name: str, printed: float, computed: float, digits: int) -> PaperCheck:
    half = 0.5 * 10.0**-digits + 1e-9
    return PaperCheck(name=name, printed=printed, computed=computed, holds=abs(printed - computed) <= half)
