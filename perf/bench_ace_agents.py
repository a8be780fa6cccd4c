"""CPU time that agents without a model take, their records written as JSON included.

Usage: python perf/bench_ace_agents.py. Every agent of the leaderboard plays every third instance of a 5x7 suite of the
paper's size once, in three conditions; the time is extrapolated to 324 instances x 3 trials. Exit code 1 when the whole
leaderboard would take longer than three minutes on two cores in the first condition.
"""

import sys
import time

from agenthard.ace.agents import LEADERBOARD, find
from agenthard.ace.environment import Budgets, Environment, Mode
from agenthard.ace.generator import Parameters, generate
from agenthard.ace.instance import Instance

EPISODES = 324 * 3
LIMIT_CPU_SECONDS = 2 * 180
CONDITIONS = {
    "reference mode, the paper's budgets": (Mode.REFERENCE, Budgets()),
    "reference mode, unlimited": (Mode.REFERENCE, Budgets.UNLIMITED),
    "paper mode, queries unlimited": (Mode.PAPER, Budgets(extra_queries=-1, alpha=1)),
}


def measure(instances: list[Instance], name: str, mode: Mode, budgets: Budgets) -> tuple[float, float, float, int]:
    """CPU seconds per episode, share solved, mean turns and mean bytes."""
    agent = find(name)
    solved = turns = size = 0
    start = time.process_time()
    for instance in instances:
        run = agent.play(Environment(instance.puzzle, mode=mode, budgets=budgets))
        size += len(run.model_dump_json())
        solved += bool(run.passed)
        turns += int(run.usage["turns"])
    count = len(instances)
    return (time.process_time() - start) / count, solved / count, turns / count, size // count


def main() -> int:
    instances = list(generate(Parameters()))[::3]
    find("look-ahead").play(Environment(instances[0].puzzle))  # imports what it needs
    totals = []
    for label, (mode, budgets) in CONDITIONS.items():
        print(f"\n{label:<36}{'solved':>8}{'turns':>8}{'KB':>8}{'ms':>8}{f'CPU s for {EPISODES}':>18}")
        total = 0.0
        for name in LEADERBOARD:
            seconds, solved, turns, size = measure(instances, name, mode, budgets)
            total += seconds * EPISODES
            print(
                f"{name:<36}{solved:8.2f}{turns:8.0f}{size / 1000:8.0f}{1000 * seconds:8.1f}{seconds * EPISODES:18.1f}"
            )
        print(f"{'all':<36}{total:50.1f}")
        totals.append(total)
    print(f"\nlimit in the first condition: {LIMIT_CPU_SECONDS} CPU s")
    return int(totals[0] > LIMIT_CPU_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
