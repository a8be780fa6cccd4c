"""Mutants of the reference solutions: how many of them a grader scores as high as the original.

A mutant differs from the solution in one place of a line that the task added. It is drawn in an order that depends
on the
task only, one after the other from each kind of change, so that the same mutants are measured everywhere.
"""

import difflib
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agenthard.agency.judges import Grade
from agenthard.agency.scenario import ScenarioTask
from agenthard.agency.suite.catalogue import COMMANDS, HERE, REFERENCE, Play, apply, grade_work, prepare
from agenthard.taxonomy.record import Record

COUNT = 24
"""Mutants of each task."""
CODE = (".js", ".py", ".html", ".css", ".sh")
SWAPS = {
    " === ": " !== ",
    " !== ": " === ",
    " == ": " != ",
    " != ": " == ",
    " < ": " <= ",
    " <= ": " < ",
    " > ": " >= ",
    " >= ": " > ",
    " + ": " - ",
    " - ": " + ",
    " * ": " + ",
    " && ": " || ",
    " || ": " && ",
    " and ": " or ",
    " or ": " and ",
    " += ": " -= ",
    " -= ": " += ",
    "true": "false",
    "false": "true",
    "True": "False",
    "False": "True",
    " not in ": " in ",
}
NUMBER = re.compile(r"(?<![\w.#])\d+(?![\w.])")
STRING = re.compile(r"\"([^\"\\\n]+)\"|'([^'\\\n]+)'")
WORD = re.compile(r"[A-Za-z]{3,}")


class Mutant(NamedTuple):
    """A reference solution with one change."""

    id: str
    """File, line, kind of change and place in the line."""
    path: str
    """The changed file."""
    line: str
    """The line as it was."""
    text: str
    """The file with the change."""


class Survey(Record):
    """What the mutants of one task showed."""

    task: str
    """Task."""
    mutants: int
    """How many were graded, without equivalent ones."""
    survivors: tuple[str, ...]
    """Those that scored as high as the original."""
    equivalent: tuple[str, ...]
    """Drawn mutants that do the same as the original in all that the task asks."""
    clauses: dict[str, float]
    """For each clause, the share of the mutants that meet it as well as the original."""


def equivalents() -> dict[str, dict[str, str]]:
    """Return the mutants that are known to do the same as the original, with the reason, by task."""
    found: dict[str, dict[str, str]] = json.loads((HERE / "equivalent.json").read_text(encoding="utf-8"))
    return found


def _edits(line: str, *, code: bool) -> Iterator[tuple[str, int, str]]:
    """Yield the changes of a line: kind, place, and the line with the change."""
    for match in NUMBER.finditer(line):
        yield "number", match.start(), f"{line[: match.start()]}{int(match[0]) + 1}{line[match.end() :]}"
    if code:
        for match in STRING.finditer(line):
            yield "string", match.start(), f"{line[: match.end() - 1]}x{line[match.end() - 1 :]}"
        for word, other in SWAPS.items():
            for match in re.finditer(re.escape(word), line):
                yield "swap", match.start(), line[: match.start()] + other + line[match.end() :]
    else:
        for match in WORD.finditer(line):
            yield "word", match.start(), f"{line[: match.start()]}{match[0][1:]}{line[match.end() :]}"
    yield "delete", 0, ""


def _changed(before: Path, after: Path) -> set[int]:
    """Return the lines of a file that it did not have before."""
    old = before.read_text(encoding="utf-8").splitlines() if before.is_file() else []
    new = after.read_text(encoding="utf-8").splitlines()
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {at for kind, _, _, begin, end in blocks if kind != "equal" for at in range(begin, end)}


def mutants(play: Play, task: ScenarioTask, before: Path, count: int = COUNT) -> list[Mutant]:
    """Draw mutants of the reference solution of a task.

    Args:
        play: the scenario.
        task: its task.
        before: the workspace that the task begins on.
        count: how many.
    """
    overlay = play.solutions / REFERENCE / task.id
    kinds: dict[str, list[Mutant]] = {}
    for file in sorted(path for path in overlay.rglob("*") if path.is_file() and path.name != COMMANDS):
        path = file.relative_to(overlay).as_posix()
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        for number in sorted(_changed(before / path, file)):
            if len(lines[number].strip()) < 3 or lines[number].lstrip().startswith(
                ("import ", "from ", '"use strict"')
            ):
                continue
            for kind, place, changed in _edits(lines[number], code=file.suffix in CODE):
                text = "".join([*lines[:number], changed, *lines[number + 1 :]])
                mutant = Mutant(f"{path}:{number + 1}:{kind}:{place}", path, lines[number].strip(), text)
                kinds.setdefault(kind, []).append(mutant)
    draw = random.Random(task.id)
    for found in kinds.values():
        draw.shuffle(found)
    order = [
        each
        for turn in range(max(map(len, kinds.values())))
        for found in kinds.values()
        for each in found[turn : turn + 1]
    ]
    return order[:count]


def survey(play: Play, task: ScenarioTask, parent: Path, count: int = COUNT) -> Survey:
    """Grade mutants of the reference solution of a task, and compare each grade with that of the original.

    Args:
        play: the scenario.
        task: its task.
        parent: an empty folder.
        count: how many mutants are drawn.
    """
    work = parent / "work"
    prepare(play, task, parent / "before")
    drawn = mutants(play, task, parent / "before", count)
    prepare(play, task, work)
    apply(play, task, REFERENCE, work)
    original = grade_work(play, task, work, parent)
    known = equivalents().get(task.id, {})
    grades: dict[str, Grade] = {}
    for mutant in drawn:
        if mutant.id in known:
            continue
        kept = (work / mutant.path).read_bytes()
        (work / mutant.path).write_text(mutant.text, encoding="utf-8")
        grades[mutant.id] = grade_work(play, task, work, parent)
        (work / mutant.path).write_bytes(kept)
    met = {
        clause.criterion: sum(found.criteria[at].share >= clause.share for found in grades.values()) / len(grades)
        for at, clause in enumerate(original.criteria)
    }
    return Survey(
        task=task.id,
        mutants=len(grades),
        survivors=tuple(name for name, found in grades.items() if found.points >= original.points),
        equivalent=tuple(each.id for each in drawn if each.id in known),
        clauses=met,
    )
