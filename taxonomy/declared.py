"""What a benchmark declares about itself, so that evaluations and their reports need not know it by name."""

from pathlib import Path
from typing import Literal

from agenthard.taxonomy.record import Record


class Factor(Record):
    """A whole number of a task that makes it harder as it rises."""

    name: str
    """Its column in the table of episodes."""
    letter: str
    """How figures abbreviate it."""
    label: str
    """What it counts, in the plural."""
    about: str
    """What it says of a task, as a part of a sentence."""
    rising: str
    """What happens as it rises, as a part of a sentence."""
    column: str = ""
    """Its column in files of published results, where that has another name."""

    @property
    def title(self) -> str:
        """Label and letter.

        >>> Factor(name="n", letter="n", label="parts", about="", rising="").title
        'parts (n)'
        """
        return f"{self.label} ({self.letter})"

    def column_in(self, names: "list[str]") -> str:
        """Return its column in a table with these columns."""
        return self.column if self.column and self.column in names else self.name


class Measure(Record):
    """A number of an episode, made of columns of the table of episodes: ``part / whole``, or ``part`` alone."""

    name: str
    """Its name in tables."""
    label: str
    """What it says, in a few words."""
    unit: Literal["share", "number"] = "share"
    """share: 0 to 1, written in percent. number: anything else."""
    better: Literal["higher", "lower", "neither"]
    """Which way is better."""
    part: str
    """Column of the numerator."""
    whole: str = ""
    """Column of the denominator; without one the measure is the numerator."""
    pooled: bool = False
    """True: sum of the numerators over sum of the denominators. False: mean over episodes."""
    passed_only: bool = False
    """Whether only episodes that passed count."""
    undefined: str = ""
    """Why an episode may have none, such as ``the room hides nothing``; empty where every episode has one."""


class Axis(Record):
    """A condition that varies between episodes, or between evaluations that are compared."""

    name: str
    """Its column in the table of episodes."""
    letter: str
    """How figures abbreviate it."""
    label: str
    """What it is."""
    condition: str = ""
    """The condition that it is, of which an evaluation has one value or several; empty for the failure rate."""
    first: tuple[str, ...] = ()
    """Values that come before others, numbers by size and then texts; the first one is the reference."""

    def rank(self, value: str) -> tuple[int, float, str]:
        """Return what the order of values follows from.

        >>> sorted(["30", "5", "x", "0"], key=Axis(name="n", letter="n", label="n", first=("0",)).rank)
        ['0', '5', '30', 'x']
        """
        if value in self.first:
            return 0, self.first.index(value), ""
        try:
            return 1, float(value), ""
        except ValueError:
            return 2, 0.0, value


FAILURE_RATE = Axis(name="failure_rate", letter="p", label="failure rate of tools")
"""Share of tool calls that fail on purpose: every benchmark has it."""


class Declared(Record):
    """The declaration of one benchmark."""

    factors: tuple[Factor, ...] = ()
    """Factors, the most important one first."""
    facts: tuple[str, ...] = ()
    """Whole numbers of a task that get a column of the table of episodes, the factors among them."""
    counts: tuple[str, ...] = ()
    """Whole numbers that the benchmark counts in an episode, beyond turns, messages and calls."""
    measures: tuple[Measure, ...] = ()
    """Measures, each a panel of the report."""
    axes: tuple[Axis, ...] = (FAILURE_RATE,)
    """Axes whose values together make the conditions of an episode."""
    steps: Literal["messages", "turns"] = "turns"
    """What the benchmark's paper counts as steps."""
    by_turn: bool = False
    """Whether runs are long enough for the report to say what happens early and late in them."""
    ending: str = ""
    """What an ending does not decide, as the end of a sentence; empty without a note."""
    instances_per_group: int = 0
    """Instances behind one published mean of a group; 0: no such means are published."""
    published: tuple[Path, ...] = ()
    """Files of published results that come with the benchmark."""

    def factor(self, name: str) -> Factor:
        """Return the factor of a name."""
        return next(factor for factor in self.factors if factor.name == name)


NOTHING = Declared()
"""Of a benchmark that declares nothing: scores, pairs and costs remain."""
