"""The three versions of a benchmark: initial, issue-cleaned and hard, each with its id, size and power."""

from typing import Literal

from reports.statistics import Result
from taxonomy.record import Record

SplitName = Literal["initial", "cleaned", "hard"]

TITLES: dict[SplitName, str] = {"initial": "initial", "cleaned": "issue-cleaned", "hard": "hard"}


class Split(Record):
    """One version of the benchmark, as a card says it."""

    name: SplitName
    """Which version."""
    title: str
    """Name for people."""
    split_id: str
    """Hash of the sorted task ids, 12 hexadecimal digits: equal splits have equal ids. Every table carries it."""
    n: int
    """Tasks."""
    review: int
    """Tasks in it that wait for a person; they stay in until one decides."""
    detectable: Result
    """Smallest difference of two models' scores that n tasks detect (95 % confidence, 80 % power), in score units."""
    sentence: str
    """The card in words: size, what was left out, smallest detectable difference, what it must not be compared with."""
    task_ids: tuple[str, ...]
    """Its tasks, in the benchmark's order."""
