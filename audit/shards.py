"""Runs all detectors on one shard of tasks; input and output are serialisable, and no process changes the result."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from time import perf_counter
from typing import cast

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.coverage import CoverageTable, Outcome
from agenthard.audit.detectors.base import Detector, Hit, Observation, SuiteDetector, TaskDetector, ToolDetector
from agenthard.audit.evidence import canonical_json, failure
from agenthard.audit.execution.context import Execution, current_execution
from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.workers.channel import waited_seconds
from agenthard.audit.proof import discount_uncompared, prove_hit, verify_proof
from agenthard.audit.time_limit import CheckTimeoutError, cpu_limit, cpu_limits
from agenthard.taxonomy.finding import Evidence, Status, finding_id
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, ToolSpec
from agenthard.taxonomy.trajectory import Trajectory

OFFERED_ONLY = "a tool that the task offers, and its ground truth never calls, is flawed"


class CheckedHit(Record):
    """A hit with re-checked evidence, and the tasks of this shard that it concerns."""

    check: str
    """Detector."""
    task_ids: tuple[str, ...]
    """Tasks affected."""
    also_in: tuple[str, ...] = ()
    """Tasks that carry the cause without being affected."""
    hit: Hit
    """The flaw."""
    clone: str | None = None
    """Key that equal hits in variants of one base task share; None for a task without variants."""


@dataclass(frozen=True)
class ShardResult:
    """The result of checking one shard."""

    coverage: CoverageTable
    """One row per task and check."""
    hits: Sequence[CheckedHit] = ()
    """Hits of task and tool detectors."""
    observations: Mapping[str, Sequence[Observation]] = field(default_factory=dict)
    """Observations of suite detectors, by detector id, from which they conclude over all shards."""
    shared_keys: Mapping[str, NDArray[np.uint64]] = field(default_factory=dict, compare=False)
    """For checks that compare equal tasks: one row per key, with the position of its observation and its hash."""
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Time that each detector took; the first of those that share a computation pays for it."""
    executed: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Part of ``seconds`` that each detector waited for processes of benchmark code; absent where it did not wait."""


def check_shard(
    tasks: Sequence[AgentTask],
    runs: Mapping[str, Sequence[Trajectory]],
    detectors: Sequence[Detector],
    execution: Execution | None = None,
) -> ShardResult:
    """Run every detector on every task.

    An exception in a detector or in the verification of a proof, a quote that is not found again, and more CPU time
    than ``agenthard.audit.time_limit`` allows are errors of this (task, check) pair only.

    Args:
        tasks: the shard, in the benchmark's order.
        runs: runs by task id; a task may have none.
        detectors: all detectors.
        execution: whose code executes the tasks; None = the one that is active here. Checks reach it through
            ``current_execution()``.
    """
    with (execution or current_execution()).active(), cpu_limits():
        return _check(tasks, runs, detectors, {})


def check_each(
    tasks: Sequence[AgentTask],
    runs: Mapping[str, Sequence[Trajectory]],
    detectors: Sequence[Detector],
    execution: Execution | None = None,
) -> Iterator[ShardResult]:
    """Check tasks one by one, so that the result of each can be kept alone; a tool that they share is checked once.

    Joined by `agenthard.audit.shard_merge`, the results are what `check_shard` returns.

    Args:
        tasks: the tasks.
        runs: runs by task id.
        detectors: all detectors.
        execution: whose code executes the tasks; None = the one that is active here.
    """
    tools = dict[tuple[str, int], _ToolVerdict]()
    with (execution or current_execution()).active(), cpu_limits():
        for task in tasks:
            yield _check([task], runs, detectors, tools)


def _check(
    tasks: Sequence[AgentTask],
    runs: Mapping[str, Sequence[Trajectory]],
    detectors: Sequence[Detector],
    tools: "dict[tuple[str, int], _ToolVerdict]",
) -> ShardResult:
    coverage = CoverageTable([task.id for task in tasks], [detector.id for detector in detectors])
    hits: dict[str, list[CheckedHit]] = {detector.id: [] for detector in detectors}
    seconds, executed = dict.fromkeys(hits, 0.0), dict.fromkeys(hits, 0.0)
    observations: dict[str, list[Observation]] = {each.id: [] for each in detectors if isinstance(each, SuiteDetector)}
    for column, detector in enumerate(detectors):
        if isinstance(detector, ToolDetector):
            began = perf_counter()
            hits[detector.id], outcomes = _check_tools(detector, tasks, tools)
            for row, outcome in enumerate(outcomes):
                coverage.set(row, column, *outcome)
            seconds[detector.id] += perf_counter() - began
    each = [
        (column, detector.id, detector)
        for column, detector in enumerate(detectors)
        if isinstance(detector, (TaskDetector, SuiteDetector))
    ]
    suites = {check: detector for _, check, detector in each if isinstance(detector, SuiteDetector)}
    before, waited_before = perf_counter(), waited_seconds()
    for row, task in enumerate(tasks):  # all detectors of a task in a row, so that its worker starts once
        for column, check, detector in each:
            if check in suites:
                outcome, notes = _observe(suites[check], task, runs.get(task.id, ()))
                observations[check].extend(notes)
            else:
                outcome, task_hits = _check_task(cast(TaskDetector, detector), task)
                hits[check].extend(task_hits)
            coverage.set(row, column, *outcome)
            now, waited = perf_counter(), waited_seconds()
            seconds[check] += now - before
            executed[check] += waited - waited_before
            before, waited_before = now, waited
    return ShardResult(
        coverage=coverage,
        hits=tuple(chain.from_iterable(hits.values())),
        observations={check: tuple(notes) for check, notes in observations.items()},
        shared_keys=hash_shared_keys(detectors, observations),
        seconds={check: round(spent, 6) for check, spent in seconds.items()},
        executed={check: round(spent, 6) for check, spent in executed.items() if spent},
    )


def hash_shared_keys(
    detectors: Sequence[Detector], observations: Mapping[str, Sequence[Observation]]
) -> dict[str, NDArray[np.uint64]]:
    """Return what ``ShardResult.shared_keys`` holds, for the observations of suite detectors by id."""
    found = {}
    for detector in detectors:
        if isinstance(detector, SuiteDetector) and type(detector).shared_keys is not SuiteDetector.shared_keys:
            rows = [
                (position, int.from_bytes(blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest()))
                for position, note in enumerate(observations[detector.id])
                for key in detector.shared_keys(note)
            ]
            found[detector.id] = np.array(rows, np.uint64).reshape(-1, 2)
    return found


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def _failed(error: Exception) -> Outcome:
    if isinstance(error, CheckTimeoutError):
        current_execution().release()  # an environment may have been stopped in the middle of an answer
    return Status.ERROR, _describe(error)


def _rejected(evidence: Sequence[Evidence], task: AgentTask, runs: Mapping[str, Trajectory]) -> str | None:
    reasons = (failure(item, task, runs) for item in evidence)
    return next((f"evidence not found again: {reason}" for reason in reasons if reason), None)


def _check_task(detector: TaskDetector, task: AgentTask) -> tuple[Outcome, list[CheckedHit]]:
    try:
        with cpu_limit():
            reason = detector.why_left_out(task)
            if reason is not None:
                return (Status.NOT_CHECKED, reason), []
            hits = [
                prove_hit(detector, discount_uncompared(detector, hit, task), task) for hit in detector.inspect(task)
            ]
    except Exception as error:  # noqa: BLE001 - a detector's failure is one error row, never the end of the audit
        return _failed(error), []
    clones = _clones(task, hits)
    good = [
        CheckedHit(check=detector.id, task_ids=(task.id,), hit=h, clone=c) for h, c in zip(hits, clones, strict=True)
    ]
    bad = next((why for hit in hits if (why := _rejected(hit.evidence, task, {}))), None)
    if bad is not None:
        good = [item for item in good if _rejected(item.hit.evidence, task, {}) is None]
        return (Status.ERROR, bad), good
    return (Status.FLAGGED if good else Status.CLEAN, ""), good


def _clones(task: AgentTask, hits: Sequence[Hit]) -> Iterator[str | None]:
    """Assign each hit a key that equal hits in variants of the task share."""
    seen: Counter[tuple[str, ...]] = Counter()
    for hit in hits:
        quotes = tuple(item.quote for item in hit.evidence)
        seen[quotes] += 1
        yield None if task.cluster is None else finding_id(task.cluster, str(seen[quotes]), canonical_json(quotes))


def _observe(detector: SuiteDetector, task: AgentTask, runs: Sequence[Trajectory]) -> tuple[Outcome, list[Observation]]:
    by_id = {run.id: run for run in runs}
    try:
        with cpu_limit():
            reason = detector.why_left_out(task)
            if reason is None and detector.needs_runs and not runs:
                reason = "no runs of this task were given (--runs)"
            if reason is not None:
                return (Status.NOT_CHECKED, reason), []
            noted = detector.observe(task, iter(runs if detector.needs_runs or detector.uses_runs else ()))
            notes = [_proved(note, task, by_id) for note in noted]
    except Exception as error:  # noqa: BLE001
        return _failed(error), []
    bad = next((why for note in notes if (why := _rejected(note.evidence, task, by_id))), None)
    if bad is not None:
        return (Status.ERROR, bad), []
    return (Status.CLEAN, ""), notes


def _proved(note: Observation, task: AgentTask, runs: Mapping[str, Trajectory]) -> Observation:
    """Keep only the proofs of an observation that hold."""
    held = []
    for proof in note.proofs:
        try:
            held.append(verify_proof(proof, task, runs))
        except UnavailableError:
            continue
    return note.model_copy(update={"proofs": tuple(proof for proof in held if proof)}) if note.proofs else note


class _ToolVerdict(Record):
    """Result of a tool detector on one distinct tool."""

    status: Status
    reason: str = ""
    hits: tuple[Hit, ...] = ()


def _check_tools(
    detector: ToolDetector, tasks: Sequence[AgentTask], verdicts: dict[tuple[str, int], _ToolVerdict]
) -> tuple[list[CheckedHit], list[Outcome]]:
    touched: dict[tuple[str, str], dict[str, bool]] = {}
    first: dict[tuple[str, str], Hit] = {}
    outcomes: list[Outcome] = []
    for task in tasks:
        reason = detector.why_left_out(task)
        if reason is not None:
            outcomes.append((Status.NOT_CHECKED, reason))
            continue
        called = {(call.requestor, call.name) for _, call in task.gold_calls()}
        rows: list[_ToolVerdict] = []
        for pointer, requestor, tool in _tools(task):
            identity = (detector.id, id(tool))
            if identity not in verdicts:
                verdicts[identity] = _judge_tool(detector, tool)
            verdict = verdicts[identity]
            rows.append(verdict)
            for hit in verdict.hits:
                key = (_tool_cause(tool, hit), hit.claim)
                if key not in first:
                    first[key] = prove_hit(detector, _at(hit, key[0], task.id, pointer), task)
                touched.setdefault(key, {})[task.id] = (requestor, tool.name) in called
        outcomes.append(_summarise(rows))
    hits = [
        CheckedHit(
            check=detector.id,
            task_ids=tuple(task_id for task_id, used in users.items() if used),
            also_in=tuple(task_id for task_id, used in users.items() if not used),
            hit=first[key],
        )
        for key, users in touched.items()
    ]
    return hits, outcomes


def _tools(task: AgentTask) -> Iterator[tuple[str, str, ToolSpec]]:
    for i, tool in enumerate(task.environment.tools):
        yield f"/environment/tools/{i}", "assistant", tool
    for i, tool in enumerate(task.environment.user_tools):
        yield f"/environment/user_tools/{i}", "user", tool


def _judge_tool(detector: ToolDetector, tool: ToolSpec) -> _ToolVerdict:
    try:
        with cpu_limit():
            reason = detector.tool_not_applicable(tool)
            if reason is not None:
                return _ToolVerdict(status=Status.NOT_CHECKED, reason=reason)
            hits = tuple(detector.inspect_tool(tool))
    except Exception as error:  # noqa: BLE001
        return _ToolVerdict(status=Status.ERROR, reason=_describe(error))
    for item in chain.from_iterable(hit.evidence for hit in hits):
        why = failure(item, tool, {})
        if why is not None:
            return _ToolVerdict(status=Status.ERROR, reason=f"evidence not found again: {why}")
    if hits:
        return _ToolVerdict(status=Status.FLAGGED, reason=OFFERED_ONLY, hits=hits)
    return _ToolVerdict(status=Status.CLEAN)


def _tool_cause(tool: ToolSpec, hit: Hit) -> str:
    """Name the cause so that equal tools in many tasks share it, and unequal tools of one name do not."""
    locator = hit.cause or ",".join(item.pointer for item in hit.evidence)
    content = tool.model_dump(mode="json", exclude={"origin", "implementation"})
    return f"tool {tool.name} {finding_id(tool.name, '', canonical_json(content))} {locator}"


def _at(hit: Hit, cause: str, task_id: str, pointer: str) -> Hit:
    evidence = tuple(
        item.model_copy(update={"task_id": task_id, "pointer": pointer + item.pointer}) for item in hit.evidence
    )
    return hit.model_copy(update={"cause": cause, "evidence": evidence})


def _summarise(rows: Sequence[_ToolVerdict]) -> Outcome:
    if not rows:
        return Status.NOT_CHECKED, "the task offers no tools"
    for status in (Status.ERROR, Status.FLAGGED, Status.CLEAN):
        chosen = next((row for row in rows if row.status is status), None)
        if chosen is not None:
            return status, chosen.reason
    return Status.NOT_CHECKED, rows[0].reason
