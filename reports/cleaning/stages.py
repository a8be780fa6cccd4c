"""The stage table of the audit paper: what each stage of the cleaning leaves, and what that does to the statistics."""

from typing import Literal

from agenthard.audit.statistics import Result
from agenthard.reports.cleaning.nulls import Measure
from agenthard.taxonomy.record import Record

StageName = Literal["initial", "rules", "execution", "judge", "difficulty"]


class Stage(Record):
    """One row of the stage table."""

    name: StageName
    """Which stage."""
    title: str
    """Name for people."""
    ran: bool
    """Whether the stage was run; a stage that was not has a reason, and no numbers of its own."""
    reason: str = ""
    """Why the stage was not run; empty when it was."""
    note: str = ""
    """What a reader must know about its numbers; empty when nothing."""
    split_id: str | None = None
    """Id of what the stage leaves; None when it was not run."""
    n: int | None = None
    """Tasks that the stage leaves; None when it was not run."""
    removed: int | None = None
    """Tasks that the stage takes out of what the stage before left; None when it was not run."""
    from_original: Result
    """Compression against the initial benchmark: 1 − n / n of the first stage."""
    from_previous: Result
    """Compression against the stage that ran before; undefined for the first stage."""
    macro_compression: Result
    """Mean over categories of the compression against the initial benchmark (``from_original`` is the pooled one)."""
    measures: tuple[Measure, ...] = ()
    """agreement, agreement_corrected, separability (%), diversity and nearest_neighbour (cosine distances of prompts),
    each against the original and against random subsets of equal size. Empty when the stage was not run; the first
    three are undefined, with the reason, without runs of models."""
