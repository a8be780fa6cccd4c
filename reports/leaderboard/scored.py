"""What is known about one benchmark's leaderboards: splits, boards, models across them, runs that were judged again."""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from agenthard.audit.statistics import Result, Undefined
from agenthard.reports.cleaning.inputs import Experiment
from agenthard.reports.cleaning.leaderboard import Board
from agenthard.reports.cleaning.runs import RunsUsed
from agenthard.reports.cleaning.splits import Split
from agenthard.reports.kit.page import anchor
from agenthard.reports.kit.text import plural
from agenthard.taxonomy.record import Record

ScoredName = Literal["original", "clean", "hard", "repaired"]


class PagePart(Record):
    """A part of a page that is about one audit."""

    anchor: str
    """Anchor on the page: source, version and domains of the benchmark."""
    run: str
    """Name of the run folder."""


Part = TypeVar("Part", bound=PagePart)


class NotRescored(Record):
    """Recorded runs of repaired tasks that have no verdict under the changed ground truth."""

    reason: str
    """Why."""
    runs: int
    """Runs."""
    tasks: tuple[str, ...]
    """Tasks that they are of."""


class Rescoring(Record):
    """What became of the recorded runs of the tasks that a repair changed."""

    repaired: tuple[str, ...]
    """Tasks whose record changed."""
    runs: int
    """Their recorded runs with a verdict."""
    rescored: int
    """Runs that the evaluator judged again under the changed ground truth."""
    now_pass: int
    """Of them, those that failed and pass now."""
    now_fail: int
    """Of them, those that passed and fail now."""
    not_rescored: tuple[NotRescored, ...]
    """The others, by reason; they count nowhere on this split."""
    evaluator: str
    """What judged them; empty when nothing was judged."""

    @property
    def sentence(self) -> str:
        """The same in words."""
        text = (
            f"{plural(len(self.repaired), 'repaired task')}: {self.rescored:,} of {plural(self.runs, 'recorded run')} "
            f"{'was' if self.runs == 1 else 'were'} scored again"
        )
        if self.rescored:
            text += f" by {self.evaluator}; {self.now_pass:,} pass now, {self.now_fail:,} fail now"
        for each in self.not_rescored:
            text += f"; not re-scored: {plural(each.runs, 'run')} of {plural(len(each.tasks), 'task')} ({each.reason})"
        return f"{text}."


@dataclass(frozen=True)
class RepairedRuns:
    """The repaired split of an audit, with the recorded runs as the evaluator judges them on it."""

    task_ids: tuple[str, ...]
    """Tasks of the split, in the benchmark's order."""
    experiments: Sequence[Experiment]
    """All runs, those of repaired tasks judged again."""
    rescoring: Rescoring
    """What was judged again, and what could not be."""


class ScoredSplit(Record):
    """The leaderboard of one split."""

    name: ScoredName
    """Which split."""
    card: Split | Undefined
    """Its tasks, id and smallest detectable difference; or why the split does not exist."""
    board: Board | Undefined
    """Models, best first; or why no model can be ranked."""
    rescoring: Rescoring | None = None
    """What was scored again; None where the recorded verdicts hold."""


class ModelAcross(Record):
    """One model on every split."""

    model: str
    """Model."""
    anchor: str
    """Its anchor on the page."""
    ranks: dict[ScoredName, Result]
    """Rank with its interval, by split; splits on which it has none are left out."""
    scores: dict[ScoredName, Result]
    """Score with its interval, by split."""
    gained: int | None
    """Ranks gained from the first split to the last; None without both."""


class BenchmarkBoards(PagePart):
    """All leaderboards of one audited benchmark."""

    title: str
    """Name of the benchmark for people."""
    source: str
    """Name of the source."""
    version: str
    """Release label."""
    content_hash: str
    """Hash of the benchmark's files."""
    audit_key: str
    """Hash of the audit's inputs, options and checks."""
    policy: str
    """Version of the decision policy."""
    tasks: int
    """Tasks that could be read."""
    dropped: int
    """Tasks that the policy drops."""
    review: int
    """Tasks that wait for a person; they stay in the clean split."""
    domains: tuple[str, ...]
    """Domains that were audited; empty for all."""
    runs: RunsUsed | Undefined
    """The recorded runs; undefined when the audit was given none."""
    splits: tuple[ScoredSplit, ...]
    """Splits, in the order that was asked for."""
    models: tuple[ModelAcross, ...]
    """Models with a score, in the order of the first board."""
    stability: str
    """How the ranking moves from original to clean, compared with deleting as many random tasks; empty without."""


def unique_anchors(names: Collection[str]) -> Mapping[str, str]:
    """Give each name an anchor that does not depend on the order of the names.

    Names that would have the same anchor, such as names without a Latin letter, end in a part of their hash.

    >>> dict(unique_anchors(["o1", "GPT 4", "gpt-4"]))
    {'o1': 'o1', 'GPT 4': 'gpt-4-3eb04f', 'gpt-4': 'gpt-4-1b1ae7'}
    """
    plain = {name: anchor(name) for name in names}
    times = Counter(plain.values())
    return {
        name: base if times[base] == 1 else f"{base}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:6]}"
        for name, base in plain.items()
    }


def apart(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Tell several audits of one release apart: their anchors end in the name of the run folder."""
    times = Counter(part.anchor for part in parts)
    return tuple(
        part if times[part.anchor] == 1 else part.model_copy(update={"anchor": anchor(f"{part.anchor}-{part.run}")})
        for part in parts
    )
