"""How the records of one benchmark become a suite: everything that suites of different benchmarks differ in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

Shown = TypeVar("Shown")
"""The public part of an instance."""
Whole = TypeVar("Whole")
"""A whole instance: the public part and the private one."""

Kind = Literal["jsonl", "parquet"]
"""How the two parts are stored."""
Columns = Mapping[str, Literal["text", "number"]]
"""Columns of a Parquet file next to the record, with their types."""


@dataclass(frozen=True)
class Part(Generic[Whole]):
    """One of the two files of a suite."""

    name: str
    """Name of the file without its ending."""
    word: str
    """What one of its records is called."""
    line: Callable[[Whole], bytes]
    """Writes the record of an instance as JSON without a line break."""
    columns: Columns
    """Columns to select by, in Parquet."""
    row: Callable[[Whole], dict[str, Any]]
    """The values of these columns."""


@dataclass(frozen=True)
class Layout(Generic[Shown, Whole]):
    """The layout of a benchmark's suites."""

    format: str
    """Name of the format, which ``suite.json`` states."""
    version: int
    """Version of the layout; raised when a reader of the old one would misread the new one."""
    command: str
    """The command that writes suites, for messages."""
    public: Part[Whole]
    """What an agent may see."""
    private: Part[Whole]
    """The solutions, with certificates and provenance."""
    read_public: Callable[[bytes], Shown]
    """Reads a public record; raises MalformedInstanceError."""
    read_whole: Callable[[Shown, bytes], Whole]
    """Reads a private record and puts both together; raises MalformedInstanceError."""
    id_of: Callable[[Shown], str]
    """The id of an instance."""

    @property
    def parts(self) -> tuple[Part[Whole], Part[Whole]]:
        """Both parts, the public one first."""
        return self.public, self.private
