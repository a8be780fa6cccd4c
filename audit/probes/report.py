"""The report of the probes, as data and as Markdown."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeAlias

from pydantic import Field, computed_field

from agenthard.taxonomy.record import Record

Scope: TypeAlias = Literal["all", "survivors"]
Verdict: TypeAlias = Literal["gives away", "is avoided", "at chance", "too few"]

LEVEL = 0.05
"""A probe counts as a give-away below this adjusted p."""
Grade: TypeAlias = Literal["certain", "strong", "note"]
CERTAIN = 0.5
"""A trait that always names the answer where it tells candidates apart is certain from this effect on."""
NOTE = 0.15
"""Below this effect a shortcut is a note: 39 % where chance is 29 %."""
FEWEST = 10
"""A probe that sets candidates apart in fewer choices is not judged."""
_PLACE: dict[Scope, str] = {
    "all": "Over all candidates",
    "survivors": "Among the candidates that meet the rules of their choice",
}
_EXPLAINED_BY = {
    "order": {"order"},
    "ids and pool order": {"ids", "pool order"},
    "text": {"text"},
    "attributes": {"attributes", "range", "consistency", "likeness", "duplicates", "limits"},
}
"""Families of simple probes that use what a learned probe of this trait is given."""


class ProbeResult(Record):
    """One probe in one scope. Rates are about the choices in which it sets candidates apart."""

    id: str
    """Names the probe."""
    family: str
    """Sort of trait it uses: order, ids, attributes ..."""
    trait: str
    """The trait. Several probes of one trait find one and the same give-away."""
    scope: Scope
    """all: over all candidates; survivors: over those that meet the stated rules of their choice."""
    says: str
    """What is claimed of the answer."""
    detail: str = ""
    """Where the trait shows most."""
    choices: int
    """Choices it applies to."""
    n: int
    """Those of them in which it sets candidates apart: it picks some, not all."""
    hits: int
    """Those of them in which the answer is among the picked."""
    rate: float
    """hits / n."""
    low: float
    """Lower end of its 95 % interval, clustered by task."""
    high: float
    """Upper end."""
    chance: float
    """The rate by chance: mean share of candidates that it picks."""
    p: float
    """Exact two-sided p of the hits (Poisson binomial)."""
    p_holm: float
    """p adjusted over all probes and scopes."""
    accuracy: float
    """How often one of the picked, taken at random, is the answer, over all choices it applies to."""
    guess: float
    """The same for any candidate taken at random."""
    examples: tuple[tuple[str, str], ...] = ()
    """A few choices where it holds, as (task, choice)."""
    tasks: tuple[str, ...] = Field(default=(), exclude=True)
    """Tasks with a choice where it holds; not written out."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> Verdict:
        """Whether the trait gives answers away: adjusted p below 0.05, and the interval on one side of chance."""
        if self.n < FEWEST:
            return "too few"
        if self.p_holm < LEVEL and self.low > self.chance:
            return "gives away"
        if self.p_holm < LEVEL and self.high < self.chance:
            return "is avoided"
        return "at chance"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        apart = "" if self.n == self.choices else f" (of {self.choices}) in which candidates differ there"
        text = (
            f"{_PLACE[self.scope]}, the answer {self.says} in {percent(self.rate)} of {self.n} choices{apart} "
            f"(95 % interval {percent(self.low)} to {percent(self.high)}); chance {percent(self.chance)}"
        )
        return f"{text} ({self.detail})." if self.detail and self.found else f"{text}."

    @property
    def found(self) -> bool:
        """Is it a shortcut, to the answer or away from a wrong one?"""
        return self.verdict in ("gives away", "is avoided")

    @property
    def covers_chance(self) -> bool:
        """Does the 95 % interval contain chance?"""
        return self.low <= self.chance <= self.high


