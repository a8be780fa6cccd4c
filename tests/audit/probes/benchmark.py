"""A made-up benchmark in which nothing tells the answer, for tests that then plant one give-away."""

from functools import cache
from typing import Any

import numpy as np

from agenthard.audit.probes import ProbeReport, Scene, read_scene, run_battery

FRUITS = ("apple", "cherry", "melon", "plum")
SHOPS = {"apple": "Orchard", "cherry": "Grove", "melon": "Field", "plum": "Yard"}


def item(rng: np.random.Generator, number: int) -> dict[str, Any]:
    """One item for sale; its name fits its fruit, everything else is independent."""
    fruit = FRUITS[rng.integers(len(FRUITS))]
    return {
        "id": f"I{number:04d}",
        "name": f"{SHOPS[fruit]} crate {rng.integers(100, 1000)}",
        "fruit": fruit,
        "price": int(rng.integers(10, 100)),
        "weight": int(rng.integers(1, 50)),
    }


def tasks(
    seed: int = 7, number: int = 60, choices: int = 3, candidates: int = 5, rules: bool = False
) -> list[dict[str, Any]]:
    """Tasks in the layout of ``metadata["candidates"]``.

    With ``rules``, each choice limits the weight; the answer and two of the others meet the limit.
    """
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        numbers = iter(rng.permutation(np.arange(1000, 9000))[:200].tolist())
        shown = [item(rng, next(numbers)) for _ in range(12)]
        sets = []
        for index in range(choices):
            offered = [item(rng, next(numbers)) for _ in range(candidates)]
            truth = int(rng.integers(candidates))
            entry = {"id": str(index), "candidates": offered, "truth": offered[truth]["id"]}
            if rules:
                rivals = rng.permutation([place for place in range(candidates) if place != truth])[:2].tolist()
                for place in range(candidates):
                    meets = place in (truth, *rivals)
                    offered[place]["weight"] = int(rng.integers(1, 26) if meets else rng.integers(26, 50))
                entry["rules"] = [{"attribute": "weight", "max": 25}]
            sets.append(entry)
        ids = [entry["id"] for entry in shown] + [c["id"] for choice in sets for c in choice["candidates"]]
        made.append({"kind": "market", "shown": shown, "pool": rng.permutation(ids).tolist(), "sets": sets})
    return made


def answer(choice: dict[str, Any]) -> dict[str, Any]:
    """The right candidate of a choice."""
    return next(candidate for candidate in choice["candidates"] if candidate["id"] == choice["truth"])


def scenes(made: list[dict[str, Any]]) -> list[Scene]:
    """The tasks as the battery reads them."""
    return [read_scene(data, f"task {index}", data.get("text", "")) for index, data in enumerate(made)]


@cache
def fair(seed: int = 7, *, rules: bool = False) -> ProbeReport:
    """The battery on the tasks as they are; every test that reads it shares one run."""
    return run_battery(scenes(tasks(seed, rules=rules)))
