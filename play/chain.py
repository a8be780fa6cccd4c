"""A play that yields several runs, one after the other, and continues after a kill where it was."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.models.request import Model
from agenthard.play.journal import Journal
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Trajectory


class Part(Record):
    """One run of a play."""

    trajectory: Trajectory
    """The run."""
    record: dict[str, Any] | None = None
    """Everything else that the benchmark keeps of it, times included, as JSON data."""


class PlayedChain(Record):
    """What a play came to."""

    summary: Trajectory
    """The whole play as one run, which counts in tables and reports. Its status says whether the play has ended."""
    parts: tuple[Part, ...] = ()
    """Its runs, in order."""


@dataclass(frozen=True)
class PlayRoom:
    """What a play of one episode has for itself."""

    journal: Journal
    """Its steps so far; what was played before a kill is not played again."""
    folder: Path
    """Its folder; what is in it lasts as long as the journal."""
    hidden: Sequence[Path] = ()
    """Folders of the evaluation that no program of an agent may look into."""
    model: Model | None = None
    """Answers requests; None where no model takes part."""
    watched: Callable[[str], None] | None = None
    """Is told where the play is, in a few words, for those who watch; None where it is not shown."""
