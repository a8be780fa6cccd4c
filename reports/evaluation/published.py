"""Published results to compare with: files of several shapes, read into passed instances per model, domain and cell."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor
from pathlib import Path
from typing import Literal, TypeVar

from agenthard.reports.evaluation.episodes import EvaluationError
from agenthard.taxonomy.record import Record


class DomainCount(Record):
    """A published model in one domain."""

    domain: str
    """Domain."""
    passed: int
    """Instances solved; from a mean, the whole number that gives it."""
    n: int
    """Instances."""


class CellCount(Record):
    """A published model in one cell."""

    hidden_slots: int
    """H."""
    decoy_budget: int
    """B, which the paper's files call the branch budget."""
    passed: int
    """Instances solved."""
    n: int
    """Instances."""


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


T = TypeVar("T", int, float)
Line = tuple[int, Mapping[str, str | None]]


def per_instance(rows: Sequence[Line], source: str, problems: list[str]) -> list[PublishedModel]:
    """Collect results per instance; a row that cannot be read, or an instance a second time, becomes a problem."""
    seen: set[tuple[str, str]] = set()
    domains: dict[str, dict[str, list[int]]] = {}
    cells: dict[str, dict[tuple[int, int], list[int]]] = {}
    for line, row in rows:
        model, instance, domain = ((row[name] or "").strip() for name in ("model", "instance_id", "domain"))
        place = _place(row)
        if not model or not instance or place is None or row["score"] not in ("0", "1", "0.0", "1.0"):
            problems.append(f"line {line}: needs a model, an instance, whole H and B, and a score of 0 or 1; left out")
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
            cells=_cells({place: (sum(s), len(s)) for place, s in cells[model].items()}),
        )
        for model, by_domain in domains.items()
    ]


def per_cell(rows: Sequence[Line], column: str, n: int, source: str, problems: list[str]) -> list[PublishedModel]:
    """Collect successes per cell of n instances; a row that cannot be read, or a second one, becomes a problem."""
    found: dict[str, dict[tuple[int, int], tuple[int, int]]] = {}
    for line, row in rows:
        model, place, passed = (row["model"] or "").strip(), _place(row), _number(row[column], int)
        if not model or place is None or passed is None or not 0 <= passed <= n:
            problems.append(f"line {line}: needs a model, whole H and B, and successes from 0 to {n}; left out")
        elif place in found.setdefault(model, {}):
            problems.append(f"line {line}: {model} has the cell H = {place[0]}, B = {place[1]} twice; left out")
        else:
            found[model][place] = passed, n
    return [
        PublishedModel(
            model=model,
            sources=(source,),
            passed=sum(k for k, _ in cells.values()),
            n=sum(size for _, size in cells.values()),
            cells=_cells(cells),
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


def _place(row: Mapping[str, str | None]) -> tuple[int, int] | None:
    hidden, budget = _number(row["hidden_slots"], int), _number(row["branch_budget"], int)
    return None if hidden is None or budget is None else (hidden, budget)


def _number(text: str | None, kind: Callable[[str], T]) -> T | None:
    try:
        return kind(text or "")
    except ValueError:
        return None


def _cells(cells: Mapping[tuple[int, int], tuple[int, int]]) -> tuple[CellCount, ...]:
    return tuple(CellCount(hidden_slots=h, decoy_budget=b, passed=k, n=n) for (h, b), (k, n) in sorted(cells.items()))


INSTANCES_PER_DOMAIN = 54
"""Instances behind one domain mean of the ACE paper's Table 2: 6 values of H × 9 of B, one trial."""
LARGEST = 64 << 20
_CELLS = re.compile(r"successes_of_(\d+)")
_PER_INSTANCE = {"model", "instance_id", "domain", "hidden_slots", "branch_budget", "score"}
_SHAPES = (
    f"results per instance ({', '.join(sorted(_PER_INSTANCE))}), successes per cell (model, hidden_slots, "
    "branch_budget, successes_of_N), or means per domain (model, one column per domain, optionally overall)"
)
Kind = Literal["per-instance", "domain-means", "cells"]


class Published(Record):
    """One file of published results."""

    source: str
    """Name of the file."""
    kind: Kind
    """What its rows are."""
    models: tuple[PublishedModel, ...]
    """Models in the order of the file."""
    problems: tuple[str, ...]
    """Rows that cannot be read and numbers that do not fit, each with its line."""


def read_published(path: Path, instances_per_domain: int = INSTANCES_PER_DOMAIN) -> Published:
    """Read a file of published results; its columns tell what it holds.

    A domain mean is turned back into a count k = mean · n. Where not exactly one whole k gives the printed mean, the
    model is left out and the problem says so: a wrong n would make every interval wrong. A mean is taken to be printed
    with as many decimals as the longest in the file, for a spreadsheet drops trailing zeros.

    Args:
        path: a CSV file with a header.
        instances_per_domain: instances behind one domain mean; such files do not say it.

    Returns:
        The models it holds, and what could not be read.

    Raises:
        EvaluationError: when the file cannot be read or has none of the known shapes.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise EvaluationError(f"{path}: larger than {LARGEST >> 20} MiB, which no table of published results is")
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = [name or "" for name in reader.fieldnames or []]
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise EvaluationError(f"{path}: no published results can be read from it ({error})") from error
    cells = next((found for name in names if (found := _CELLS.fullmatch(name))), None)
    problems: list[str] = []
    kind: Kind
    if set(names) >= _PER_INSTANCE:
        kind, models = "per-instance", per_instance(rows, path.name, problems)
    elif cells and {"model", "hidden_slots", "branch_budget"} <= set(names):
        kind, models = "cells", per_cell(rows, cells[0], int(cells[1]), path.name, problems)
    elif "model" in names and len(names) > 1 and not cells and "score" not in names:
        kind, models = "domain-means", per_domain(rows, names, instances_per_domain, path.name, problems)
    else:
        raise EvaluationError(f"{path}: its columns ({', '.join(names) or 'none'}) are not those of {_SHAPES}")
    if not models and not problems:
        problems.append("the file has no rows")
    return Published(source=path.name, kind=kind, models=tuple(models), problems=tuple(problems))


def merged(files: Sequence[Published]) -> tuple[PublishedModel, ...]:
    """Merge the models of several files: one that two files count equally becomes one, with all that both say.

    Args:
        files: the files.

    Returns:
        Models, best share first and then by name. A model that two files count differently stays twice.
    """
    found: dict[tuple[str, int, int], PublishedModel] = {}
    for model in (model for file in files for model in file.models):
        key = (model.model, model.passed, model.n)
        known = found.get(key)
        if known is not None:
            model = known.model_copy(
                update={
                    "sources": tuple(dict.fromkeys((*known.sources, *model.sources))),
                    "domains": known.domains or model.domains,
                    "cells": known.cells or model.cells,
                }
            )
        found[key] = model
    return tuple(sorted(found.values(), key=lambda m: (-m.passed / max(m.n, 1), m.model, m.n)))
