"""What is counted for each scenario, store and fault, and the comparison of two folders by name and bytes."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

COLUMNS = {
    "scenario": "scenario",
    "store": "store",
    "fault": "fault",
    "injected": "faults",
    "too_late": "too late",
    "compared": "compared",
    "lost": "lost",
    "doubled": "doubled",
    "differing": "differing files",
    "untrue": "untrue words",
    "left_behind": "left behind",
    "asked_again": "asked again",
}
"""Columns of the table, by field."""


@dataclass
class Row:
    """What one kind of fault did to one command."""

    scenario: str
    store: str
    fault: str
    injected: int = 0
    """Faults that hit a working command."""
    too_late: int = 0
    """Commands that had ended before the fault came."""
    compared: int = 0
    """Resumed runs that were compared with an undisturbed one."""
    lost: int = 0
    """Results that an undisturbed run has, and a resumed one has not."""
    doubled: int = 0
    """Results that are there twice, and replies in the ledger beyond the server's distinct requests."""
    differing: int = 0
    """Files that differ from those of an undisturbed run, are missing or are added."""
    untrue: int = 0
    """Wrong answers of `agenthard status` and `agenthard verify` about an interrupted or a resumed folder."""
    left_behind: int = 0
    """Processes that outlived a killed command."""
    asked_again: int = 0
    """Requests that the server answered a second time, because the first reply was on its way when the fault came."""
    not_run: str = ""
    """Why this fault could not be tried here."""
    problems: list[str] = field(default_factory=list)
    """What is wrong, in words."""

    @property
    def wrong(self) -> bool:
        """Whether something is lost, doubled, different, untrue or left."""
        counts = (self.lost, self.doubled, self.differing, self.untrue, self.left_behind, len(self.problems))
        return any(counts)

    @property
    def sound(self) -> bool:
        """Whether faults came, unless they could not be tried here, and nothing is wrong."""
        return not self.wrong and (bool(self.not_run) or (self.compared > 0 and self.injected > 0))

    def note(self, problem: str) -> None:
        """Note what is wrong; nothing when the text is empty."""
        if problem:
            self.problems.append(problem)

    def compare(self, expected: Mapping[str, str], found: Mapping[str, str]) -> None:
        """Count the files whose hashes differ, and those that only one side has."""
        self.compared += 1
        differ = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
        self.differing += len(differ)
        self.note(f"different: {', '.join(differ[:8])}" if differ else "")


def table(rows: list[Row]) -> str:
    """The rows in Markdown."""
    lines = [f"| {' | '.join(COLUMNS.values())} |", "|---" * len(COLUMNS) + "|"]
    lines += [f"| {' | '.join(str(getattr(row, name)) for name in COLUMNS)} |" for row in rows]
    lines += [f"\nNot run: {row.scenario}, {row.store}, {row.fault}: {row.not_run}." for row in rows if row.not_run]
    return "\n".join(lines)


def files(wanted: Callable[[Path], bool]) -> Callable[[Path], dict[str, str]]:
    """Make a function that hashes the files of a folder of which the name, relative to the folder, is wanted."""

    def hashes(folder: Path) -> dict[str, str]:
        found = (path for path in sorted(folder.rglob("*")) if path.is_file() and wanted(path.relative_to(folder)))
        return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}

    return hashes
