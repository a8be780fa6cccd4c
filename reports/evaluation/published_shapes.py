"""The shapes of files of published results, each read into passed instances per model, domain and cell."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor
from typing import TypeVar

from pydantic import Field

from agenthard.reports.evaluation.levels import AtLevels
from agenthard.taxonomy.declared import Declared
from agenthard.taxonomy.record import Record

LENGTHS = ("turns", "messages", "calls")
NOTE = "note"
"""Column of what a reader has to know about a published rate, such as that its cell is inferred."""
RATE = "success_percent"
"""Column of a published rate in percent, next to its n."""


class DomainCount(Record):
    """A published model in one domain."""

    domain: str
    """Domain."""
    passed: int
    """Instances solved; from a mean, the whole number that gives it."""
    n: int
    """Instances."""


class CellCount(AtLevels):
    """A published model in one cell."""

    levels: dict[str, int]
    """Factor → its level; written as a field for each factor."""
    passed: int
    """Instances solved."""
    n: int
    """Instances."""


class PublishedMeasure(AtLevels):
    """One published number of a model that is not its score."""

    levels: dict[str, int]
    """Factor → its level; written as a field for each factor."""
    measure: str
    """Name of the measure, or of a length such as calls."""
    value: float
    """The number; a share is from 0 to 1."""


class PublishedModel(Record):
    """One model of a published result. It was measured by others, on other instances and under other conditions."""

    model: str
    """Model."""
    sources: tuple[str, ...]
    """Names of the files that say so."""
    passed: int
    """Instances solved."""
    n: int
    """Instances."""
    domains: tuple[DomainCount, ...] = ()
    """Per domain, where the file has it."""
    cells: tuple[CellCount, ...] = ()
    """Per cell, where the file has it."""
    measures: tuple[PublishedMeasure, ...] = Field(default=(), exclude_if=lambda measures: not measures)
    """Other numbers, where the file has them."""


T = TypeVar("T", int, float)
Line = tuple[int, Mapping[str, str | None]]
Place = tuple[int, ...]
"""Levels in the order of the factors."""


class Places:
    """The columns of a file that say where in the factors a row is."""

    def __init__(self, names: Sequence[str], declared: Declared) -> None:
        """Find them among the columns of the file."""
        self.columns = {factor.name: factor.column_in(list(names)) for factor in declared.factors}
        self.letters = " and ".join(factor.letter for factor in declared.factors)
        self._letters = {factor.name: factor.letter for factor in declared.factors}

    def of(self, row: Mapping[str, str | None]) -> Place | None:
        """Return the levels of a row in the order of the factors; None unless all are whole numbers."""
        found = [_number(row[column], int) for column in self.columns.values()]
        known = tuple(level for level in found if level is not None)
        return known if len(known) == len(found) else None

    def levels(self, place: Place) -> dict[str, int]:
        """Name the levels."""
        return dict(zip(self.columns, place, strict=True))

    def words(self, place: Place) -> str:
        """Say where a place is."""
        return ", ".join(f"{self._letters[name]} = {level}" for name, level in self.levels(place).items())

    def cells(self, counts: Mapping[Place, tuple[int, int]]) -> tuple[CellCount, ...]:
        """Make the cells of one model from (passed, n) per place."""
        return tuple(CellCount(levels=self.levels(at), passed=k, n=n) for at, (k, n) in sorted(counts.items()))


def per_instance(rows: Sequence[Line], places: Places, source: str, problems: list[str]) -> list[PublishedModel]:
    """Collect results per instance; a row that cannot be read, or an instance a second time, becomes a problem."""
    seen: set[tuple[str, str]] = set()
    domains: dict[str, dict[str, list[int]]] = {}
    cells: dict[str, dict[Place, list[int]]] = {}
    for line, row in rows:
        model, instance, domain = ((row[name] or "").strip() for name in ("model", "instance_id", "domain"))
        place = places.of(row)
        if not model or not instance or place is None or row["score"] not in ("0", "1", "0.0", "1.0"):
            problems.append(
                f"line {line}: needs a model, an instance, whole {places.letters}, and a score of 0 or 1; left out"
            )
        elif (model, instance) in seen:
            problems.append(f"line {line}: {model} has instance {instance} a second time; left out")
        else:
            seen.add((model, instance))
            score = int(float(row["score"] or 0))
            domains.setdefault(model, {}).setdefault(domain, []).append(score)
            cells.setdefault(model, {}).setdefault(place, []).append(score)
    return [
        PublishedModel(
            model=model,
            sources=(source,),
            passed=sum(map(sum, by_domain.values())),
            n=sum(map(len, by_domain.values())),
            domains=tuple(DomainCount(domain=d, passed=sum(s), n=len(s)) for d, s in sorted(by_domain.items())),
            cells=places.cells({place: (sum(s), len(s)) for place, s in cells[model].items()}),
        )
        for model, by_domain in domains.items()
    ]


def per_cell(
    rows: Sequence[Line], column: str, n: int, places: Places, source: str, problems: list[str]
) -> list[PublishedModel]:
    """Collect successes per cell of n instances; a row that cannot be read, or a second one, becomes a problem."""
    found: dict[str, dict[Place, tuple[int, int]]] = {}
    for line, row in rows:
        model, place, passed = (row["model"] or "").strip(), places.of(row), _number(row[column], int)
        if not model or place is None or passed is None or not 0 <= passed <= n:
            problems.append(
                f"line {line}: needs a model, whole {places.letters}, and successes from 0 to {n}; left out"
            )
        elif place in found.setdefault(model, {}):
            problems.append(f"line {line}: {model} has the cell {places.words(place)} twice; left out")
        else:
            found[model][place] = passed, n
    return [
        PublishedModel(
            model=model,
            sources=(source,),
            passed=sum(k for k, _ in cells.values()),
            n=sum(size for _, size in cells.values()),
            cells=places.cells(cells),
        )
        for model, cells in found.items()
        if cells
    ]


def per_domain(
    rows: Sequence[Line], names: Sequence[str], n: int, source: str, problems: list[str]
) -> list[PublishedModel]:
    """Turn means per domain of n instances back into counts; a mean that no single count gives becomes a problem."""
    domains = [name for name in names if name not in ("model", "overall", "")]
    times = Counter((row["model"] or "").strip() for _, row in rows)
    digits = max((_digits(row[name]) for _, row in rows for name in domains), default=0)
    models = []
    for line, row in rows:
        model = (row["model"] or "").strip()
        counts = {domain: counts_of(row[domain], n, digits) for domain in domains}
        wrong = [f"{domain} = {row[domain]!r}" for domain, fitting in counts.items() if not fitting]
        unsure = [f"{domain} = {row[domain]!r}" for domain, fitting in counts.items() if len(fitting) > 1]
        if not model or times[model] > 1:
            problems.append(f"line {line}: {model or 'no model'} is named {times[model]} times; left out")
        elif wrong or unsure:
            why = f"no k of {n} gives {', '.join(wrong)}" if wrong else f"several k of {n} give {', '.join(unsure)}"
            problems.append(f"line {line}: {model} left out: {why} with {digits} decimals")
        else:
            passed = {domain: fitting[0] for domain, fitting in counts.items()}
            total = n * len(domains)
            overall, solved = row.get("overall"), sum(passed.values())
            if overall and solved not in counts_of(overall, total, digits):
                problems.append(f"line {line}: {model}: overall is {overall}, its domains give {solved / total:.6f}")
            models.append(
                PublishedModel(
                    model=model,
                    sources=(source,),
                    passed=solved,
                    n=total,
                    domains=tuple(DomainCount(domain=d, passed=k, n=n) for d, k in sorted(passed.items())),
                )
            )
    return models


def per_rate(
    rows: Sequence[Line], names: Sequence[str], places: Places, declared: Declared, source: str, problems: list[str]
) -> list[PublishedModel]:
    """Turn rates in percent of n instances back into counts, and collect the measures next to them.

    A rate that no k of n gives becomes a problem and counts nowhere; the measures of its row are kept. A note in the
    file is passed on.
    """
    columns = _measure_columns(names, declared)
    counts: dict[str, dict[Place, tuple[int, int]]] = {}
    measures: dict[str, list[PublishedMeasure]] = {}
    seen: set[tuple[str, Place]] = set()
    for line, row in rows:
        model, place = (row["model"] or "").strip(), places.of(row)
        if not model or place is None:
            problems.append(f"line {line}: needs a model and whole {places.letters}; left out")
            continue
        if (model, place) in seen:
            problems.append(f"line {line}: {model} has the cell {places.words(place)} twice; left out")
            continue
        seen.add((model, place))
        measures.setdefault(model, [])
        if note := (row.get(NOTE) or "").strip():
            problems.append(f"line {line}: {model}, {places.words(place)}: {note}")
        text = (row[RATE] or "").strip()
        if text:
            count = _count_of_rate(text, row, f"line {line}: {model}, {places.words(place)}", problems)
            if count is not None:
                counts.setdefault(model, {})[place] = count
        for column, (measure, scale) in columns.items():
            value = _number(row[column], float)
            if value is not None:
                levels = places.levels(place)
                measures[model].append(PublishedMeasure(levels=levels, measure=measure, value=value * scale))
    return [
        PublishedModel(
            model=model,
            sources=(source,),
            passed=sum(k for k, _ in counts.get(model, {}).values()),
            n=sum(n for _, n in counts.get(model, {}).values()),
            cells=places.cells(counts.get(model, {})),
            measures=tuple(found),
        )
        for model, found in measures.items()
    ]


def _count_of_rate(text: str, row: Mapping[str, str | None], where: str, problems: list[str]) -> tuple[int, int] | None:
    percent, n = _number(text, float), _number(row["n"], int)
    if percent is None or n is None or n < 1:
        problems.append(f"{where}: needs a rate in percent and the n of it; not counted")
        return None
    fitting = counts_of(str(percent / 100), n, _digits(text) + 2)
    if len(fitting) == 1:
        return fitting[0], n
    near = [100 * k / n for k in (floor(percent / 100 * n), ceil(percent / 100 * n))]
    said = " and ".join(f"{share:.{_digits(text)}f}" for share in near)
    why = f"no k of {n} gives it (the nearest give {said})" if not fitting else f"several k of {n} give it"
    problems.append(f"{where}: a rate of {text} %: {why}; not counted")
    return None


def _measure_columns(names: Sequence[str], declared: Declared) -> dict[str, tuple[str, float]]:
    """Return the columns of measures: shares are in percent, under names that say so."""
    known = {f"{m.name}_percent": (m.name, 0.01) for m in declared.measures if m.unit == "share"}
    known |= {m.name: (m.name, 1.0) for m in declared.measures if m.unit == "number"}
    known |= {name: (name, 1.0) for name in (*LENGTHS, *declared.facts, *declared.counts)}
    return {name: known[name] for name in names if name in known and name not in {f.name for f in declared.factors}}


def counts_of(text: str | None, n: int, digits: int) -> list[int]:
    """Find the whole numbers k for which k / n, rounded to the printed digits, is the printed mean.

    Args:
        text: the mean as printed, 0..1; trailing zeros may be dropped.
        n: instances.
        digits: decimals that the file prints.

    Returns:
        Every k that fits; none when the text is not such a mean.

    >>> counts_of("0.944444", 54, 6), counts_of("0.5", 54, 6), counts_of("0.95", 54, 6), counts_of("0.5", 54, 1)
    ([51], [27], [], [25, 26, 27, 28, 29])
    """
    mean = _number(text, float)
    if mean is None or not 0 <= mean <= 1:
        return []
    half = 0.5000001 * 10.0**-digits
    return [
        k
        for k in range(max(0, floor((mean - half) * n)), min(n, ceil((mean + half) * n)) + 1)
        if abs(k / n - mean) <= half
    ]


def _digits(text: str | None) -> int:
    return len((text or "").strip().partition(".")[2])


def _number(text: str | None, kind: Callable[[str], T]) -> T | None:
    try:
        return kind(text or "")
    except ValueError:
        return None
