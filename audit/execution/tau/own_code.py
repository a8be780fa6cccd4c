"""τ-bench's and τ²-bench's own code, from a checkout, behind the interface of environments."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from audit.execution.checkout import code_version, interpreter
from audit.execution.environment import Attempt, Environment, ExecutionFailed, Observation, Unavailable, Verdict
from audit.execution.tau.evaluator import made, says
from audit.execution.workers import Limits, WorkerPool, WorkerSession, why_not_contained
from taxonomy.task import AgentTask, ToolCall

SCRIPT = Path(__file__).with_name("own_code_script.py")
LIMITS = Limits(wall_seconds=60, cpu_seconds=50, memory_bytes=4 << 30)
"""A database is copied for each attempt, and imports are larger than BFCL's."""


@cache
def _pool(checkout: Path, benchmark: str, domain: str) -> WorkerPool:
    return WorkerPool(interpreter(checkout), SCRIPT, LIMITS, arguments=(str(checkout), benchmark, domain))


class TauCheckout(Environment):
    """What both benchmarks share: tools, data and database hash are the checkout's."""

    benchmark: ClassVar[str]
    """Name of the source."""
    folders: ClassVar[tuple[str, ...]]
    """Where the domains can stand, relative to the checkout."""

    def __init__(self, checkout: Path) -> None:
        """Prepare; nothing is started yet.

        Args:
            checkout: folder of the benchmark's repository.
        """
        self._checkout = checkout
        self._session = WorkerSession()

    def version(self) -> str:
        """Say which code runs: a hash of the checkout's Python files."""
        return code_version(self._checkout)

    def supports(self, task: AgentTask) -> str | None:
        """Say which part of a task the checkout or this adapter lacks."""
        domain = _domain(task)
        if not any((self._checkout / folder / domain).is_dir() for folder in self.folders):
            return f"{self._checkout} has no domain {domain!r} under {' or '.join(self.folders)}"
        if task.initial_state:
            return "the task starts from a state of its own, which the adapter for checkouts does not set up"
        if any(check.scored and check.kind == "state_assertion" for check in task.evaluation.checks):
            return "the task is scored by assertions in code, which the adapter for checkouts does not call"
        return why_not_contained()

    def reset(self, task: AgentTask) -> None:
        """Go to the database as it is before the task."""
        self._open(task)
        self._session.reset({"do": "reset"})

    def call(self, call: ToolCall) -> Observation:
        """Carry out one call."""
        answer = self._session.ask({"do": "call", "call": _written(call)})
        return Observation(text=answer["text"], error=answer["error"])

    def snapshot(self) -> Any:
        """Return the records that differ from the database, by table and id."""
        return self._session.ask({"do": "snapshot"})

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Judge an attempt from the initial state of the task."""
        [verdict] = self.evaluate_many(task, [attempt])
        if isinstance(verdict, ExecutionFailed):
            raise verdict
        return verdict

    def evaluate_many(self, task: AgentTask, attempts: Sequence[Attempt]) -> list[Verdict | ExecutionFailed]:
        """Judge many attempts at one task in one round trip; a broken one costs its own verdict only."""
        self._open(task)
        gold = {"calls": [_written(call) for _, call in task.gold_calls()], "outputs": list(task.ground_truth.outputs)}
        tries = [
            {"calls": [_written(call) for turn in each.turns for call in turn], "replies": list(each.replies)}
            for each in attempts
        ]
        answers = self._session.judge({"do": "judge", "gold": gold}, tries)
        return [
            answer if isinstance(answer, ExecutionFailed) else self._verdict(task, attempt, answer)
            for attempt, answer in zip(attempts, answers, strict=True)
        ]

    def close(self) -> None:
        """Give the worker back."""
        self._session.close()

    def _open(self, task: AgentTask) -> None:
        reason = self.supports(task)
        if reason:
            raise Unavailable(f"{task.id}: {reason}")
        self._session.open(task, _pool(self._checkout, self.benchmark, _domain(task)))

    def _verdict(self, task: AgentTask, attempt: Attempt, answer: dict[str, Any]) -> Verdict:
        """Put together the database check of the checkout, and for τ² our reading of the other checks."""
        if "reward" in answer:
            return Verdict(passed=answer["reward"] == 1, parts={"database": answer["database"]})
        scored = [check for check in task.evaluation.checks if check.scored]
        calls = [call for turn in attempt.turns for call in turn]
        golden = dict(task.gold_calls())
        parts = {"database": answer["database"]} if any(check.kind == "final_state" for check in scored) else {}
        parts["outputs"] = says(attempt.replies, [check for check in scored if check.kind == "output_substring"])
        required = [check for check in scored if check.kind == "tool_calls"]
        if required:
            parts["actions"] = all(made(golden[check.pointer], check, calls) for check in required)
        return Verdict(passed=all(parts.values()), parts=parts)


class TauBenchCheckout(TauCheckout):
    """τ-bench: tools, data and reward are the checkout's."""

    name = "τ-bench checkout"
    benchmark = "tau-bench"
    folders = ("tau_bench/envs",)


class Tau2Checkout(TauCheckout):
    """τ²-bench: tools, data and database hash are the checkout's; texts and required calls we judge ourselves."""

    name = "τ²-bench checkout"
    benchmark = "tau2"
    folders = ("src/tau2/domains", "tau2/domains")


def _domain(task: AgentTask) -> str:
    """Return the domain without its split (retail-dev)."""
    return task.subtask.partition("-")[0]


def _written(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments, "requestor": call.requestor}
