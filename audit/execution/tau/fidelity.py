"""How faithful our tools are: compared with recorded runs, and with the benchmark's own code.

:func:`measure_replays` replays recorded runs and compares every response and verdict. :func:`verify_checkout` carries
out every call of every ground truth with our tools and with the code of a checkout. Where we have no tools, the calls
of the code are counted separately, so that a table never shows such a domain as equal.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from agenthard.audit.execution.environment import Environment, ExecutionError, UnavailableError
from agenthard.audit.execution.tau.environment import Tau2Environment, TauBenchEnvironment, TauEnvironment
from agenthard.audit.execution.tau.evaluator import answered_calls
from agenthard.audit.execution.tau.own_code import Tau2Checkout, TauBenchCheckout, TauCheckout
from agenthard.audit.sources.base import Quarantine, Source
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau2.checkout import VARIANTS, Checkout
from agenthard.audit.sources.tau.tau2.knowledge import SET_BY_CODE
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec
from agenthard.taxonomy.trajectory import Trajectory


@dataclass(frozen=True)
class ResponseMismatch:
    """A call whose response differs from the recorded one."""

    run: Trajectory
    """The recorded run."""
    position: int
    """0-based position among the run's calls."""
    call: ToolCall
    """The call."""
    recorded: str
    """Recorded response."""
    replayed: str
    """Response of the replay."""


@dataclass(frozen=True)
class VerdictMismatch:
    """A run whose verdict differs from the recorded one."""

    run: Trajectory
    """The recorded run, with its verdict."""
    parts: dict[str, bool]
    """Verdict of each part of the evaluator on the replay."""


@dataclass
class Fidelity:
    """How far replays agree with recorded runs."""

    calls: Counter[str] = field(default_factory=Counter)
    """Number of compared calls, by tool."""
    equal: Counter[str] = field(default_factory=Counter)
    """Number of calls with an equal response, by tool."""
    scored: int = 0
    """Number of runs with a recorded verdict that the evaluator judged."""
    agreeing: int = 0
    """Number of runs with an equal verdict."""
    differences: list[ResponseMismatch] = field(default_factory=list)
    """Calls whose responses differ."""
    disagreements: list[VerdictMismatch] = field(default_factory=list)
    """Runs whose verdicts differ."""


def measure_replays(
    environment: TauEnvironment, tasks: Mapping[str, AgentTask], runs: Iterable[Trajectory]
) -> Fidelity:
    """Replay recorded runs call by call from the initial state, and judge each run that has a verdict.

    Args:
        environment: the environment to measure.
        tasks: tasks by id, all those of the runs.
        runs: recorded runs. Runs with an infrastructure error are replayed but not judged. Runs stopped at a limit
            are not judged either, because they have reward 0 whatever their state.

    Raises:
        UnavailableError: when a task cannot be executed.
    """
    found = Fidelity()
    for run in runs:
        task = tasks[run.task_id]
        environment.reset(task)
        for position, (call, recorded) in enumerate(answered_calls(run.messages)):
            replayed = environment.call(call).text
            found.calls[call.name] += 1
            found.equal[call.name] += replayed == recorded
            if replayed != recorded:
                found.differences.append(ResponseMismatch(run, position, call, recorded, replayed))
        attempt = environment.attempt_of(run.messages)
        if run.status == "ok" and run.passed is not None and attempt is not None:
            verdict = environment.evaluate(task, attempt)
            found.scored += 1
            found.agreeing += verdict.passed == run.passed
            if verdict.passed != run.passed:
                found.disagreements.append(VerdictMismatch(run, verdict.parts))
    return found


class Tally(Record):
    """How many of the compared items are equal."""

    total: int = 0
    """Number of compared items."""
    equal: int = 0
    """Number of equal items."""


class Mismatch(Record):
    """An item that differs."""

    place: str
    """Task and call, or the tool."""
    ours: str
    """Our value."""
    theirs: str
    """Value of the benchmark's code."""


class DomainFidelity(Record):
    """Comparison of one domain."""

    domain: str
    """Name."""
    tasks: int
    """Tasks."""
    read: Tally
    """Tools that the code shows a model by default, the user's included, and the policy: as we read them."""
    run: int
    """Calls of ground truths that the benchmark's code carried out."""
    calls: Tally
    """Calls that our tools carried out too: equal means the same response, byte by byte."""
    states: Tally
    """End states of ground truths; fields without a value do not count."""
    without: dict[str, int] = Field(default_factory=dict)
    """Tasks that only the benchmark's code carried out, by the reason."""
    failed: dict[str, int] = Field(default_factory=dict)
    """Tasks that the benchmark's code could not carry out, by the reason."""
    differences: tuple[Mismatch, ...] = ()
    """What differs."""
    only_in_code: tuple[str, ...] = ()
    """Tools of the code that data of another release does not list; not counted as differences."""


