"""Labels of any number of annotators: read from files, mapped to the taxonomy, and combined into one truth per task."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenthard.reports.kit.text import slug
from agenthard.reports.labels import Label, LabelError, label_of
from agenthard.taxonomy.categories import COMPONENT_TITLES, Taxonomy
from agenthard.taxonomy.record import Record


@dataclass
class Names:
    """Turns a label set's words into ids of the taxonomy."""

    taxonomy: Taxonomy
    """The taxonomy."""
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Word of the label set → id of a category."""

    def __post_init__(self) -> None:
        ids = {category.id for category in self.taxonomy.categories}
        for word, target in self.mapping.items():
            if target not in ids:
                known = "`agenthard taxonomy` lists the categories"
                raise ValueError(f"{word!r} is mapped to {target!r}, which is unknown; {known}")
        self._known = {slug(name): c.id for c in self.taxonomy.categories for name in (c.id, c.name)}
        self._known |= {slug(word): target for word, target in self.mapping.items()}
        self._components = {slug(name): key for key, title in COMPONENT_TITLES.items() for name in (key, title)}

    def category(self, word: str | None) -> str | None:
        """Return the id of the category that ``word`` names; None when it names none."""
        return None if word is None else self._known.get(slug(word))

    def component(self, word: str | None, category: str | None) -> str | None:
        """Return the component that ``word`` names, else that of the category, else None."""
        named = self._components.get(slug(word or ""))
        return named or (self.taxonomy[category].component if category else None)


class SecondLookLine(Record):
    """The result of a second look at a task on which labels and flags differ."""

    task_id: str
    """Task."""
    annotator: str
    """Who looked at it."""
    confirmed_later: bool | None
    """Whether the flaw is there after all."""
    mode: str | None
    """Why the judge was wrong."""


class LabelSet(Record):
    """All labels that were given."""

    labels: tuple[Label, ...]
    """One per task and annotator, in the order of the files."""
    second_looks: tuple[SecondLookLine, ...]
    """Lines without a verdict that report a second look; they are not labels."""
    open: int
    """Lines of a sheet that are not filled in yet."""
    replaced: int
    """Lines that a later line of the same annotator on the same task replaced."""

    @property
    def annotators(self) -> tuple[str, ...]:
        """Names of those who labelled, in order of their first label."""
        return tuple(dict.fromkeys(label.annotator or "" for label in self.labels))


def read_label_set(paths: Sequence[Path], truth: str = "flawed") -> LabelSet:
    """Read label files (JSON Lines, see ``label_of``).

    A line without an ``annotator`` is by the file's name. A line whose field ``truth`` is null is not filled in yet:
    it is counted and otherwise ignored. A line without that field that has ``confirmed_later`` or ``mode`` reports a
    second look. A later line of the same annotator on the same task counts instead of the earlier one.

    Raises:
        LabelError: when a file cannot be read, a line is not a label, or no label is found.
    """
    found: dict[tuple[str, str], Label] = {}
    looks: list[SecondLookLine] = []
    still_open = replaced = 0
    for path in paths:
        for place, row in _rows(path):
            row = {"annotator": path.stem, **_given(row)}
            again = truth not in row and row.keys() & {"confirmed_later", "mode"}
            try:
                if not again and row[truth] is None:
                    still_open += 1
                    continue
                label = label_of({**row, truth: False} if again else row, truth)
            except (ValueError, KeyError, TypeError) as error:
                what = f"{type(error).__name__}: {error}"
                raise LabelError(f"{place}: {what}; a label needs task_id and the boolean field {truth!r}") from error
            key = (label.task_id, label.annotator or "")
            if again:
                answer = {name: getattr(label, name) for name in ("confirmed_later", "mode")}
                if any(value is not None for value in answer.values()):
                    looks.append(SecondLookLine(task_id=key[0], annotator=key[1], **answer))
                else:
                    still_open += 1
                continue
            replaced += key in found
            found[key] = label
    if not found:
        left = f"; {still_open} lines are not filled in" if still_open else ""
        raise LabelError(f"{', '.join(path.name for path in paths)}: no labels{left}")
    return LabelSet(labels=tuple(found.values()), second_looks=tuple(looks), open=still_open, replaced=replaced)


def _rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LabelError(f"{path}: cannot read it: {error}") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise LabelError(f"{place}: not valid JSON: {error}; expected one JSON object per line") from error
        if not isinstance(row, dict):
            raise LabelError(f"{place}: expected a JSON object with task_id and a verdict")
        rows.append((place, row))
    return rows


def _given(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "annotator" or value not in (None, "")}


class Truth(Record):
    """What people say about one task."""

    task_id: str
    """Task."""
    flawed: bool
    """What most annotators say."""
    annotators: int
    """How many labelled it."""
    categories: tuple[str, ...]
    """Taxonomy categories that annotators name who call it flawed, sorted."""
    components: tuple[str, ...]
    """Components of these, or as the labels name them, sorted."""
    category_known: bool
    """Whether every flaw that is named has a category of the taxonomy; always so for a sound task."""
    component_known: bool
    """Whether a component is known; always so for a sound task."""
    cluster: str | None
    """Cluster, as the labels give it."""
    looked_again: bool
    """Whether there was a second look."""
    confirmed_later: bool
    """Whether most second looks say that the flaw is there after all."""
    modes: tuple[str, ...]
    """Why the judge was wrong on it, in the annotators' words, sorted."""


class Consensus(Record):
    """The truth by majority."""

    tasks: tuple[Truth, ...]
    """Tasks on which a majority agrees, in order of their first label."""
    tied: tuple[str, ...]
    """Tasks on which as many say flawed as not; they count only for the annotators' agreement."""


def consensus(labels: Sequence[Label], names: Names, second_looks: Sequence[SecondLookLine] = ()) -> Consensus:
    """Take the majority of the annotators of each task.

    Args:
        labels: one label per task and annotator.
        names: the words of the label set.
        second_looks: results of second looks, in addition to those in the labels.
    """
    looks: dict[str, list[SecondLookLine]] = {}
    for look in second_looks:
        looks.setdefault(look.task_id, []).append(look)
    by_task: dict[str, list[Label]] = {}
    for label in labels:
        by_task.setdefault(label.task_id, []).append(label)
    tasks, tied = [], []
    for task_id, given in by_task.items():
        say = sum(label.flawed for label in given)
        if 2 * say == len(given):
            tied.append(task_id)
        else:
            tasks.append(_truth(task_id, given, looks.get(task_id, []), 2 * say > len(given), names))
    return Consensus(tasks=tuple(tasks), tied=tuple(tied))


def _truth(task_id: str, given: Sequence[Label], looks: Sequence[SecondLookLine], flawed: bool, names: Names) -> Truth:
    blaming = [label for label in given if label.flawed] if flawed else []
    found = [names.category(label.category) for label in blaming]
    components = [names.component(label.component, cat) for label, cat in zip(blaming, found, strict=True)]
    lines: list[Label | SecondLookLine] = [*given, *looks]
    again = [line.confirmed_later for line in lines if line.confirmed_later is not None]
    return Truth(
        task_id=task_id,
        flawed=flawed,
        annotators=len(given),
        categories=_sorted(found),
        components=_sorted(components),
        category_known=not flawed or None not in found,
        component_known=not flawed or None not in components,
        cluster=next((label.cluster for label in given if label.cluster is not None), None),
        looked_again=bool(again),
        confirmed_later=2 * sum(again) > len(again),
        modes=_sorted(line.mode for line in lines),
    )


def _sorted(words: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({word for word in words if word is not None}))
