"""What happens late in long runs: calls and outcomes by turn, and the turn from which calls are repeated or fail.

A call counts as repeated when the same call was made before in the episode and no file has changed since: it can tell
the agent nothing new. Nothing here knows what an agent or a scaffold does; only the messages of the runs are counted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

import pandas as pd

from agenthard.audit.statistics import Result, wilson_interval
from agenthard.reports.evaluation.episodes import About, name_variants
from agenthard.taxonomy.declared import Declared
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import Message

SPANS = ((1, 10), (11, 25), (26, 50), (51, 100), (101, 200), (201, None))
"""First and last turn of each row of the table."""
COUNTS = ("replies", "calls", "failed", "repeated", "changed", "ended", "passed")
LEAST_CALLS = 10
"""Calls before and after a turn, below which no change is looked for."""
LEAST_RISE = 0.2
"""Rise of a share that is worth a sentence."""
LEAST_EVIDENCE = 8.0
"""Natural logarithm by which a change must be likelier than none; trying many turns does not give it by chance."""


class TurnCounter:
    """Counts the turns of one episode, whose runs follow each other."""

    def __init__(self) -> None:
        self._turn = 0
        self._seen: set[tuple[str, str]] = set()
        self.turns: Counter[tuple[int, str]] = Counter()
        """Counts by turn and kind (:data:`COUNTS`)."""

    def add(self, messages: Sequence[Message], passed: bool | None) -> None:
        """Count one run; its turns go on from those of the run before."""
        for message in messages:
            if message.role == "assistant":
                self._turn += 1
                self.turns[self._turn, "replies"] += 1
                for call in message.tool_calls:
                    key = (call.name, str(call.arguments))
                    self.turns[self._turn, "calls"] += 1
                    self.turns[self._turn, "repeated"] += key in self._seen
                    self._seen.add(key)
            elif message.role == "tool" and message.effect is not None:
                self.turns[self._turn, "failed"] += message.effect.trouble is not None
                if message.effect.changed:
                    self.turns[self._turn, "changed"] += 1
                    self._seen.clear()
        self.turns[max(self._turn, 1), "ended"] += 1
        self.turns[max(self._turn, 1), "passed"] += bool(passed)


class TurnSpan(Record):
    """What one agent did within some turns under one condition."""

    agent: str
    """Agent."""
    condition: str
    """The condition in words; empty where there is only one."""
    first: int
    """First turn."""
    last: int | None
    """Last turn; None: and all later ones."""
    replies: int
    """Replies of the agent."""
    calls: int
    """Calls in them."""
    repeated: Result
    """Share of the calls that were made before, without a changed file in between."""
    failed: Result
    """Share of the calls that were refused, failed, or were cut off."""
    changed: Result
    """Share of the calls that changed a file."""
    passed: Result
    """Share of the attempts that ended within these turns and passed."""


class TurnChange(Record):
    """A turn from which an agent's calls are different under one condition."""

    agent: str
    """Agent."""
    condition: str
    """The condition in words."""
    what: str
    """``repeated`` or ``failed``."""
    turn: int
    """The first turn of the later part: where the change is most likely."""
    before: Result
    """Share before."""
    after: Result
    """Share from this turn on."""


def turn_spans(
    turns: pd.DataFrame, agents: Sequence[str], about: About, declared: Declared
) -> tuple[tuple[TurnSpan, ...], tuple[TurnChange, ...]]:
    """Sum up the table of turns by agent, condition and span, and look for changes.

    Args:
        turns: one row per agent, condition and turn, with the columns of :data:`COUNTS`.
        agents: agents in the order of the leaderboard.
        about: level of the intervals.
        declared: what the benchmark declares.
    """
    spans, changes = [], []
    for agent, condition, part in _groups(turns, agents, declared):
        for first, last in SPANS:
            within = part[(part["turn"] >= first) & (part["turn"] <= (last or part["turn"].max()))]
            if within["replies"].sum():
                spans.append(_span(agent, condition, first, last, within, about))
        for what in ("repeated", "failed"):
            if change := _change(agent, condition, what, part, about):
                changes.append(change)
    return tuple(spans), tuple(changes)


def _groups(turns: pd.DataFrame, agents: Sequence[str], declared: Declared) -> Iterator[tuple[str, str, pd.DataFrame]]:
    names, ordered = name_variants(turns, declared)
    several = turns["failure_rate"].nunique() > 1
    rates = [f"p = {rate:g}" if several else "" for rate in turns["failure_rate"]]
    words = [", ".join(filter(None, pair)) for pair in zip(rates, names, strict=True)]
    grouped = turns.assign(condition=words, place=[ordered.index(name) for name in names]).groupby(
        ["agent", "failure_rate", "place", "condition"]
    )
    parts = sorted(((key, part) for key, part in grouped), key=lambda each: (agents.index(each[0][0]), each[0]))
    for (agent, _, _, condition), part in parts:
        yield str(agent), str(condition), part.groupby("turn", as_index=False)[list(COUNTS)].sum()


def _span(agent: str, condition: str, first: int, last: int | None, part: pd.DataFrame, about: About) -> TurnSpan:
    sums = {name: int(part[name].sum()) for name in COUNTS}
    shares = {name: wilson_interval(sums[name], sums["calls"], about.level, "calls") for name in COUNTS[2:5]}
    passed = wilson_interval(sums["passed"], sums["ended"], about.level, "attempts")
    return TurnSpan(
        agent=agent,
        condition=condition,
        first=first,
        last=last,
        replies=sums["replies"],
        calls=sums["calls"],
        passed=passed,
        **shares,
    )


def _change(agent: str, condition: str, what: str, part: pd.DataFrame, about: About) -> TurnChange | None:
    """Find the turn that best divides the calls into two parts with a share of their own, if there is one."""
    turns, hits, calls = (part[name].tolist() for name in ("turn", what, "calls"))
    all_hits, all_calls, best = sum(hits), sum(calls), (LEAST_EVIDENCE, 0, 0, 0)
    before, made = 0, 0
    for at in range(1, len(turns)):
        before, made = before + hits[at - 1], made + calls[at - 1]
        if min(made, all_calls - made) < LEAST_CALLS:
            continue
        after, rest = all_hits - before, all_calls - made
        gain = _likelihood(before, made) + _likelihood(after, rest) - _likelihood(all_hits, all_calls)
        if after / rest - before / made >= LEAST_RISE and gain > best[0]:
            best = (gain, int(turns[at]), before, made)
    _, turn, before, made = best
    if not turn:
        return None
    return TurnChange(
        agent=agent,
        condition=condition,
        what=what,
        turn=turn,
        before=wilson_interval(before, made, about.level, "calls"),
        after=wilson_interval(all_hits - before, all_calls - made, about.level, "calls"),
    )


def _likelihood(hits: int, calls: int) -> float:
    """Return the largest log-likelihood of some hits among calls of one share."""
    return sum(count * log(count / calls) for count in (hits, calls - hits) if count)