def verify_checkout(benchmark: str, checkout: Path, data: Path) -> list[DomainFidelity]:
    """Compare our tools with the code of a checkout on the ground truths of a data folder, domain by domain.

    Raises:
        UnavailableError: when the benchmark has no tools of ours, or the folder no code of it.
        SourceError: when the data cannot be read as this benchmark.
    """
    ours: Environment
    theirs: TauCheckout
    source: Source
    if benchmark == TauBenchCheckout.benchmark:
        ours, theirs, source = TauBenchEnvironment(), TauBenchCheckout(checkout.resolve()), TauBench(data)
    elif benchmark == Tau2Checkout.benchmark:
        domains = [name for name in Checkout(data).domains if name not in VARIANTS]
        ours, theirs, source = Tau2Environment(), Tau2Checkout(checkout.resolve()), Tau2Bench(data, domains)
    else:
        raise UnavailableError(f"{benchmark} has no tools of ours to compare with its code; tau2 and tau-bench have")
    if not any((checkout / folder).is_dir() for folder in theirs.folders):
        raise UnavailableError(f"{checkout} holds no code of {benchmark}: {' or '.join(theirs.folders)} is missing")
    try:
        return compare_with_code(
            ours, theirs, source.tasks(Quarantine()), own_data=data.resolve().is_relative_to(checkout.resolve())
        )
    finally:
        theirs.close()


def compare_with_code(
    ours: Environment, theirs: TauCheckout, tasks: Iterable[AgentTask], *, own_data: bool = True
) -> list[DomainFidelity]:
    """Compare our tools with the benchmark's code on given tasks.

    Args:
        ours: our own tools.
        theirs: the benchmark's code.
        tasks: tasks with their ground truths.
        own_data: whether the tasks come with the code; those of another release may list fewer tools.
    """
    domains: dict[str, _Domain] = {}
    for task in tasks:
        if task.subtask not in domains:
            domains[task.subtask] = _Domain(task.subtask, own_data)
        domains[task.subtask].compare(ours, theirs, task)
    return [domain.result() for domain in domains.values()]


class _Domain:
    """Collects the counts of one domain, task by task."""

    def __init__(self, name: str, own_data: bool) -> None:
        self._name = name
        self._own_data = own_data
        self._only_in_code: list[str] = []
        self._tasks = self._run = 0
        self._compared: Counter[str] = Counter()
        self._equal: Counter[str] = Counter()
        self._without: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._differences: list[Mismatch] = []

    def result(self) -> DomainFidelity:
        read, calls, states = (
            Tally(total=self._compared[what], equal=self._equal[what]) for what in ("read", "calls", "states")
        )
        return DomainFidelity(
            domain=self._name,
            tasks=self._tasks,
            read=read,
            run=self._run,
            calls=calls,
            states=states,
            without=dict(self._without),
            failed=dict(self._failed),
            differences=tuple(self._differences),
            only_in_code=tuple(self._only_in_code),
        )

    def compare(self, ours: Environment, theirs: TauCheckout, task: AgentTask) -> None:
        """Carry out the ground truth of a task by both."""
        self._tasks += 1
        try:
            theirs.reset(task)
            if not self._compared["read"]:
                self._compare_reading(task, theirs.describe())
            self._carry_out(ours, theirs, task)
        except (ExecutionError, UnavailableError) as error:
            self._failed[str(error).removeprefix(f"{task.id}: ")] += 1

    def _carry_out(self, ours: Environment, theirs: TauCheckout, task: AgentTask) -> None:
        without = ours.supports(task)
        if without is None:
            ours.reset(task)
        else:
            self._without[without] += 1
        for pointer, call in task.gold_calls():
            answered = theirs.call(call).text
            self._run += 1
            if without is None:
                number = pointer.rpartition("/")[2]
                self._note("calls", f"{task.id}: call {number} ({call.name})", ours.call(call).text, answered)
        if without is None:
            left = _without_nulls(ours.snapshot()), _without_nulls(theirs.snapshot())
            self._note("states", f"{task.id}: end state", *left)

    def _compare_reading(self, task: AgentTask, shown: dict[str, Any]) -> None:
        for kind in ("tools", "user_tools"):
            read = {tool.name: _shown(tool) for tool in getattr(task.environment, kind)}
            told = {name: _told(schema) for name, schema in shown[kind].items()}
            lacking = [] if self._own_data else sorted(told.keys() - read.keys())
            self._only_in_code += lacking
            for name in sorted(told.keys() - set(lacking)):
                self._note("read", f"{self._name}: tool {name}", read.get(name), told[name])
        parts = (re.escape(part) for part in task.environment.policy.strip().split(SET_BY_CODE))
        alike = re.fullmatch(".*?".join(parts), shown["policy"].strip())
        self._note(
            "read", f"{self._name}: policy", shown["policy"] if alike else task.environment.policy, shown["policy"]
        )

    def _note(self, what: str, place: str, ours: Any, theirs: Any) -> None:
        self._compared[what] += 1
        self._equal[what] += ours == theirs
        if ours != theirs:
            self._differences.append(Mismatch(place=place, ours=str(ours), theirs=str(theirs)))


def _shown(tool: ToolSpec) -> dict[str, Any]:
    return _told({"description": tool.description, "parameters": tool.parameters})


def _told(schema: dict[str, Any]) -> dict[str, Any]:
    """Keep what a model is told of a tool apart from its name."""
    return {"description": schema.get("description"), "parameters": schema.get("parameters") or {}}


def _without_nulls(value: Any) -> Any:
    """Leave out fields without a value: the benchmark's code writes them, its files do not."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
