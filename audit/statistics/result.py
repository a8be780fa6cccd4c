"""What every statistic returns: a number with its n, method and seed, or the reason why there is none."""

from math import isfinite

from pydantic import Field, model_validator

from agenthard.taxonomy.record import Record

PREFIX = "undefined because "


class Estimate(Record):
    """A finite number with its sample size, method and interval; a statistic without a value returns ``Undefined``."""

    value: float
    """The number; a share lies in 0..1, a separability in 0..100."""
    n: int = Field(ge=0)
    """Units the number was computed from."""
    of: int = Field(ge=0)
    """Units there were; larger than ``n`` when some are missing ("n of N")."""
    unit: str
    """What ``n`` counts: tasks, models, pairs of models, runs."""
    method: str
    """How it was computed, including ties and missing values."""
    low: float | None = None
    """Lower end of the interval."""
    high: float | None = None
    """Upper end of the interval."""
    level: float | None = Field(default=None, gt=0, lt=1)
    """Coverage of the interval (0.95 = 95 %), or the level of the intervals or tests the number counts."""
    standard_error: float | None = Field(default=None, ge=0)
    """Standard error of ``value``."""
    seed: int | None = None
    """Seed that reproduces the number; None when nothing is random."""

    @model_validator(mode="after")
    def _finite_and_ordered(self) -> "Estimate":
        numbers = (self.value, self.low, self.high, self.standard_error)
        if not all(number is None or isfinite(number) for number in numbers):
            raise ValueError(f"an estimate holds finite numbers only, got {numbers}: return Undefined with the reason")
        if self.n > self.of:
            raise ValueError(f"n = {self.n} exceeds the {self.of} {self.unit} there were")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends: give low and high, or neither")
        if self.low is not None and self.high is not None and (self.low > self.high or self.level is None):
            raise ValueError(f"an interval needs low <= high and a level, got {self.low}, {self.high}, {self.level}")
        return self


class Undefined(Record):
    """Why a statistic has no value here. It is never replaced by 0, 1 or NaN."""

    reason: str = Field(pattern=f"^{PREFIX}")
    """A sentence that starts with "undefined because"."""
    n: int = Field(default=0, ge=0)
    """Units that could have been used."""
    unit: str = ""
    """What ``n`` counts."""


Result = Estimate | Undefined


def undefined(reason: str, n: int = 0, unit: str = "") -> Undefined:
    """Return a result without a value, with the reason.

    Args:
        reason: what is wrong with the input, to follow the words "undefined because".
        n: units that could have been used.
        unit: what ``n`` counts.

    Returns:
        The named result.

    >>> undefined("one model was given; a comparison needs two").reason
    'undefined because one model was given; a comparison needs two'
    """
    return Undefined(reason=PREFIX + reason, n=n, unit=unit)


def check_level(level: float) -> float:
    """Refuse a coverage that is not strictly between 0 and 1.

    Args:
        level: coverage of an interval, as a share (0.95, not 95).

    Returns:
        The level.

    Raises:
        ValueError: when it is not.
    """
    if not 0 < level < 1:
        raise ValueError(f"the level must lie strictly between 0 and 1 (0.95 for 95 %), got {level}")
    return level
