"""All candidates of all scenes as one table of arrays, so that a probe is a few lines of arithmetic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agenthard.audit.probes.candidates import CandidateSet, Rule, Scene, as_number
from agenthard.audit.probes.columns import Cast, Column, Floats, Ints, columns

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Table:
    """One row per candidate, the rows of a choice together and in the order offered."""

    scenes: tuple[Scene, ...]
    """The scenes."""
    names: tuple[tuple[str, str], ...]
    """Per choice: ids of its scene and of itself."""
    scene: Ints
    """Per row: its scene."""
    choice: Ints
    """Per row: its choice, numbered over all scenes; ascending."""
    origin: Ints
    """Per row: its row in the table as built, before any was left out."""
    ids: tuple[str, ...]
    """Per row: id of the candidate."""
    truth: Bools
    """Per row: is it the right one?"""
    allowed: Bools
    """Per row: does it meet the rules of its choice? True where there are none."""
    ruled: Bools
    """Per row: has its choice rules?"""
    position: Floats
    """Per row: place in the list of candidates as offered, from 0."""
    offered: Floats
    """Per row: length of that list."""
    pool: Floats
    """Per row: place in the list of all items of the scene; NaN where there is none."""
    margin: Floats
    """Per row: distance to the nearest limit of its choice's rules, as a share of the attribute's range among all
    items of the kind; NaN without rules."""
    look_ahead: dict[str, Floats]
    """By way to look, per row: how well it fits the rest of the task; NaN where not known."""
    slack: dict[str, Floats]
    """By rule of the whole task, per row: how far inside the rule it stays; NaN where not known."""
    columns: tuple[Column, ...]
    """Attributes."""
    shown_scene: Ints
    """Per shown item: its scene."""
    shown_ids: tuple[str, ...]
    """Per shown item: its id."""

    @classmethod
    def build(cls, scenes: Sequence[Scene]) -> "Table":
        """Lay out scenes. Choices of fewer than two candidates tell nothing and are left out."""
        choices = [(s, c) for s, scene in enumerate(scenes) for c in scene.sets if len(c.candidates) > 1]
        sizes = np.array([len(choice.candidates) for _, choice in choices], dtype=np.int64)
        items = [item for _, choice in choices for item in choice.candidates]
        shown = [(s, item) for s, scene in enumerate(scenes) for item in scene.shown]
        scene = np.repeat(np.array([s for s, _ in choices], dtype=np.int64), sizes)
        cast = Cast(
            items=[*items, *(item for _, item in shown)],
            kinds=[scenes[s].kind for s in (*scene, *(s for s, _ in shown))],
            scenes=np.concatenate([scene, np.array([s for s, _ in shown], dtype=np.int64)]),
            candidates=len(items),
        )

        def limited(key: str) -> Bools:
            return np.repeat(
                np.array([any(rule.attribute == key for rule in choice.rules) for _, choice in choices], dtype=bool),
                sizes,
            )

        places = [{item: place for place, item in enumerate(scene.pool)} for scene in scenes]
        allowed, margin = _margins(scenes, choices)
        return cls(
            scenes=tuple(scenes),
            names=tuple((scenes[s].id, choice.id) for s, choice in choices),
            scene=scene,
            choice=np.repeat(np.arange(len(choices)), sizes),
            origin=np.arange(len(items)),
            ids=tuple(item["id"] for item in items),
            truth=_join([np.arange(len(c.candidates)) == c.truth for _, c in choices]) > 0,
            allowed=allowed,
            ruled=np.repeat(np.array([bool(choice.rules) for _, choice in choices], dtype=bool), sizes),
            position=_join([np.arange(size) for size in sizes]),
            offered=np.repeat(sizes, sizes).astype(float),
            pool=np.array([places[s].get(item["id"], np.nan) for s, item in zip(scene, items, strict=True)]),
            margin=margin,
            look_ahead=_stated([(choice.look_ahead, len(choice.candidates)) for _, choice in choices]),
            slack=_stated([(choice.slack, len(choice.candidates)) for _, choice in choices]),
            columns=tuple(columns(cast, limited)),
            shown_scene=cast.scenes[len(items) :],
            shown_ids=tuple(item["id"] for _, item in shown),
        )

    def __len__(self) -> int:
        """Number of candidates."""
        return len(self.choice)

    @cached_property
    def starts(self) -> Ints:
        """First row of every choice."""
        return np.flatnonzero(np.diff(self.choice, prepend=-1))

    @cached_property
    def sizes(self) -> Ints:
        """Number of candidates of every choice."""
        return np.diff(self.starts, append=len(self))

    @cached_property
    def answers(self) -> Ints:
        """Row of the right candidate of every choice."""
        return np.flatnonzero(self.truth)

    def lowest(self, values: Floats) -> Floats:
        """Per row, the lowest value of its choice; NaN where none is known."""
        return np.repeat(np.fmin.reduceat(values, self.starts), self.sizes)

    def highest(self, values: Floats) -> Floats:
        """Per row, the highest value of its choice; NaN where none is known."""
        return np.repeat(np.fmax.reduceat(values, self.starts), self.sizes)

    def total(self, values: NDArray[np.generic]) -> Floats:
        """Per row, the sum over its choice; an unknown value counts 0."""
        known = np.nan_to_num(np.asarray(values, dtype=float))
        return np.repeat(np.add.reduceat(known, self.starts), self.sizes)

    def mean(self, values: Floats) -> Floats:
        """Per row, the mean of the known values of its choice; NaN where none is known."""
        known = self.total(~np.isnan(values))
        mean: Floats = np.divide(self.total(values), known, out=np.full(len(self), np.nan), where=known > 0)
        return mean

    def ranks(self, values: Floats) -> Floats:
        """Per row, its rank within the choice from 0 (lowest) to 1 (highest), ties at their mean, 0.5 when alone."""
        order = np.lexsort((values, self.choice))
        arranged, owner = values[order], self.choice[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (arranged[1:] != arranged[:-1]) | (owner[1:] != owner[:-1])
        first = np.flatnonzero(new)
        lengths = np.diff(first, append=len(order))
        middle = np.empty(len(order))
        middle[order] = np.repeat(first + (lengths - 1) / 2, lengths)
        others = self.total(~np.isnan(values)) - 1
        share = (middle - np.repeat(self.starts, self.sizes)) / np.maximum(others, 1)
        ranks: Floats = np.where(np.isnan(values), np.nan, np.where(others > 0, share, 0.5))
        return ranks

    def keep(self, rows: Bools) -> "Table":
        """Return the table with only some rows, without choices that lose their answer or all rivals."""
        wanted = rows & (self.total(rows & self.truth) > 0) & (self.total(rows) > 1)
        index = np.flatnonzero(wanted)
        kept, choice = np.unique(self.choice[index], return_inverse=True)
        return replace(
            self,
            names=tuple(self.names[number] for number in kept),
            scene=self.scene[index],
            choice=choice.astype(np.int64),
            origin=self.origin[index],
            ids=tuple(self.ids[i] for i in index),
            truth=self.truth[index],
            allowed=self.allowed[index],
            ruled=self.ruled[index],
            position=self.position[index],
            offered=self.offered[index],
            pool=self.pool[index],
            margin=self.margin[index],
            look_ahead={way: scores[index] for way, scores in self.look_ahead.items()},
            slack={rule: scores[index] for rule, scores in self.slack.items()},
            columns=tuple(column.take(index) for column in self.columns),
        )

    def hide_ruled(self) -> "Table":
        """Return the table without attribute values and margins that a stated rule limits: rules tell the truth."""
        hidden = tuple(column.hide_ruled() for column in self.columns)
        return replace(self, columns=hidden, margin=np.full(len(self), np.nan))


def _join(parts: Sequence[ArrayLike]) -> Floats:
    return np.concatenate([np.asarray(part, dtype=float) for part in parts]) if parts else np.empty(0)


def _stated(choices: Sequence[tuple[Mapping[str, Sequence[float]], int]]) -> dict[str, Floats]:
    """Lay out numbers that choices state by name, NaN where one does not."""
    names = sorted({name for stated, _ in choices for name in stated})
    return {name: _join([stated.get(name, np.full(size, np.nan)) for stated, size in choices]) for name in names}


def _margins(scenes: Sequence[Scene], choices: Sequence[tuple[int, CandidateSet]]) -> tuple[Bools, Floats]:
    """Per candidate: whether it meets all rules, and how close it comes to the nearest limit."""
    values: dict[tuple[str, str], list[Floats]] = {}
    ruled: list[list[tuple[Rule, Floats]]] = []
    for s, choice in choices:
        ruled.append([])
        for rule in choice.rules:
            numbers = np.array([as_number(item.get(rule.attribute)) for item in choice.candidates])
            values.setdefault((scenes[s].kind, rule.attribute), []).append(numbers)
            ruled[-1].append((rule, numbers))
    ranges = {key: _width(np.concatenate(parts)) or 1.0 for key, parts in values.items()}
    allowed, nearest = [], []
    for (s, choice), rules in zip(choices, ruled, strict=True):
        meets, least = np.ones(len(choice.candidates), dtype=bool), np.full(len(choice.candidates), np.nan)
        for index, (rule, numbers) in enumerate(rules):
            margin = rule.limit - numbers if rule.upper else numbers - rule.limit
            meets &= margin >= 0
            share = abs(margin) / ranges[scenes[s].kind, rule.attribute]
            least = np.where(share < least, share, least) if index else share
        allowed.append(meets)
        nearest.append(least)
    return _join(allowed) > 0, _join(nearest)


def _width(numbers: Floats) -> float:
    return float(np.nanmax(numbers) - np.nanmin(numbers))
