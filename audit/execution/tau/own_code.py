"""τ-bench's and τ²-bench's own code, from a checkout, behind the interface of environments."""

import sys
import weakref
from pathlib import Path
from typing import Any, ClassVar

from agenthard.audit.execution.checkout import code_version, interpreter
from agenthard.audit.execution.environment import Attempt, ExecutionError, UnavailableError, Verdict
from agenthard.audit.execution.tau import packages
from agenthard.audit.execution.tau.evaluator import contains_required_texts
from agenthard.audit.execution.worker_environment import WorkerBackedEnvironment
from agenthard.audit.execution.workers import WorkerLimits, WorkerPool
from agenthard.audit.sources.tau.records import UnreadableDomainError
from agenthard.audit.sources.tau.tau2.checkout import Checkout
from agenthard.taxonomy.task import AgentTask, Check, ToolCall

SCRIPT = Path(__file__).with_name("own_code_script.py")
CALLS_ANOTHER = "call_discoverable_agent_tool"
"""The tool that calls tools which have to be unlocked. It logs writes, and reads only if the ground truth has them."""
LIMITS = WorkerLimits(wall_seconds=60, cpu_seconds=50, memory_bytes=4 << 30)
"""A database is copied for each attempt, and imports are larger than BFCL's."""


class TauCheckout(WorkerBackedEnvironment):
    """Base of both benchmarks: tools, data and database hash come from the checkout."""

    benchmark: ClassVar[str]
    """Name of the source."""
    folders: ClassVar[tuple[str, ...]]
    """Folders that may hold the domains, relative to the checkout."""

    def __init__(self, checkout: Path) -> None:
        """Prepare; nothing is started yet.

        Args:
            checkout: folder of the benchmark's repository.
        """
        super().__init__()
        self._checkout = checkout

    def version(self) -> str:
        """Return the version of the code that runs: a hash of the checkout's Python files."""
        return code_version(self._checkout)

    def supports(self, task: AgentTask) -> str | None:
        """Return which part of a task the checkout or this adapter does not support, or None."""
        domain = _domain(task)
        if not any((self._checkout / folder / domain).is_dir() for folder in self.folders):
            return f"{self._checkout} has no domain {domain!r} under {' or '.join(self.folders)}"
        return self._lacks(task) or self._why_not_contained()

    def _lacks(self, task: AgentTask) -> str | None:
        """Return what else in a task the code cannot execute, or None."""
        return "tasks of this benchmark have no state of their own" if task.initial_state else None

    def describe(self) -> Any:
        """Return the tools and the policy that the code shows a model, for the domain of the current task."""
        return self._session.ask({"do": "describe"})

    def _pool_for(self, task: AgentTask) -> WorkerPool:
        reason = self.supports(task)
        if reason:
            raise UnavailableError(f"{task.id}: {reason}")
        return self._domain_pool(task)

    def _domain_pool(self, task: AgentTask) -> WorkerPool:
        python = interpreter(self._checkout)
        extra = packages.installed() if self.benchmark == "tau2" else None
        ours = str(extra) if extra and python == Path(sys.executable) else ""
        arguments = (str(self._checkout), self.benchmark, _domain(task), ours)
        return self._execution.worker_pool(python, SCRIPT, LIMITS, arguments)

    def _reset_request(self, task: AgentTask) -> dict[str, Any]:
        return {"do": "reset", "task": _state(task)}

    def _call_request(self, call: ToolCall) -> dict[str, Any]:
        return {"do": "call", "call": _written(call)}

    def _judge_request(self, task: AgentTask) -> dict[str, Any]:
        golden, scored = dict(task.gold_calls()), _scored(task)
        if any(check.kind == "judge" for check in scored):
            raise UnavailableError(f"{task.id} is scored by a model's judgement, which is not asked for here")
        gold = {
            "calls": [_written(call) for call in golden.values()],
            "outputs": list(task.ground_truth.outputs),
            "assertions": [check.expected for check in scored if check.kind == "state_assertion"],
            "actions": [
                {**_written(golden[check.pointer]), **(check.expected or {}), "action_id": str(number)}
                for number, check in enumerate(check for check in scored if check.kind == "tool_calls")
            ],
        }
        return {"do": "judge", "task": _state(task), "gold": gold}

    def _encode(self, task: AgentTask, attempt: Attempt) -> dict[str, Any]:
        calls = [_written(call) for turn in attempt.turns for call in turn]
        return {"calls": calls, "replies": list(attempt.replies)}

    def _verdict(self, task: AgentTask, attempt: Attempt, answer: dict[str, Any]) -> Verdict:
        """Combine the checkout's database check and, for τ², our implementation of the other checks."""
        if "reward" in answer:
            return Verdict(passed=answer["reward"] == 1, parts={"database": answer["database"]})
        kinds = {check.kind for check in _scored(task)}
        parts = {"database": answer["database"]} if "final_state" in kinds else {}
        if "state_assertion" in kinds:
            parts["assertions"] = all(answer["assertions"])
        required = [check for check in _scored(task) if check.kind == "output_substring"]
        parts["outputs"] = contains_required_texts(attempt.replies, required)
        if "tool_calls" in kinds:
            parts["actions"] = all(answer["actions"])
        return Verdict(passed=all(parts.values()), parts=parts)


