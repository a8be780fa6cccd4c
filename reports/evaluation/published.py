"""Published results to compare with: files of several shapes, recognised by their columns."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from agenthard.reports.evaluation.episodes import EvaluationError
from agenthard.reports.evaluation.published_shapes import (
    RATE,
    Places,
    PublishedModel,
    per_cell,
    per_domain,
    per_instance,
    per_rate,
)
from agenthard.taxonomy.declared import Declared
from agenthard.taxonomy.record import Record

LARGEST = 64 << 20
_CELLS = re.compile(r"successes_of_(\d+)")
_PER_INSTANCE = ("model", "instance_id", "domain", "score")
Kind = Literal["per-instance", "domain-means", "cells", "rates"]


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


def _shapes(declared: Declared) -> str:
    factors = [factor.column or factor.name for factor in declared.factors]
    by_cell = ["model", *factors]
    return (
        f"results per instance ({', '.join(sorted({*_PER_INSTANCE, *factors}))}), successes per cell "
        f"({', '.join((*by_cell, 'successes_of_N'))}), rates per cell ({', '.join((*by_cell, 'n', RATE))}), "
        "or means per domain (model, one column per domain, optionally overall)"
    )


def read_published(path: Path, declared: Declared, instances_per_domain: int | None = None) -> Published:
    """Read a file of published results; its columns tell what it holds.

    A domain mean is turned back into a count k = mean · n. Where not exactly one whole k gives the printed mean, the
    model is left out and the problem says so: a wrong n would make every interval wrong. A mean is taken to be printed
    with as many decimals as the longest in the file, for a spreadsheet drops trailing zeros.

    Args:
        path: a CSV file with a header.
        declared: what the benchmark declares: its factors name columns.
        instances_per_domain: instances behind one domain mean, which such files do not say; None for the number that
            the benchmark declares.

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
    places = Places(names, declared)
    known, placed = set(names), bool(declared.factors) and {"model", *places.columns.values()} <= set(names)
    each = declared.instances_per_group if instances_per_domain is None else instances_per_domain
    if placed and known >= set(_PER_INSTANCE):
        kind, models = "per-instance", per_instance(rows, places, path.name, problems)
    elif placed and cells:
        kind, models = "cells", per_cell(rows, cells[0], int(cells[1]), places, path.name, problems)
    elif placed and {"n", RATE} <= known:
        kind, models = "rates", per_rate(rows, names, places, declared, path.name, problems)
    elif each and "model" in names and len(names) > 1 and not cells and not {"score", RATE} & known:
        kind, models = "domain-means", per_domain(rows, names, each, path.name, problems)
    else:
        raise EvaluationError(
            f"{path}: its columns ({', '.join(names) or 'none'}) are not those of {_shapes(declared)}"
        )
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
                    "measures": known.measures or model.measures,
                }
            )
        found[key] = model
    return tuple(sorted(found.values(), key=lambda m: (-m.passed / max(m.n, 1), m.model, m.n)))
