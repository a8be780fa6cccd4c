"""Agreement by category and by component: is a flaw named as people name it, or at least found?"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from agenthard.audit.statistics.result import Result
from agenthard.audit.statistics.sampling_frame import Mask
from agenthard.reports.alignment.answers import Answers
from agenthard.reports.alignment.measures import Labelled, Settings
from agenthard.taxonomy.categories import COMPONENT_TITLES, Taxonomy
from agenthard.taxonomy.record import Record


class KindRow(Record):
    """Agreement on one category, or on one component."""

    name: str
    """Id of the category, or the component."""
    kind: Literal["category", "component"]
    """Which of the two."""
    precision: Result
    """Share of the tasks flagged for it that labels name it on."""
    recall: Result
    """Share of the tasks labelled with it that were flagged for it."""
    f1: Result
    """Harmonic mean of the two."""
    found_at_all: Result
    """Share of the tasks labelled with it that were flagged, for any reason."""


class Kinds(Record):
    """All categories and components that labels or flags name."""

    rows: tuple[KindRow, ...]
    """Components, then categories, in the order of the taxonomy."""
    without_category: int
    """Flawed tasks left out of the categories, because their labels name none of the taxonomy."""
    without_component: int
    """Flawed tasks left out of the components."""


def by_kind(answers: Answers, labelled: Labelled, taxonomy: Taxonomy, settings: Settings) -> Kinds:
    """Compare categories and components.

    A label set often names one category per task where a task has two flaws, so precision here is a lower bound;
    ``found_at_all`` does not depend on naming. A task whose flaw has no known name counts in no row.

    Args:
        answers: who flagged what, for which categories.
        labelled: the labelled tasks.
        taxonomy: the categories.
        settings: parameters.
    """
    component_of = {category.id: category.component for category in taxonomy.categories}

    def named(task_id: str) -> set[str]:
        answer = answers.by_task.get(task_id)
        return set(answer.categories) if answer is not None and answer.flagged else set()

    flags = [named(task_id) for task_id in labelled.frame.tasks]
    parts = [{str(component_of[each]) for each in categories if each in component_of} for categories in flags]
    truth = labelled.truth
    components = [(task.components, task.component_known) for task in truth]
    categories = [(task.categories, task.category_known) for task in truth]
    count = _Counting(answers, labelled, settings)
    rows = [
        *count.rows("component", list(COMPONENT_TITLES), parts, components),
        *count.rows("category", list(component_of), flags, categories),
    ]
    return Kinds(
        rows=tuple(rows),
        without_category=sum(not task.category_known for task in truth),
        without_component=sum(not task.component_known for task in truth),
    )


class _Counting:
    def __init__(self, answers: Answers, labelled: Labelled, settings: Settings) -> None:
        self._frame, self._settings = labelled.frame, settings
        self._flagged, self._answered = labelled.answered(answers)

    def rows(
        self,
        kind: Literal["category", "component"],
        names: Sequence[str],
        flags: Sequence[set[str]],
        truth: Sequence[tuple[tuple[str, ...], bool]],
    ) -> list[KindRow]:
        """Count each name that a flag or a label has; ``truth`` gives each task's names and whether they are known."""
        known = np.array([is_known for _, is_known in truth], dtype=np.bool_) & self._answered
        rows = []
        for name in names:
            flagged: Mask = np.array([name in flag for flag in flags], dtype=np.bool_) & known
            true: Mask = np.array([name in given for given, _ in truth], dtype=np.bool_) & known
            if flagged.any() or true.any():
                rows.append(self._row(name, kind, flagged, true, known))
        return rows

    def _row(
        self, name: str, kind: Literal["category", "component"], flagged: Mask, true: Mask, known: Mask
    ) -> KindRow:
        frame, settings = self._frame, self._settings
        return KindRow(
            name=name,
            kind=kind,
            precision=frame.rate(true, flagged, "flagged tasks"),
            recall=frame.rate(flagged, true, "labelled tasks"),
            f1=frame.f1(flagged, true, known, resamples=settings.resamples, seed=settings.seed),
            found_at_all=frame.rate(self._flagged, true, "labelled tasks"),
        )