class TauBenchCheckout(TauCheckout):
    """τ-bench: tools, data and reward are the checkout's."""

    name = "τ-bench checkout"
    benchmark = "tau-bench"
    folders = ("tau_bench/envs",)


class Tau2Checkout(TauCheckout):
    """τ²-bench: tools, data, hashes, assertions and the comparison of calls are the checkout's; texts we look for."""

    name = "τ²-bench checkout"
    benchmark = "tau2"
    folders = ("src/tau2/domains", "tau2/domains")

    def __init__(self, checkout: Path) -> None:
        """Prepare; nothing is started yet.

        Args:
            checkout: folder of the benchmark's repository.
        """
        super().__init__(checkout)
        self._compared: dict[int, str | None] = {}

    def _lacks(self, task: AgentTask) -> str | None:
        """Return which packages are missing, or that the checkout's database differs from the task's."""
        absent = packages.lacking(self._checkout) if interpreter(self._checkout) == Path(sys.executable) else ()
        if absent:
            return f"the checkout imports {', '.join(absent)}, not installed here: run `agenthard env create tau2`"
        key = id(task.environment)
        if key not in self._compared:
            self._compared[key] = self._other_database(task)
            weakref.finalize(task.environment, self._compared.pop, key, None)
        return self._compared[key]

    def yields(self, task: AgentTask) -> bool:
        """Leave tasks over another database than the checkout's to our own tools, which work over any."""
        return not packages.lacking(self._checkout) and self._lacks(task) is not None

    def _other_database(self, task: AgentTask) -> str | None:
        """Compare the task's database with the checkout's, which its code works on."""
        domain, there = _domain(task), Checkout(self._checkout)
        if task.environment.state is None or not there.folder(domain).is_dir():
            return None
        try:
            state = there.state(domain)
        except UnreadableDomainError as error:
            return f"the checkout's database cannot be read: {error}"
        if state == task.environment.state or self._reads_the_same(task):
            return None
        return (
            f"the checkout's database of {domain} is not that of the tasks, and its code works over its own; give the "
            "checkout of the release that the tasks are from"
        )

    def _reads_the_same(self, task: AgentTask) -> bool:
        """Ask the code whether it reads the task's database as its own; optional fields may be present or absent."""
        self._session.open(task, self._domain_pool(task))
        try:
            self._session.reset({"do": "reset", "task": {"initial_state": None, "logged_reads": []}})
            return bool(self._session.ask({"do": "holds", "state": task.environment.state}))
        except ExecutionError:
            return False  # it refuses such a database


def _domain(task: AgentTask) -> str:
    """Return the domain without its split (retail-dev)."""
    return task.subtask.partition("-")[0]


def _scored(task: AgentTask) -> list[Check]:
    return [check for check in task.evaluation.checks if check.scored]


def _state(task: AgentTask) -> dict[str, Any]:
    """Return what a task begins with, and which reads the benchmark logs in the database: those of the ground truth."""
    named = (call.arguments.get("agent_tool_name") for _, call in task.gold_calls() if call.name == CALLS_ANOTHER)
    return {"initial_state": task.initial_state, "logged_reads": sorted({str(name) for name in named if name})}


def _written(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments, "requestor": call.requestor}