class LookAhead(Record):
    """How far looking at one choice at a time solves the task; no shortcut, since it reads the rules."""

    way: str
    """Name of the way to look."""
    group: str
    """Which scenes: "" for all, else the group they state."""
    n: int
    """Choices with rivals."""
    accuracy: float
    """How often one of the best fitting candidates, taken at random, is the answer."""
    low: float
    """Lower end of the 95 % interval, clustered by task, of the rate at which the answer fits best or as well."""
    high: float
    """Upper end."""
    guess: float
    """The same for any candidate that meets the rules."""


class GiveAway(Record):
    """One shortcut: the strongest probe of a trait, and how many others of the trait agree."""

    trait: str
    """What gives answers away."""
    best: ProbeResult
    """The strongest probe."""
    agreeing: int
    """Further probes of the same trait that are not due to chance either."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def effect(self) -> float:
        """How much of what chance leaves open the trait tells, from 0 to 1 (all answers)."""
        return _effect(self.best)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def grade(self) -> Grade:
        """certain: the trait names the answer wherever it tells candidates apart. note: its effect is small."""
        if self.best.verdict == "gives away" and self.best.hits == self.best.n and self.effect >= CERTAIN:
            return "certain"
        return "note" if self.effect < NOTE else "strong"


class ProbeReport(Record):
    """Results of the whole battery."""

    scenes: int
    """Tasks."""
    choices: int
    """Choices with two candidates or more."""
    contested: int
    """Choices in which the stated rules leave the answer and a rival (all choices if no rules are stated)."""
    chance_all: float
    """Mean chance to guess the answer among all candidates."""
    chance_survivors: float
    """Mean chance to guess it among those that the rules leave, over the contested choices."""
    truth_breaks_rules: int
    """Choices whose answer breaks the stated rules: faults of the data, not looked at further among the survivors."""
    seed: int
    """Seed of the learned probes."""
    results: tuple[ProbeResult, ...]
    """One per probe and scope."""
    look_ahead: tuple[LookAhead, ...]
    """Per way to look and group."""

    def give_aways(self) -> list[GiveAway]:
        """Return one shortcut per trait, the one that tells most first.

        What a classifier learned counts only when it hits more often than the simple shortcuts on the same traits.
        """
        by_trait: dict[str, list[ProbeResult]] = {}
        for result in self.results:
            if result.found and result.family != "learned":
                by_trait.setdefault(result.trait, []).append(result)
        known = [result for found in by_trait.values() for result in found]
        for result in self.results:
            if result.found and result.family == "learned" and not _explained(result, known):
                by_trait.setdefault(f"learned from {result.trait}", []).append(result)
                known.append(result)
        shortcuts = [
            GiveAway(trait=trait, best=min(found, key=_by_effect), agreeing=len(found) - 1)
            for trait, found in by_trait.items()
        ]
        return sorted(shortcuts, key=lambda shortcut: (-round(shortcut.effect, 9), _strength(shortcut.best)))

    def missed_by_luck(self) -> tuple[int, int]:
        """Return how many 95 % intervals leave chance out, and of how many; one in twenty does so by luck."""
        judged = [result for result in self.results if result.n >= FEWEST]
        return sum(not result.covers_chance for result in judged), len(judged)

    def families(self) -> dict[str, tuple[int, int]]:
        """Return, by family, the number of probe results and of those that are shortcuts."""
        number = Counter(result.family for result in self.results)
        found = Counter(result.family for result in self.results if result.found)
        return {family: (number[family], found[family]) for family in number}


def percent(share: float) -> str:
    """Write a share as per cent, with a decimal where it is small.

    >>> percent(0.614), percent(0.034)
    ('61 %', '3.4 %')
    """
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 else f"{100 * share:.0f} %"


def _explained(learned: ProbeResult, known: list[ProbeResult]) -> bool:
    """Tell whether a known shortcut, on traits that the learned one was given too, hits as often in as many choices."""
    families = _EXPLAINED_BY.get(learned.trait)
    same = [r for r in known if r.scope == learned.scope and (families is None or r.family in families)]
    return any(result.accuracy >= learned.low and result.choices >= learned.choices for result in same)


def _strength(result: ProbeResult) -> tuple[bool, float, float, str]:
    """Sort key: traits of the answer before traits of wrong candidates, then by certainty and by size."""
    return (result.verdict != "gives away", result.p, -abs(result.rate - result.chance), result.id)


def _by_effect(result: ProbeResult) -> tuple[float, tuple[bool, float, float, str]]:
    """Sort key: what tells most first."""
    return -round(_effect(result), 9), _strength(result)


def _effect(result: ProbeResult) -> float:
    """Rise of the chance to be right, as a share of what a guess leaves open; choices without the trait count 0.

    A trait that answers avoid helps by crossing out: it makes each candidate that is left likelier by as much.
    """
    if result.verdict == "is avoided":
        left = (1 - result.rate) / max(1 - result.chance, 1e-9)
        gain = result.guess * (left - 1) * result.n / result.choices
    else:
        gain = result.accuracy - result.guess
    return min(max(gain / max(1 - result.guess, 1e-9), 0.0), 1.0)


def render(report: ProbeReport, *, every: bool = False) -> str:
    """Write a report for people.

    Args:
        report: what the battery found.
        every: True to list every probe, not only the shortcuts.

    Returns:
        Lines of text, the shortcuts first.
    """
    return "\n".join([*_head(report), "", *_shortcuts(report), "", *_families(report), *_ahead(report)]) + (
        "\n\n" + "\n".join(_table(report)) if every else ""
    )


def _head(report: ProbeReport) -> Iterator[str]:
    yield (
        f"{report.scenes} tasks, {report.choices} choices; a candidate taken at random is the answer in "
        f"{percent(report.chance_all)}."
    )
    if report.contested != report.choices or report.chance_survivors != report.chance_all:
        yield (
            f"In {report.contested} choices the stated rules leave a rival; one of those left, taken at random, is the "
            f"answer in {percent(report.chance_survivors)}."
        )
    if report.truth_breaks_rules:
        yield f"In {report.truth_breaks_rules} choices the answer breaks the stated rules of its own choice."


def _shortcuts(report: ProbeReport) -> Iterator[str]:
    found = report.give_aways()
    outside, judged = report.missed_by_luck()
    if found:
        notes = sum(shortcut.grade == "note" for shortcut in found)
        small = f"; {notes} with a small effect are notes" if notes else ""
        yield f"{len(found)} traits give answers away (adjusted p < {LEVEL}), largest effect first{small}:"
    else:
        yield f"No trait gives answers away: no probe of {judged} beats chance (adjusted p < {LEVEL})."
    for shortcut in found:
        more = f" {shortcut.agreeing} more results of this trait agree." if shortcut.agreeing else ""
        yield f"- {shortcut.grade}, {shortcut.trait}: {shortcut.best.sentence}{more}"
    yield (
        f"95 % intervals that leave chance out: {outside} of {judged}; by luck alone about {0.05 * judged:.0f} would."
    )


def _families(report: ProbeReport) -> Iterator[str]:
    yield "family: probes, shortcuts"
    for family, (number, found) in report.families().items():
        yield f"  {family}: {number}, {found}"


def _ahead(report: ProbeReport) -> Iterator[str]:
    if report.look_ahead:
        yield ""
        yield "Look-ahead (reads the rules, so not a shortcut): how often the best fitting candidate is the answer"
    for row in report.look_ahead:
        yield (
            f"  {row.way}, {row.group or 'all'}: {percent(row.accuracy)} of {row.n} choices "
            f"(at random {percent(row.guess)})"
        )


def _table(report: ProbeReport) -> Iterator[str]:
    yield f"{'scope':10}{'n':>6}{'rate':>8}{'95 % interval':>18}{'chance':>8}{'p (Holm)':>10}  probe"
    for result in report.results:
        yield _row(result)


def _row(result: ProbeResult) -> str:
    interval = f"{percent(result.low)} to {percent(result.high)}"
    mark = "" if result.verdict == "at chance" else f"  <- {result.verdict}"
    return (
        f"{result.scope:10}{result.n:6}{percent(result.rate):>8}{interval:>18}{percent(result.chance):>8}"
        f"{result.p_holm:10.2g}  the answer {result.says}{mark}"
    )
