"""What isolation costs: BFCL's code in workers against the same code in a bare loop, in one run.

Usage: python perf/bench_isolation.py. Needs `agenthard env create bfcl`. Every multi-turn gold is replayed and judged,
every single-turn gold of the Python categories is judged, and one task is judged many times in one batch. The bare loop
is the worker's script in one process of the same interpreter, with all requests read beforehand. Exit code 1 when the
replay takes more than three times as long as the bare loop.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agenthard.audit.execution import managed_environments as venvs
from agenthard.audit.execution.bfcl import BfclEnvironment, native, protocol
from agenthard.audit.execution.bfcl.environment import SCRIPT
from agenthard.audit.execution.environment import Attempt
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.fetch import fetched
from agenthard.taxonomy.accepted import concrete_values
from agenthard.taxonomy.task import AgentTask, ToolCall

RELEASE = "2025.7.17"
MOST_TIMES_BARE = 3.0
BATCH = 5000
BARE = """
import json, runpy, sys, time
serve = runpy.run_path(sys.argv[1])["setup"]()
requests = json.load(open(sys.argv[2]))
start = time.perf_counter()
for request in requests:
    for answer in serve(request):
        json.dumps(answer)
print(time.perf_counter() - start)
"""


def attempt(task: AgentTask) -> Attempt:
    if protocol.SCORING[task.subtask] == "state":
        return Attempt(turns=task.ground_truth.turns)
    calls = task.ground_truth.turns[0]
    values: list[dict[str, Any]] = [next(iter(concrete_values(call.arguments, 1)), {}) for call in calls]
    return Attempt(turns=(tuple(ToolCall(name=c.name, arguments=v) for c, v in zip(calls, values, strict=True)),))


def evaluation(task: AgentTask, copies: int = 1) -> dict[str, Any]:
    attempts = [protocol.attempted(task, attempt(task))] * copies
    return {"do": "evaluate", "task": protocol.question(task), "attempts": attempts}


def replay_requests(tasks: list[AgentTask]) -> Iterator[dict[str, Any]]:
    for task in tasks:
        yield {"do": "reset", "task": protocol.session(task)}
        yield {"do": "snapshot"}
        for _, call in task.gold_calls():
            yield {"do": "call", "text": native.python_call(call)}
            yield {"do": "snapshot"}


def bare(python: Path, requests: list[dict[str, Any]]) -> float:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(requests, file)
        file.flush()
        command: list[str | Path] = [python, "-c", BARE, SCRIPT, file.name]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def replay(environment: BfclEnvironment, tasks: list[AgentTask]) -> int:
    errors = 0
    for task in tasks:
        steps = environment.trace(task, [call for _, call in task.gold_calls()]).steps
        errors += sum(response.error is not None for response, _ in steps)
    return errors


def judge(environment: BfclEnvironment, tasks: list[AgentTask], copies: int = 1) -> int:
    found = (verdict for task in tasks for verdict in environment.evaluate_many(task, [attempt(task)] * copies))
    return sum(not getattr(verdict, "passed", False) for verdict in found)


def main() -> int:
    python = venvs.find("bfcl", RELEASE).python
    data = next(item.data for item in fetched("bfcl") if item.version == RELEASE)
    tasks = list(BFCL(data).tasks(Quarantine()))
    turns = [task for task in tasks if protocol.SCORING[task.subtask] == "state"]
    single = [task for task in tasks if protocol.SCORING[task.subtask] == "calls" and "java" not in task.subtask]
    environment = BfclEnvironment()
    environment.reset(turns[0])
    rows = (
        (f"replay {len(turns)} multi-turn golds", "errors", replay, (turns,), list(replay_requests(turns))),
        (f"judge {len(turns)} multi-turn golds", "rejected", judge, (turns,), [evaluation(task) for task in turns]),
        (f"judge {len(single)} single-turn golds", "rejected", judge, (single,), [evaluation(task) for task in single]),
        (
            f"judge one multi-turn gold {BATCH} times",
            "rejected",
            judge,
            ([turns[0]], BATCH),
            [evaluation(turns[0], BATCH)],
        ),
        (
            f"judge one single-turn gold {BATCH} times",
            "rejected",
            judge,
            ([single[0]], BATCH),
            [evaluation(single[0], BATCH)],
        ),
    )
    print(f"{'':<45}{'isolated s':>12}{'bare s':>10}{'ms per task':>13}")
    missed = False
    for name, what, work, arguments, requests in rows:
        start = time.perf_counter()
        count = work(environment, *arguments)
        isolated = time.perf_counter() - start
        alone = bare(python, requests)
        extra = 1000 * (isolated - alone) / len(arguments[0])
        print(f"{name:<45}{isolated:>12.2f}{alone:>10.2f}{extra:>+13.2f}  {count} {what}")
        missed |= work is replay and isolated > MOST_TIMES_BARE * alone
    environment.close()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
