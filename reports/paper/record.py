"""The tables of the audit paper as records: rows with their number in the paper, and comparisons with its figures."""

from collections.abc import Sequence
from typing import Any, Literal

from agenthard.audit.statistics import AnchorBanks, Result, Undefined
from agenthard.reports.cleaning.compression import StageCompressions
from agenthard.reports.cleaning.inputs import AuditIdentity
from agenthard.reports.cleaning.record import Provenance
from agenthard.taxonomy.record import Record

Met = Literal["met", "differs", "not made", "unknown"]
"""Whether a published figure is met: to its printed digits, not, not made from these runs, or not known."""


class PaperTable(Record):
    """One table of the paper, made from audits."""

    name: str
    """Name of its files, without ending."""
    paper: str
    """Its number in the paper, such as "Table 5"; "none" for one that the paper does not have."""
    ours: str
    """Where the same numbers are in the reports of AgentHard."""
    title: str
    """What it shows."""
    note: str = ""
    """What a reader must know about it."""
    rows: tuple[dict[str, Any], ...] = ()
    """Rows with equal keys; a number that does not exist is None, with its reason in a column that ends in _why."""
    missing: str = ""
    """Why it has no rows, and what would make them; empty when it has."""


def table_of(
    *,
    name: str,
    paper: str,
    ours: str,
    title: str,
    rows: Sequence[dict[str, Any]],
    note: str = "",
    otherwise: str = "",
) -> PaperTable:
    """Make a table that says why it has no rows, where it has none.

    Args:
        name: name of its files.
        paper: its number in the paper.
        ours: where the same numbers are in the reports of AgentHard.
        title: what it shows.
        rows: its rows.
        note: what a reader must know about it.
        otherwise: why rows are missing, and what would make them.
    """
    missing = "" if rows else otherwise
    return PaperTable(name=name, paper=paper, ours=ours, title=title, note=note, rows=tuple(rows), missing=missing)


class PublishedFigure(Record):
    """One number that the paper printed."""

    id: str
    """Short name."""
    paper: str
    """Table or section in which it is printed."""
    benchmark: str
    """Source of AgentHard that reads its benchmark; empty for a figure over all benchmarks."""
    what: str
    """What it is."""
    value: float | None
    """The number; None where it is not known."""
    digits: int
    """Digits after the point, as printed."""
    unit: str
    """What it counts (see ``agenthard.reports.kit.text.amount``)."""
    note: str = ""
    """Where it contradicts another printed number, or what it is not known to mean."""


class Comparison(Record):
    """A published figure next to ours."""

    published: PublishedFigure
    """What the paper printed."""
    run: str
    """Name of the run that ours is from; empty when no run has it."""
    made_from: Literal["our runs", "the paper's scores"]
    """Whether ours is computed from the runs of the audit, or again from scores that the paper printed."""
    ours: Result | None
    """Our figure; None when it was not made."""
    difference: float | None
    """Ours minus published; None without both."""
    met: Met
    """Whether it is met."""
    why: str
    """Why it differs, or why there is none."""


class PaperRun(Record):
    """One audit behind the tables."""

    name: str
    """Name of its run folder."""
    title: str
    """Benchmark."""
    audit: AuditIdentity
    """Versions and hashes."""
    tasks: int
    """Tasks."""
    judged: bool
    """Whether a judge has looked at tasks."""
    provenance: Provenance
    """Seeds, draws and policy."""
    banks: AnchorBanks | Undefined
    """Banks of anchor tasks."""


class Paper(Record):
    """All of it."""

    schema_version: str = "1"
    """Version of this layout."""
    runs: tuple[PaperRun, ...]
    """Audits, in the order given."""
    tables: tuple[PaperTable, ...]
    """Tables in the order of the paper, then those that it does not have."""
    compressions: tuple[StageCompressions, ...]
    """Pooled and macro compression over the benchmarks, by stage."""
    comparisons: tuple[Comparison, ...]
    """Published figures next to ours."""
