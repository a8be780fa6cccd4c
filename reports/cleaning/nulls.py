"""A statistic of a split beside the same statistic on random subsets of equal size, and what that says in words."""

from agenthard.audit.statistics import Estimate, NullDistribution, Result, Undefined
from agenthard.audit.statistics.nulls import summarise_null
from agenthard.reports.amounts import amount, span
from agenthard.taxonomy.record import Record


class NullBand(Record):
    """What random subsets of the same number of tasks give, without the single draws."""

    mean: float
    """Mean over the draws."""
    low: float
    """5 % quantile of the draws."""
    high: float
    """95 % quantile of the draws."""
    n: int
    """Tasks in each random subset."""
    of: int
    """Tasks drawn from."""
    draws: int
    """Draws on which the statistic is defined."""
    of_draws: int
    """All draws."""
    seed: int
    """Seed of the draws."""
    method: str
    """What was computed on each draw."""
    observed: float | None = None
    """The statistic of the split that is being judged; None when it is undefined."""
    percentile: float | None = None
    """Where ``observed`` lies among the draws, 0..100: draws below and half of the draws equal."""
    exceeds: bool | None = None
    """Whether ``observed`` lies outside the 5–95 % band; None without an observed value."""

    @classmethod
    def of_draws_of(cls, null: NullDistribution | Undefined) -> "NullBand | Undefined":
        """Summarise a null distribution; a reason why there is none stays."""
        if isinstance(null, Undefined):
            return null
        return cls(**null.model_dump(exclude={"values"}), exceeds=null.exceeds)


class Measure(Record):
    """One statistic of one split, read against its null. Without a null the number says little."""

    id: str
    """Short name: agreement, agreement_corrected, separability, diversity, change_rate and so on."""
    title: str
    """Name for people."""
    unit: str
    """What the numbers are: "share" (0..1), "%" (0..100), "ranks", "models", "distance", "agreement", "τ-b"."""
    original: Result | None = None
    """The same statistic on the initial split, where that makes sense; None where it compares two splits."""
    observed: Result
    """The statistic on this split, or why it is undefined."""
    null: NullBand | Undefined
    """The statistic on random subsets of the initial split with as many tasks, or why there is none."""
    sentence: str
    """Plain words: whether the observed value exceeds what deleting as many random tasks does."""


def measure(
    id: str,
    title: str,
    unit: str,
    observed: Result,
    null: NullDistribution | Undefined,
    original: Result | None = None,
) -> Measure:
    """Put a statistic beside its null, with the verdict in words.

    Args:
        id: short name.
        title: name for people, as it starts a sentence.
        unit: what the numbers are (see ``Measure.unit``).
        observed: the statistic on the split.
        null: the statistic on random subsets; an observed value in it is replaced by ``observed``.
        original: the statistic on the initial split.

    Returns:
        The measure.
    """
    band: NullBand | Undefined = null if isinstance(null, Undefined) else NullBand.of_draws_of(_judge(null, observed))
    sentence = _sentence(title, unit, observed, band)
    return Measure(id=id, title=title, unit=unit, original=original, observed=observed, null=band, sentence=sentence)


def _judge(null: NullDistribution, observed: Result) -> NullDistribution:
    value = observed.value if isinstance(observed, Estimate) else None
    return summarise_null(null.values, null.of, null.n, null.of_draws, null.seed, null.method, value)


def _sentence(title: str, unit: str, observed: Result, null: NullBand | Undefined) -> str:
    if isinstance(observed, Undefined):
        return f"{title} is {observed.reason}."
    value = amount(observed.value, unit)
    if isinstance(null, Undefined):
        return f"{title}: {value}, without a null to compare with ({null.reason})."
    if not null.exceeds:
        verdict = "does not exceed"
    else:
        verdict = "exceeds" if observed.value > null.high else "lies below"
    return (
        f"{title}: {value}; deleting as many random tasks gives {amount(null.mean, unit)} on average (5–95 %: "
        f"{span(null.low, null.high, unit)}), so it {verdict} the null of deleting as many random tasks."
    )
