"""Scores and diagnostics of an evaluation, by agent and size of the room: the tables of the paper.

What is undefined stays undefined: a share without anything to share is None, never 0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agenthard.audit.statistics import wilson
from agenthard.escape.environment.tally import ERRORS, SUB_CODES

Row = Mapping[str, Any]
"""An episode with the columns of the table of episodes."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One agent at one size."""

    agent: str
    """Agent."""
    nodes: int
    """Parts of the rooms."""
    episodes: int
    """Episodes with a verdict."""
    solved: int
    """Of these, solved ones."""
    success: float | None
    """SR: share of episodes solved."""
    low: float
    """Lower end of its 95 % interval."""
    high: float
    """Upper end."""
    subgoals: float | None
    """Sub: mean share of parts resolved."""
    discovery: float | None
    """Disc: mean share of hidden parts seen, over the rooms that hide any."""
    discovery_rooms: int
    """Episodes in rooms that hide any."""
    convergence: float | None
    """Mean uses of a part that depends on nothing, up to the one that resolved it, over those that were resolved."""
    censored: int
    """Such parts that were never resolved, which the mean leaves out."""
    censored_convergence: float | None
    """Uses of all such parts over the parts that were resolved: the mean if each use resolves a part with one
    probability, so that uses of parts that were never resolved count, too."""
    premature: float | None
    """Share of uses of dependent parts before what they depend on was resolved."""
    adherence: float | None
    """Share of uses of dependent parts that gave every linked parameter what its source gave."""
    param_adherence: float | None
    """Share of linked parameters that got what their source gave."""
    dependent_uses: int
    """Uses that the last three are about."""
    calls: float | None
    """Mean calls."""
    turns: float | None
    """Mean turns."""
    min_calls: float | None
    """Mean of the fewest calls that solve the rooms."""
    min_turns: float | None
    """Mean of the fewest turns, whatever one turn may hold."""
    effort: float | None
    """Mean of calls over the fewest, solved episodes only."""
    errors: Mapping[str, float]
    """Mean failed uses per episode, by class."""
    sub_codes: Mapping[str, float]
    """Of the last class, by sub-code."""


@dataclass(frozen=True, slots=True)
class Drop:
    """How much an agent loses from its easiest size to its hardest."""

    agent: str
    """Agent."""
    easiest: int
    """Least size that it played."""
    hardest: int
    """Largest size that it played."""
    difference: float
    """ΔSR: success at the least size minus success at the largest."""


def diagnose(rows: Iterable[Row]) -> list[Diagnosis]:
    """Sum up episodes by agent and size; episodes without a verdict are left out.

    Args:
        rows: Final attempts.

    Returns:
        One diagnosis per agent and size, agents in the order of their first row.
    """
    groups: dict[tuple[str, int], list[Row]] = {}
    order: dict[str, None] = {}
    for row in rows:
        if row["passed"] is not None:
            order[row["agent"]] = None
            groups.setdefault((row["agent"], int(row["nodes"])), []).append(row)
    keys = sorted(groups, key=lambda key: (list(order).index(key[0]), key[1]))
    return [_diagnosis(agent, nodes, groups[agent, nodes]) for agent, nodes in keys]


def drops(found: Iterable[Diagnosis]) -> list[Drop]:
    """Compare each agent's success at the least size with that at the largest; sizes that it did not play do not count.

    Returns:
        One row for each agent that played two sizes.
    """
    by_agent: dict[str, list[Diagnosis]] = {}
    for each in found:
        by_agent.setdefault(each.agent, []).append(each)
    return [
        Drop(agent, rows[0].nodes, rows[-1].nodes, rows[0].success - rows[-1].success)
        for agent, rows in by_agent.items()
        if len(rows) > 1 and rows[0].success is not None and rows[-1].success is not None
    ]


def _diagnosis(agent: str, nodes: int, rows: list[Row]) -> Diagnosis:
    solved = [row for row in rows if row["passed"]]
    low, high = wilson(len(solved), len(rows))
    hiding = [row for row in rows if row["hidden"]]

    def total(name: str) -> int:
        return sum(int(row[name]) for row in rows)

    return Diagnosis(
        agent=agent,
        nodes=nodes,
        episodes=len(rows),
        solved=len(solved),
        success=_share(len(solved), len(rows)),
        low=low,
        high=high,
        subgoals=_mean([row["resolved"] / row["parts"] for row in rows]),
        discovery=_mean([row["hidden_seen"] / row["hidden"] for row in hiding]),
        discovery_rooms=len(hiding),
        convergence=_share(total("first_parts_calls"), total("first_parts_resolved")),
        censored=total("first_parts") - total("first_parts_resolved"),
        censored_convergence=_share(
            total("first_parts_calls") + total("first_parts_open_calls"), total("first_parts_resolved")
        ),
        premature=_share(total("premature_uses"), total("dependent_uses")),
        adherence=_share(total("adherent_uses"), total("dependent_uses")),
        param_adherence=_share(total("adherent_params"), total("wired_params")),
        dependent_uses=total("dependent_uses"),
        calls=_mean([row["calls"] for row in rows]),
        turns=_mean([row["turns"] for row in rows]),
        min_calls=_mean([row["min_calls"] for row in rows]),
        min_turns=_mean([row["min_turns"] for row in rows if row.get("min_turns")]),
        effort=_mean([row["calls"] / row["min_calls"] for row in solved]),
        errors={name: total(f"error_{name}") / len(rows) for name in ERRORS},
        sub_codes={name: total(f"error_{name}") / len(rows) for name in SUB_CODES},
    )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
