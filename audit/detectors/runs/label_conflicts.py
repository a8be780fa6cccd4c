"""A habit that splits perfectly by another field of the logs: then a label is in doubt, and nobody is to blame.

Logs name the model that plays the user, the agent, the experiment and the file. Where one name has a habit in (nearly)
every run of some values of another field and in no run of its others, the same model can hardly have done both: one of
the two labels is wrong, or the setting differs in something that the logs do not say.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.trajectory import Trajectory

Margins = dict[str, dict[str, list[int]]]
"""Runs, and runs with the habit, by field and value."""
RULE = 0.5
"""A value has the habit when the 95 % Wilson interval of its share lies above this."""
NEVER = 0.1
"""The other values lack it when they have no run with it, and the interval of their common share ends below this."""


class LabelSplit(NamedTuple):
    """How a habit splits."""

    field: str
    """Field of the logs that it splits by."""
    having: tuple[str, ...]
    """Values whose runs have it."""
    lacking: tuple[str, ...]
    """Values whose runs never have it."""
    affected: int
    """Runs with it; all of them are of values that have it."""
    runs: int
    """Runs of these values."""
    clean: int
    """Runs of the others."""

    def sentence(self, who: str, habit: str) -> str:
        """Say it of somebody with a habit, such as "gives its thoughts away"."""
        return (
            f"The logs disagree about {who}: it {habit} in {self.affected:,} of {self.runs:,} runs whose {self.field} "
            f"is {', '.join(self.having)}, and in none of {self.clean:,} runs whose {self.field} is "
            f"{', '.join(self.lacking)}. Runs of both kinds carry the same name, so a label is wrong, or the runs "
            "differ in something that the logs do not say."
        )


def other_fields(run: Trajectory, *, by_agent: bool) -> dict[str, str]:
    """Return what the log says of a run beside who is counted.

    Args:
        run: the run.
        by_agent: whether agents are who is counted; else it is the simulator of one experiment.
    """
    file = run.origin.file if run.origin else ""
    counted = {"simulated user": run.user_model or "", "experiment": run.protocol or ""}
    return {**(counted if by_agent else {"agent": run.model}), "source file": file}


def count(margins: Margins, fields: Mapping[str, str], affected: bool) -> None:
    """Count a run."""
    for field, value in fields.items():
        cell = margins.setdefault(field, {}).setdefault(value, [0, 0])
        cell[0] += 1
        cell[1] += affected


def added(several: Iterable[Mapping[str, Mapping[str, list[int]]]]) -> Margins:
    """Add up the counts of several tasks."""
    total: Margins = {}
    for margins in several:
        for field, values in margins.items():
            for value, (runs, affected) in values.items():
                cell = total.setdefault(field, {}).setdefault(value, [0, 0])
                cell[0] += runs
                cell[1] += affected
    return total


def label_split(margins: Mapping[str, Mapping[str, list[int]]]) -> LabelSplit | None:
    """Find the field that a habit splits perfectly by; None when none does."""
    for field, values in margins.items():
        having = {value: cell for value, cell in values.items() if cell[1]}
        lacking = {value: cell for value, cell in values.items() if not cell[1]}
        clean = sum(runs for runs, _ in lacking.values())
        if not having or not clean or wilson(0, clean)[1] >= NEVER:
            continue
        if all(wilson(affected, runs)[0] > RULE for runs, affected in having.values()):
            runs, affected = (sum(cell[i] for cell in having.values()) for i in (0, 1))
            names = [tuple(sorted(value or "not named" for value in group)) for group in (having, lacking)]
            return LabelSplit(field, names[0], names[1], affected, runs, clean)
    return None
