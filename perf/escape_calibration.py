"""The noisy oracle of escape rooms: what each weakness does to success and to the diagnostics, and published rows.

    python perf/escape_calibration.py [--rooms 15] [--seed 1]

Prints three Markdown tables. Budgets of the first are tight (as many turns as the fewest calls), because with those of
the paper a weakness that only costs calls costs no success. For `repeat`, whose calls would share turns with others, a
turn has one call, and two turns are to spare in a room of any size; it is played in four times as many rooms.
"""

import argparse
from collections.abc import Callable, Sequence
from random import Random
from statistics import mean
from typing import Any

from scipy.stats import spearmanr

from agenthard.escape.agents.oracle import KNOBS
from agenthard.escape.diagnostics import Diagnosis, diagnose
from agenthard.escape.evaluation import EscapeConditions, EscapeTask
from agenthard.escape.generator import Parameters, generate
from agenthard.escape.room import Instance

SIZES = (5, 10, 15, 20)
LEVELS = (0.0, 0.1, 0.2, 0.3, 0.45, 0.6)
SMALL = {"forgetting": 0.1, "give_up": 0.1}
"""Rates per call or per turn, which add up: a tenth of the levels."""
_SPARE = 2
"""Calls that ``repeat`` may waste. A number that grows with the room would hide that it wastes more in larger ones."""
OWN: dict[str, tuple[str, Callable[[Diagnosis], float]]] = {
    "omit": ("missing_required per episode", lambda d: d.errors["missing_required"]),
    "wrong_type": ("wrong_type per episode", lambda d: d.errors["wrong_type"]),
    "invented": ("node_not_exist per episode", lambda d: d.errors["node_not_exist"]),
    "malformed": ("wrong_format per episode", lambda d: d.errors["wrong_format"]),
    "repeat": ("repeated_solved per episode", lambda d: d.errors["repeated_solved"]),
    "premature": ("premature uses, share", lambda d: d.premature or 0.0),
    "wrong_wire": ("parameters not from their source, share", lambda d: 1 - (d.param_adherence or 0.0)),
    "give_up": ("parts not resolved, share", lambda d: 1 - (d.subgoals or 0.0)),
}
"""The diagnostic that each weakness is to move; forgetting errs as wrong_wire does, stubborn repeats other errors."""
PUBLISHED = {
    "people, 5 parts": (5, {"SR": 98.3, "Sub": 96.0}),
    "GPT-5.4, 5 parts": (5, {"SR": 96.7, "Sub": 92.0}),
    "Claude Opus, 20 parts": (20, {"SR": 71.0, "Sub": 86.0, "Disc": 96.3}),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rooms", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rooms = list(generate(Parameters(sizes=SIZES, rooms=(given.rooms,), seed=given.seed)))
    success(rooms, list(generate(Parameters(sizes=SIZES, rooms=(4 * given.rooms,), seed=given.seed))))
    separation([room for room in rooms if room.room.nodes == 10])
    published(list(generate(Parameters(sizes=(5, 20), rooms=(60,)))))


def name(**knobs: float) -> str:
    parts = (f"{knob.replace('_', '-')}:{value:g}" for knob, value in knobs.items() if value)
    return "+".join(("oracle", *parts))


def rows(agent: str, rooms: Sequence[Instance], *, tight: bool = False, single: bool = False) -> list[dict[str, Any]]:
    played = []
    for room in rooms:
        fewest = room.facts()["min_calls"]
        conditions = EscapeConditions(turns=fewest) if tight else EscapeConditions()
        if single:
            conditions = EscapeConditions(turns=1 + fewest + _SPARE, calls_per_turn=1)
        task = EscapeTask(room.id, room, conditions, 42)
        run = task.play(agent, "", 0.0, 0)
        played.append({"agent": agent, "passed": run.passed, **task.facts, **run.usage})
    return played


def success(rooms: list[Instance], more: list[Instance]) -> None:
    """Success by level of each weakness and by size, with rank correlations over episodes and bootstrap intervals."""
    print("| weakness | SR % by level | by size at the highest | ρ with level | ρ with size |\n|---|---|---|---|---|")
    for knob in KNOBS:
        scale = SMALL.get(knob, 1.0)
        extra = (
            {"stubborn": 0.3}
            if knob not in ("give_up", "stubborn")
            else {"wrong_wire": 0.1}
            if knob == "stubborn"
            else {}
        )
        agents = {level: name(**{knob: level * scale, **extra}) for level in LEVELS}
        single = knob == "repeat"
        some = more if single else rooms
        played = {level: rows(agent, some, tight=True, single=single) for level, agent in agents.items()}
        levels = ", ".join(f"{100 * mean(bool(row['passed']) for row in played[level]):.0f}" for level in LEVELS)
        worst = played[LEVELS[-1]]
        sizes = ", ".join(f"{100 * mean(bool(r['passed']) for r in worst if r['nodes'] == n):.0f}" for n in SIZES)
        of_level = [(level, row["passed"]) for level, some in played.items() for row in some]
        of_size = [(row["nodes"], row["passed"]) for level, some in played.items() if level for row in some]
        with_ = "".join(f" with {k.replace('_', '-')} {v:g}" for k, v in extra.items())
        print(
            f"| `{knob.replace('_', '-')}`{with_} | {levels} | {sizes} | {rho(of_level)} | {rho(of_size)} |", flush=True
        )
    print()


def rho(pairs: list[tuple[float, Any]]) -> str:
    """Spearman's rank correlation of success with something, with a 95 % bootstrap interval over episodes."""
    rng = Random(0)
    both = [(each, float(bool(passed))) for each, passed in pairs]

    def once(some: list[tuple[float, float]]) -> float:
        return float(spearmanr(*zip(*some, strict=True)).statistic)

    drawn = sorted(value for _ in range(200) if (value := once(rng.choices(both, k=len(both)))) == value)
    if not drawn:
        return "undefined: success is constant"
    return (
        f"{once(both):.2f} [{drawn[round(0.025 * (len(drawn) - 1))]:.2f}, {drawn[round(0.975 * (len(drawn) - 1))]:.2f}]"
    )


def separation(rooms: list[Instance]) -> None:
    """For each diagnostic, how much each weakness moves it, and whether its own does most."""
    base = diagnose(rows("oracle", rooms))[0]
    moved = {}
    for knob in KNOBS:
        level = 0.3 * SMALL.get(knob, 1.0)
        (found,) = diagnose(rows(name(**{knob: level}), rooms))
        moved[knob] = {owner: measure(found) - measure(base) for owner, (_, measure) in OWN.items()}
    print("| diagnostic | moved by its own weakness | most by another | own is the most |\n|---|---|---|---|")
    for owner, (title, _) in OWN.items():
        others = {knob: moved[knob][owner] for knob in KNOBS if knob != owner}
        most = max(others, key=lambda knob: abs(others[knob]))
        own = moved[owner][owner]
        verdict = "yes" if abs(own) > abs(others[most]) else "no"
        mine, other = (f"`{each.replace('_', '-')}`" for each in (owner, most))
        print(f"| {title} | {mine} {own:+.2f} | {other} {others[most]:+.2f} | {verdict} |")
    print(flush=True)


def published(rooms: list[Instance]) -> None:
    """Search settings for published rows: the one whose largest distance to its published figures is least."""
    grid: list[dict[str, float]] = [
        {"wrong_wire": wire, "stubborn": stubborn, "give_up": quits}
        for wire in (0.0, 0.005, 0.01, 0.02, 0.05)
        for stubborn in (0.0, 0.5, 1.0)
        for quits in (0.0, 0.005, 0.01, 0.02)
        if wire or not stubborn
    ]
    print("| row | published | nearest setting | reached | largest distance |\n|---|---|---|---|---|")
    for title, (nodes, wanted) in PUBLISHED.items():
        some = [room for room in rooms if room.room.nodes == nodes]
        tried = []
        for knobs in grid:
            (found,) = diagnose(rows(name(**knobs), some))
            figures = {"SR": found.success, "Sub": found.subgoals, "Disc": found.discovery}
            reached = {key: 100 * (figures[key] or 0.0) for key in wanted}
            tried.append((max(abs(reached[key] - wanted[key]) for key in wanted), name(**knobs), reached))
        distance, agent, reached = min(tried)
        said, got = (", ".join(f"{k} {v:.1f}" for k, v in each.items()) for each in (wanted, reached))
        print(f"| {title} | {said} | `{agent}` | {got} | {distance:.1f} |", flush=True)


if __name__ == "__main__":
    main()
