"""Escape rooms: seconds of CPU to make and prove a suite, to play it, and how often attackers without hints get out.

    python perf/bench_escape.py [--rooms 60]

Rates are of the rooms of each size under the paper's turns, one row per agent and kind of feedback.
"""

import argparse
import resource
import time
from collections import defaultdict
from statistics import mean

from agenthard.escape.environment import Conditions, Environment
from agenthard.escape.evaluation import EscapeConditions, EscapeTask
from agenthard.escape.generator import Parameters, generate
from agenthard.escape.room import Instance

PAPER = {5: 9.03, 10: 18.20, 15: 27.73, 20: 36.63}
RUNS = tuple(
    (agent, feedback)
    for agent, feedback in (
        *(("oracle", "per_param"), ("hints", "none"), ("story", "none"), ("story", "per_param")),
        *(("answer-only", "none"), ("random", "per_param")),
    )
) + tuple(("greedy", feedback) for feedback in ("none", "binary", "per_param"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rooms", type=int, default=60)
    parameters = Parameters(rooms=(parser.parse_args().rooms,))
    start = time.process_time()
    rooms = list(generate(parameters))
    seconds = time.process_time() - start
    print(f"{len(rooms)} rooms made and proved in {seconds:.1f} CPU s: {len(rooms) / seconds:.0f} rooms/s")
    for size in parameters.sizes:
        some = [room.certificate for room in rooms if room.room.nodes == size and room.certificate]
        calls, hidden = mean(each.min_calls for each in some), mean(each.hidden for each in some)
        bare, paper = sum(not each.hidden for each in some), PAPER.get(size, "-")
        print(f"{size} parts: fewest calls {calls:.2f} (paper {paper}), {hidden:.2f} hidden, {bare} with none")
    print(f"{calls_per_second(rooms):,.0f} calls/s, {episode_starts(rooms) * 1000:.3f} ms to start an episode")
    for agent, feedback in RUNS:
        play(rooms, agent, feedback)
    print(f"most memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def calls_per_second(rooms: list[Instance]) -> float:
    """Looking at parts and using them with values that are not right: no tool is executed."""
    calls, start = 0, time.process_time()
    for room in rooms:
        environment = Environment(room, Conditions(turns=-1, calls_per_turn=10**9))
        for _ in range(20):
            for id in room.room.visible:
                environment.call("investigate", {"node_id": id})
                environment.call("use_tool", {"node_id": id, "params": {"text": "a", "a": "1"}})
                calls += 2
    return calls / (time.process_time() - start)


def episode_starts(rooms: list[Instance]) -> float:
    start = time.process_time()
    for room in rooms:
        Environment(room).start()
    return (time.process_time() - start) / len(rooms)


def play(rooms: list[Instance], agent: str, feedback: str) -> None:
    conditions = EscapeConditions.model_validate({"feedback": feedback})
    passed, calls = defaultdict[int, list[bool]](list), 0.0
    start = time.process_time()
    for room in rooms:
        run = EscapeTask(room.id, room, conditions, 42).play(agent, "", 0.0, 0)
        passed[room.room.nodes].append(bool(run.passed))
        calls += run.usage["calls"]
    seconds = time.process_time() - start
    shares = ", ".join(f"{size}: {sum(each)}/{len(each)}" for size, each in passed.items())
    print(f"{agent} with feedback {feedback}: {shares}; {seconds:.1f} CPU s, {calls / seconds:,.0f} calls/s")


if __name__ == "__main__":
    main()
