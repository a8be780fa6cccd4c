"""Puts an instance together: ids, names, order and text, none of which says anything about the truth."""

from collections.abc import Mapping

import numpy as np

from agenthard.ace.domain import Domain
from agenthard.ace.generator.scaffold import Scaffold
from agenthard.ace.generator.space import Ints, Space
from agenthard.ace.instance import Answer, Item, Puzzle, Slot, SlotAnswer
from agenthard.ace.wording import instruction


def assemble(
    rng: np.random.Generator,
    id: str,
    scaffold: Scaffold,
    candidates_per_slot: int,
    limits: dict[str, int],
    decoys: Mapping[int, Ints],
    filters: Mapping[int, Ints],
    stages: Mapping[int, int],
) -> tuple[Puzzle, Answer]:
    """Makes the records of an instance.

    Args:
        rng: Source of randomness.
        id: Id of the instance.
        scaffold: Its frame.
        candidates_per_slot: Candidates in every slot.
        limits: Threshold by name of global rule.
        decoys: Decoys by index of slot; slots without are left out.
        filters: Filters by index of slot.
        stages: Preference level by index of decoy slot.

    Returns:
        The public and the private part.
    """
    space = scaffold.space
    slot_count = len(scaffold.slots)
    blocks = [scaffold.truth]
    for index in range(slot_count):
        blocks += [decoys.get(index, scaffold.truth[:0]), filters[index]]
    ids, items = _items(rng, space, np.concatenate(blocks))
    ends = np.cumsum([len(block) for block in blocks]).tolist()
    groups = [tuple(ids[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    cells = groups[0]
    slots, answers = [], []
    for index, frame in enumerate(scaffold.slots):
        truth, mine, other = cells[scaffold.at(index)], groups[1 + 2 * index], groups[2 + 2 * index]
        candidates = rng.permutation([truth, *mine, *other]).tolist()
        slots.append(Slot(*frame.cell, frame.limits, tuple(candidates)))
        answers.append(SlotAnswer(truth, mine, other, stages.get(index)))
    hidden = {frame.cell for frame in scaffold.slots}
    rows, cols = len(cells) // scaffold.cols, scaffold.cols
    solution = tuple(cells[row * cols : (row + 1) * cols] for row in range(rows))
    grid = tuple(
        tuple(None if (row, col) in hidden else item for col, item in enumerate(line))
        for row, line in enumerate(solution)
    )
    text = instruction(space.domain, rows, cols, limits, slots)
    puzzle = Puzzle(id, space.domain.name, rows, cols, candidates_per_slot, limits, items, grid, tuple(slots), text)
    return puzzle, Answer(solution, tuple(answers))


def _items(rng: np.random.Generator, space: Space, values: Ints) -> tuple[list[str], dict[str, Item]]:
    """Gives every item an id and a name; returns the ids in the order given, and the items in the order of ids."""
    domain = space.domain
    numbers = rng.permutation(np.arange(1, max(20 * len(values), 1000) + 1))[: len(values)].tolist()
    words = rng.integers(0, 2**31, size=len(values)).tolist()
    labels = rng.integers(100, 1000, size=len(values)).tolist()
    attributes = [attribute.name for attribute in domain.attributes]
    ids: list[str] = []
    items: dict[int, Item] = {}
    for row, number, word, label in zip(values, numbers, words, labels, strict=True):
        item: Item = dict(zip(attributes, space.values(row), strict=True))
        id = f"{domain.id_prefix}{number:03d}"
        items[number] = {domain.id_key: id, "name": f"{_label(domain, item, word)} {label}", **item}
        ids.append(id)
    return ids, {str(item[domain.id_key]): item for _, item in sorted(items.items())}


def _label(domain: Domain, item: Item, word: int) -> str:
    labels = domain.naming.labels[str(item[domain.naming.by]) if domain.naming.by is not None else ""]
    return labels[word % len(labels)]
