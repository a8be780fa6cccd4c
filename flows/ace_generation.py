"""Write a suite: instances are written to disk as they are generated, and an interrupted suite is resumed.

Instances are always made into JSON lines. A suite in Parquet, and files in the layout of the paper, are made of these
when all are there; until then the lines are in the folder ``unfinished``.
"""

import shutil
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Any

from agenthard.ace import files, reference_format, storage
from agenthard.ace.generation import AceGenerator
from agenthard.ace.generator import Parameters
from agenthard.ace.storage import SUITES
from agenthard.flows.errors import CommandError
from agenthard.flows.generators import counted, write_lines
from agenthard.flows.progress import current

UNFINISHED = "unfinished"
"""Folder of the lines until they are converted into another format."""


class SuiteFormat(StrEnum):
    """How a suite is written."""

    JSONL = "jsonl"
    """A folder with the public part apart from the private one, in JSON lines."""
    PARQUET = "parquet"
    """The same in Parquet."""
    REFERENCE = "reference"
    """One JSON file per domain, in the layout of the paper."""


@dataclass(frozen=True)
class Written:
    """A suite, or a file of one."""

    file: str
    """Its path."""
    instances: int
    """How many instances it holds."""


def write_suite(parameters: Parameters, out: Path, form: SuiteFormat, workers: int = 1) -> list[Written]:
    """Generate a suite into a folder; what an earlier run of the same has left there is kept.

    Args:
        parameters: the suite.
        out: the folder; it is made if need be.
        form: how to write it.
        workers: processes; they change no byte, and neither do interruptions.

    Returns:
        What was written, or was there already.

    Raises:
        CommandError: the folder holds another suite.
        GenerationError: an instance met no attempt's conditions; those before it are kept.
        OSError: the folder cannot be written.
    """
    asked = dict(AceGenerator().asked(parameters))
    targets = _targets(parameters, out, form)
    _require_free(out, asked, form)
    if form is SuiteFormat.JSONL:
        write_lines(AceGenerator(), parameters, out, workers)
    elif not all(Path(target.file, storage.HEAD if form is SuiteFormat.PARQUET else "").exists() for target in targets):
        work = out / UNFINISHED
        write_lines(AceGenerator(), parameters, work, workers)
        current().start(f"writing {form}", total=parameters.count)
        if form is SuiteFormat.PARQUET:
            _to_parquet(work, out, asked, parameters.count)
        else:
            _to_files(work, out, parameters)
    if form is not SuiteFormat.JSONL:
        shutil.rmtree(out / UNFINISHED, ignore_errors=True)
    return targets


def filename(parameters: Parameters, domain: str) -> str:
    """Return the name of a file in the layout of the paper: the paper's name, then the settings that the paper lacks.

    Args:
        parameters: the suite.
        domain: name of the domain.

    Returns:
        A name that differs wherever the content does.
    """
    stem = parameters.header(domain).filename(parameters.seed).removesuffix(".json")
    each = f"_each{parameters.per_cell}" if parameters.per_cell > 1 else ""
    return f"{stem}{each}{'_coupling' if parameters.coupling else ''}.json"


def _targets(parameters: Parameters, out: Path, form: SuiteFormat) -> list[Written]:
    if form is not SuiteFormat.REFERENCE:
        return [Written(str(out), parameters.count)]
    count = parameters.count // len(parameters.domains)
    return [Written(str(out / filename(parameters, domain)), count) for domain in parameters.domains]


def _require_free(out: Path, asked: dict[str, Any], form: SuiteFormat) -> None:
    """Refuse a folder in which readers would take the suite for another one, or overlook it."""
    if not out.exists():
        return
    if files.is_suite(out):
        head = SUITES.read_head(out)
        same = form != SuiteFormat.REFERENCE and head["kind"] == form and head.get("parameters") == asked
        if not same or "split" in head:
            raise CommandError(
                f"{out} holds another suite, or this one in another format; choose another folder, or remove it"
            )
    elif form is not SuiteFormat.REFERENCE:
        others = [place for place in files.find(out) if place != out / UNFINISHED or form is SuiteFormat.JSONL]
        if others:
            raise CommandError(f"{out} holds other ACE-Bench files, such as {others[0]}; choose another folder")


def _to_parquet(work: Path, out: Path, asked: dict[str, Any], count: int) -> None:
    made = work / "made"
    SUITES.write(made, counted(SUITES.read(work)), asked, kind="parquet", count=count)
    for name in (*(path.name for path in SUITES.parts(made, "parquet")), storage.HEAD):
        (made / name).replace(out / name)


def _to_files(work: Path, out: Path, parameters: Parameters) -> None:
    count = parameters.count // len(parameters.domains)
    names = []
    for domain, instances in groupby(counted(SUITES.read(work)), key=lambda instance: instance.puzzle.domain):
        names.append(filename(parameters, domain))
        reference_format.write(work / names[-1], parameters.header(domain), instances, count)
    for name in names:
        (work / name).replace(out / name)
