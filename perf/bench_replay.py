"""How faithful and how fast the environments of execution are.

Usage: python perf/bench_replay.py. The files and recorded runs of τ-bench and τ²-bench are in the corpora folder
($AGENTHARD_CORPORA, else ../shared/corpora).

Replays every call of every recorded run and judges every run that was judged, then replays all ground truths. Exit
code 1 when fewer than 99.5 % of the responses are equal, or when starting over takes a millisecond or more.
"""

import sys
import time
from collections import Counter

from machine import corpora

from agenthard.audit.execution.tau import Tau2Environment, TauBenchEnvironment
from agenthard.audit.execution.tau.environment import TauEnvironment
from agenthard.audit.execution.tau.fidelity import Fidelity, measure_replays
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy.task import AgentTask

TARGET, RESET_LIMIT_S = 0.995, 0.001
EARLIER_DATABASE = {"official"}
"""Experiments that ran over a database whose users have a province in place of a state."""
DOMAINS = ("airline", "retail")
RELEASES: list[tuple[str, str, str, TauEnvironment]] = [
    ("tau-bench", "tau-bench_59a200c", "tau1", TauBenchEnvironment()),
    ("tau2", "tau2-bench_v0.1.3", "tau2", Tau2Environment()),
]


def main() -> int:
    files = corpora()
    if files is None:
        print("skipped: no corpora folder (set AGENTHARD_CORPORA)")
        return 0
    ok = True
    for name, folder, log, environment in RELEASES:
        source = open_source(name, files / folder, DOMAINS)
        tasks = {task.id: task for task in source.tasks(Quarantine())}
        for domain in DOMAINS:
            runs = list(source.runs(files / "trajectories" / f"{log}_{domain}.jsonl.gz", Quarantine()))
            earlier = [run for run in runs if run.protocol in EARLIER_DATABASE]
            same = [run for run in runs if run.protocol not in EARLIER_DATABASE]
            equal = show(f"{name} {domain}", measure_replays(environment, tasks, same), len(same))
            ok &= equal >= TARGET
            if earlier:
                show(
                    f"{name} {domain} over an earlier database",
                    measure_replays(environment, tasks, earlier),
                    len(earlier),
                )
        ok &= time_gold(name, environment, list(tasks.values()))
    return 0 if ok else 1


def show(title: str, found: Fidelity, runs: int) -> float:
    """Print a comparison; returns the share of equal responses."""
    calls, equal = found.calls.total(), found.equal.total()
    print(f"\n{title}: {runs:,} runs, {equal:,} of {calls:,} responses equal ({equal / calls:.3%})")
    for tool, total in sorted(found.calls.items()):
        print(f"  {tool[:40]:<42}{found.equal[tool]:>7,} of {total:>7,}")
    for (protocol, tool), count in Counter((d.run.protocol, d.call.name) for d in found.differences).items():
        print(f"  different: {count:,} of {tool} ({protocol})")
    print(f"  verdicts: {found.agreeing:,} of {found.scored:,} as logged")
    for (protocol, model), count in Counter((d.run.protocol, d.run.model) for d in found.disagreements).items():
        print(f"  judged otherwise: {count:,} of {model} ({protocol})")
    return equal / calls


def time_gold(name: str, environment: TauEnvironment, tasks: list[AgentTask]) -> bool:
    start = time.process_time()
    for task in tasks:
        environment.reset(task)
        for _, call in task.gold_calls():
            environment.call(call)
        environment.snapshot()
    replaying = (time.process_time() - start) / len(tasks)
    rounds = 10_000
    start = time.process_time()
    for _ in range(rounds):
        environment.reset(tasks[0])
    reset = (time.process_time() - start) / rounds
    print(f"\n{name}: replay of a ground truth {replaying * 1e3:.2f} ms, starting over {reset * 1e6:.1f} µs")
    return reset < RESET_LIMIT_S


if __name__ == "__main__":
    sys.exit(main())
