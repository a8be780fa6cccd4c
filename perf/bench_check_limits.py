"""CPU time of every check on texts of up to a million characters: what grows faster than its input is listed.

Each kind of text is a short piece repeated, and is put into every field of a task and of a run at once; one more shape
has many short values instead of a long text. A check is measured at 10,000 characters with all kinds, at 100,000 with
its slowest three, and at a million with the slowest, unless a hundred thousand take next to nothing.
Usage: ``python perf/bench_check_limits.py [CHECK ...]``.
"""

import sys
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agenthard.audit.detectors.base import Detector, SuiteDetector, TaskDetector, ToolDetector
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.time_limit import CheckTimeoutError, cpu_limit
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    ToolSpec,
    UserSpec,
)
from agenthard.taxonomy.trajectory import Judgement, Trajectory

SIZES = (10_000, 100_000, 1_000_000)
MOST_SECONDS = 60.0
"""What ``agenthard.audit.time_limit`` allows for one check on one task."""
NEXT_TO_NOTHING = 0.03
"""CPU seconds at the middle size below which the largest is left out: even cubic growth would stay below the limit."""
PIECES = (
    *("a", "1", " ", "\n", "a ", "'", '"', "`", "(", "[", "{", '{"a":', "<", "<think>", "*", "_", "-", "\\n", "```\n"),
    *("${", "a b. ", "x.y ", "a@b.c ", "2024-01-01 ", "$1,000 ", "'a b c d' ", "`f(", "中", "é", "😀", "aB1_", "/a/b"),
    *("Could you please tell me how much it is? ", "A.Use ", "0.1 * x + ", "You are ada_1. ", "#W1234567 "),
)


@lru_cache(maxsize=2 * len(PIECES) + 2)
def case(piece: str | None, size: int) -> tuple[AgentTask, tuple[Trajectory, ...]]:
    """Make the task and the runs of one kind of text; no piece means many short values."""
    task = wide_task(size) if piece is None else long_task(texts_of(piece, size))
    return task, tuple(long_run(task.user.instruction, passed) for passed in (False, True))


def texts_of(piece: str, size: int) -> str:
    """Repeat a piece up to a size."""
    return (piece * (size // len(piece) + 1))[:size]


def long_task(text: str) -> AgentTask:
    """Put a text into every field that benchmarks fill."""
    schema = {"type": "object", "properties": {"x": {"type": "string", "description": text}}, "required": ["x"]}
    tool = ToolSpec(name="lend_book", description=text, parameters=schema, effect="write")
    call = ToolCall(name="lend_book", arguments={"x": text}, text=text)
    checks = (
        Check(kind="final_state", scored=True, pointer="/ground_truth/turns/0"),
        Check(kind="output_substring", scored=True, expected=text[: len(text) // 2]),
        Check(kind="rubric", scored=True, expected=text),
        Check(kind="judge", scored=False, expected=text),
    )
    return _task(text, tool, call, checks)


def wide_task(size: int) -> AgentTask:
    """Fill a task with many short values instead of a long text."""
    words = [f"value_{i}.txt" for i in range(size // 12)]
    tool = ToolSpec(name="lend_book", parameters={"type": "object", "properties": {"x": {"type": "array"}}})
    call = ToolCall(name="lend_book", arguments={"x": words})
    check = Check(kind="tool_calls", scored=True, pointer="/ground_truth/turns/0")
    said = " ".join(f"'value_{i} and some more words'" for i in range(size // 32))
    return _task(said, tool, call, (check,))


def _task(text: str, tool: ToolSpec, call: ToolCall, checks: tuple[Check, ...]) -> AgentTask:
    state = {"members": {"ada_1": {"name": text}}}
    return AgentTask(
        id="t1",
        native_id="t1",
        benchmark="library",
        user=UserSpec(kind="simulated", instruction=text, turns=((Message(role="user", content=text),),)),
        environment=EnvironmentSpec(tools=(tool,), policy=text, state=state),
        initial_state={"notes": text},
        evaluation=EvaluationSpec(checks=checks),
        ground_truth=GroundTruth(
            semantics="reference_path", turns=((call,),), outputs=(text[: len(text) // 2],), call_matching="exact"
        ),
        metadata={"purpose": text},
    )


def long_run(text: str, passed: bool) -> Trajectory:
    """Make a run that says a text in every role."""
    messages = (
        Message(role="user", content=text),
        Message(
            role="assistant", content=text, tool_calls=(ToolCall(name="lend_book", arguments={"x": text}, id="1"),)
        ),
        Message(role="tool", content=text, tool_call_id="1", tool_name="lend_book"),
        Message(role="user", content=f"{text} ###STOP###"),
    )
    verdict = Judgement(judge="script", kind="text", score=0.0, reason=text)
    return Trajectory(
        id=f"r{passed}",
        task_id="t1",
        model="m",
        passed=passed,
        messages=messages,
        judgements=(verdict,),
        user_model="s",
    )


def seconds(detector: Detector, task: AgentTask, runs: Sequence[Trajectory]) -> float | None:
    """Measure the CPU time of a check on a task; None when it is stopped at the limit."""
    began = time.process_time()
    try:
        with cpu_limit(MOST_SECONDS):
            _check(detector, task, runs)
    except CheckTimeoutError:
        return None
    except Exception as error:  # noqa: BLE001 - an odd text may be refused; how long that takes is what counts
        print(f"  {detector.id}: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
    return time.process_time() - began


def _check(detector: Detector, task: AgentTask, runs: Sequence[Trajectory]) -> None:
    if detector.not_applicable(task) is not None:
        return
    found: list[Any] = []
    if isinstance(detector, TaskDetector):
        found.extend(detector.inspect(task))
    elif isinstance(detector, ToolDetector):
        found.extend(detector.inspect_tool(task.environment.tools[0]))
    elif isinstance(detector, SuiteDetector):
        observed = list(detector.observe(task, iter(runs if detector.needs_runs else ())))
        found.extend(detector.conclude(observed))


def measure(detector: Detector, piece: str | None, size: int) -> float | None:
    """Measure a check on one kind of text; no piece means many short values."""
    return seconds(detector, *case(piece, size))


def main(names: Sequence[str]) -> None:
    """Print one line per check: its slowest kind at each size, and whether it grows faster than the input."""
    small, middle, large = SIZES
    print(f"{'check':32} {'slowest kind':24} {small:>10,} {middle:>10,} {large:>10,}")
    for detector in detectors():
        if names and detector.id not in names:
            continue
        times = {piece: measure(detector, piece, small) for piece in (*PIECES, None)}
        worst = sorted(times, key=lambda piece: -(times[piece] or MOST_SECONDS))[:3]
        at_middle = {piece: measure(detector, piece, middle) for piece in worst}
        piece = max(worst, key=lambda piece: at_middle[piece] or MOST_SECONDS)
        first, second = times[piece], at_middle[piece]
        hopeless = second is None or second > MOST_SECONDS / 8
        worth_it = not hopeless and second is not None and second > NEXT_TO_NOTHING
        third = measure(detector, piece, large) if worth_it else None
        steep = hopeless or (worth_it and (third is None or (third > 1 and third > 20 * (second or 0))))
        shown = ("many values" if piece is None else repr(piece))[:24]
        figures = " ".join(f"{'' if t is None else f'{t:.2f} s':>10}" for t in (first, second, third))
        print(f"{detector.id:32} {shown:24} {figures}{'  FASTER THAN ITS INPUT' if steep else ''}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
