"""What the labels of all annotators say together about each task."""

from collections.abc import Iterable, Sequence

from agenthard.reports.alignment.labels import SecondLookLine
from agenthard.reports.alignment.naming import Names
from agenthard.reports.labels import Label
from agenthard.taxonomy.record import Record


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
    """Whether somebody looked a second time."""
    confirmed_later: bool
    """Whether most of those who looked a second time say that the flaw is there after all."""
    modes: tuple[str, ...]
    """Why the judge was wrong on it, in the annotators' words, sorted."""


class Consensus(Record):
    """The truth by majority."""

    tasks: tuple[Truth, ...]
    """Tasks on which a majority agrees, in order of their first label."""
    tied: tuple[str, ...]
    """Tasks on which as many say flawed as not; they count for nothing but the annotators' agreement."""


def consensus(labels: Sequence[Label], names: Names, second_looks: Sequence[SecondLookLine] = ()) -> Consensus:
    """Take the majority of the annotators of each task.

    Args:
        labels: one label per task and annotator.
        names: the words of the label set.
        second_looks: what was found on a second look, beside what the labels themselves say of one.
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
