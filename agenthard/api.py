"""Audits and checks of ``import agenthard as ah``. Nothing here prints, or needs Prefect or a server."""

import hashlib
import multiprocessing
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agenthard.audit.conclude import conclude
from agenthard.audit.decisions.policy import load_policy
from agenthard.audit.decisions.suppressions import Suppression, read_suppressions
from agenthard.audit.detectors import registry
from agenthard.audit.detectors.base import Detector
from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.registry import check_checkout
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Source, SourceError
from agenthard.audit.sources.registry import detect_name
from agenthard.audit.sources.registry import open_source as open_named
from agenthard.flows.audit_plan import AuditInput, AuditSettings, check_overrides, check_suppressions, plan_shards
from agenthard.flows.errors import UsageError
from agenthard.flows.run_spool import run_order
from agenthard.flows.shard_worker import CheckedShard, check_tasks
from agenthard.result import AuditResult, AuditWork, CheckResult
from agenthard.taxonomy.categories import load_taxonomy
from agenthard.taxonomy.system import follow_parent
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas

PathLike = str | Path
D = TypeVar("D", bound=type[Detector])


def open_source(name: str, path: PathLike | None = None, domains: Sequence[str] = ()) -> Source:
    """Open a benchmark with the source of a name; ``agenthard sources`` lists the names.

    Args:
        name: name of the source, such as "tau-bench".
        path: folder (or file) of the benchmark; None means what ``agenthard fetch`` has installed.
        domains: subtasks or domains to read; empty means all.

    Raises:
        SourceError: No such source, or it cannot read the folder.
    """
    if path is None:
        from agenthard.audit.sources.fetch import fetched

        found = fetched(name)
        if not found:
            raise SourceError(f"{name}: no data is installed; run `agenthard fetch {name}`, or give the folder")
        path = found[-1].data
    return open_named(name, Path(path), tuple(domains))


def detect(path: PathLike, domains: Sequence[str] = ()) -> Source:
    """Open a benchmark with the one source that recognises its folder.

    Sources of general rows (chat, hf) count only where no other source recognises it.

    Args:
        path: folder (or file) of the benchmark.
        domains: subtasks or domains to read; empty means all.

    Raises:
        SourceError: when no source recognises the folder, or several do; the message lists the candidates.
    """
    return open_named(detect_name(Path(path)), Path(path), tuple(domains))


def audit(
    source: "Source | pandas.DataFrame | Iterable[Mapping[str, Any]]",
    runs: Sequence[PathLike] = (),
    *,
    mapping: "PathLike | Mapping[str, Any] | None" = None,
    workers: int = 1,
    experiments: Sequence[str] = (),
    policy: PathLike | None = None,
    checkout: PathLike | None = None,
    allow_weak_isolation: bool = False,
    experimental: bool = False,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    suppressions: "Iterable[Suppression | Mapping[str, Any]]" = (),
) -> AuditResult:
    """Audit a benchmark in memory: run every check on every task, and decide. Nothing is written or printed.

    The result is the same for any number of workers, and the same as that of ``agenthard audit``.

    >>> import json, tempfile
    >>> import agenthard as ah
    >>> folder = Path(tempfile.mkdtemp())
    >>> task = {
    ...     "id": "a",
    ...     "benchmark": "library",
    ...     "user": {"kind": "scripted", "turns": [[{"role": "user", "content": "Lend book 7 to Ada."}]]},
    ...     "environment": {"tools": [{"name": "lend", "parameters": {"properties": {"book": {"type": "integer"}}}}]},
    ...     "evaluation": {"checks": [{"kind": "tool_calls", "scored": True}]},
    ...     "ground_truth": {"semantics": "required", "turns": [[{"name": "lend", "arguments": {"book": "seven"}}]]},
    ... }
    >>> _ = (folder / "tasks.jsonl").write_text(json.dumps(task))
    >>> result = ah.audit(ah.open_source("native", folder))
    >>> result.findings_frame()[["check", "tier"]].values.tolist()
    [['call-schema', 'confirmed']]
    >>> print(result.findings[0].claim)
    The gold call of 'lend' gives 'book' as "seven", but the documented type is 'integer'.

    Rows of your own need no files:

    >>> tool = {"name": "lend", "parameters": {"properties": {"book": {"type": "integer"}}, "required": ["book"]}}
    >>> rows = [
    ...     {"id": n, "ask": f"Lend me book {n}.", "tools": [tool], "gold": f"lend(book={n})"} for n in (7, 8, 9)
    ... ] + [{"id": 4, "ask": "Lend me book 4.", "tools": [tool], "gold": "lend(book='four')"}]
    >>> [(finding.check, finding.task_ids) for finding in ah.audit(rows).findings]
    [('call-schema', ('4',))]

    Checks are chosen, and findings suppressed, as on the command line and in agenthard.toml:

    >>> accepted = {"check": "call-schema", "task": "4", "reason": "fixed in the next release", "until": "2999-12-31"}
    >>> found = ah.audit(rows, select=["ground_truth"], suppressions=[accepted])
    >>> len(found.findings), [(each.finding.check, each.reason) for each in found.suppressed]
    (0, [('call-schema', 'fixed in the next release')])

    Args:
        source: the benchmark, opened by `open_source` or `detect`; or its rows as a data frame or a list of objects.
        mapping: for rows: a mapping file or its content; None means the one that ``agenthard sources infer`` proposes.
        runs: files or folders of model runs.
        workers: processes. With more than one, a script has to call this under ``if __name__ == "__main__":``.
        experiments: read only runs of these experiments; empty means all.
        policy: decision policy (YAML); None means the one that ships.
        checkout: folder with the benchmark's own code, to be executed instead of the built-in environment.
        allow_weak_isolation: whether benchmark code is executed where this machine lacks a layer of containment.
        experimental: whether checks without a true finding on real benchmarks run too.
        select: run only these checks, categories or components; empty means all.
        ignore: checks, categories or components that do not run.
        suppressions: findings that do not count until a day, each with ``finding`` (or ``check`` and ``task``),
            ``reason`` and ``until``.

    Raises:
        SourceError: when the benchmark or a run path cannot be read at all.
        PolicyError: when the policy file cannot be used.
        UnavailableError: when the checkout cannot be used.
        SelectionError: when a word of ``select`` or ``ignore`` names no check, or none is left.
        SuppressionError: when a suppression is incomplete, or names what the audit does not have.
        VerdictError: when an override of the policy names a task that the benchmark does not have.
        UsageError: when worker processes cannot be started, or a mapping is given for a source.
    """
    from agenthard.flows.audit_outputs import conclude_audit

    if not isinstance(source, Source):
        from agenthard.audit.sources.mapping.in_memory import open_rows

        source = open_rows(source, mapping)
    elif mapping is not None:
        raise UsageError("a mapping describes rows; a source that is open has its own")
    settings = AuditSettings(
        source=source.name,
        path=str(source.root),
        domains=tuple(source.domains),
        runs=tuple(map(str, runs)),
        experiments=tuple(experiments),
        out="",
        workers=workers,
        policy=str(policy) if policy else None,
        checkout=str(checkout) if checkout else None,
        weak_isolation=allow_weak_isolation,
        experimental=experimental,
        select=tuple(select),
        ignore=tuple(ignore),
        suppressions=read_suppressions(suppressions),
    )
    if checkout:
        check_checkout(source.name, Path(checkout))
    rules, checks = load_policy(Path(policy) if policy else None), settings.checks()
    given = AuditInput(settings, source)
    check_suppressions(given)
    check_overrides(given, rules)
    spool: dict[int, list[Trajectory]] = {}
    plan = plan_shards(given, lambda number, run: spool.setdefault(number, []).append(run))
    plan = plan.model_copy(update={"key": _key(plan.key)})
    by_shard = [sorted(spool.get(number, ()), key=run_order) for number in range(plan.shards)]
    tasks = [given.tasks[plan.shard(number)] for number in range(plan.shards)]
    shards = _check_shards(settings, tasks, by_shard, checks)
    isolations = sorted({text for shard in shards for text in shard.isolations})
    report = conclude_audit(
        given,
        plan,
        [shard.result for shard in shards],
        checks,
        rules,
        runs=lambda ids: (run for shard in by_shard for run in shard if ids is None or run.id in ids),
        isolation=" | ".join(isolations) or "nothing executed",
    )
    return AuditResult.of(AuditWork(given, plan, rules, shards, by_shard, report))


def check(
    task: AgentTask, checks: Iterable[str | type[Detector]] | None = None, runs: Sequence[Trajectory] = ()
) -> CheckResult:
    """Run checks on one task.

    >>> import agenthard as ah
    >>> task = ah.AgentTask.model_validate({
    ...     "id": "a", "native_id": "a", "benchmark": "library",
    ...     "user": {"kind": "scripted", "turns": [[{"role": "user", "content": "Keep it until February 30, 2024."}]]},
    ...     "environment": {}, "evaluation": {}, "ground_truth": {"semantics": "required", "turns": []},
    ... })
    >>> findings, coverage = ah.check(task, ["impossible-date"])
    >>> print(findings[0].claim)
    The day “February 30, 2024” does not exist
    >>> [(row.check, row.status.value) for row in coverage]
    [('impossible-date', 'flagged')]

    Args:
        task: the task.
        checks: ids of checks, or classes that need not be registered; None means all.
        runs: runs of the task, for checks that look at runs.

    Raises:
        UsageError: No check of an id.
    """
    chosen = registry.detectors() if checks is None else tuple(map(_detector, checks))
    found = check_shard([task], {task.id: runs}, chosen)
    findings, coverage = conclude(task.benchmark, [task.id], [found], chosen)
    return CheckResult(tuple(findings), tuple(coverage))


def register(check: D) -> D:
    """Add a check of your own to the audits of this process. Works as a class decorator.

    Registering a class again, as running a notebook cell twice does, replaces the earlier one. A package offers its
    checks to every audit with the entry-point group ``agenthard.detectors`` instead.

    >>> import agenthard as ah
    >>> class Shouting(ah.TaskDetector):
    ...     id, title, version = "shouting", "users who write in capitals", "1"
    ...     category, severity, tier = "ambiguous-instruction", ah.Severity.COSMETIC, ah.Tier.SUSPECTED
    ...     def inspect(self, task):
    ...         for turn, messages in enumerate(task.user.turns):
    ...             if messages and messages[0].content.isupper():
    ...                 evidence = (ah.quote(task, f"/user/turns/{turn}/0/content"),)
    ...                 yield ah.Hit(claim="The user writes in capitals.", evidence=evidence)
    >>> task = ah.AgentTask.model_validate({
    ...     "id": "a", "native_id": "a", "benchmark": "library",
    ...     "user": {"kind": "scripted", "turns": [[{"role": "user", "content": "LEND ME A BOOK"}]]},
    ...     "environment": {}, "evaluation": {}, "ground_truth": {"semantics": "required", "turns": []},
    ... })
    >>> [finding.claim for finding in ah.check(task, [Shouting]).findings]
    ['The user writes in capitals.']
    >>> ah.register(Shouting).id in {check.id for check in registry.detectors()}
    True
    >>> registry.unregister("shouting")

    Args:
        check: a subclass of `TaskDetector`, `ToolDetector` or `SuiteDetector`.

    Raises:
        UsageError: when the class is incomplete, or another check has its id.
    """
    absent = [name for name in ("id", "title", "version", "category", "severity", "tier") if not hasattr(check, name)]
    if absent:
        raise UsageError(f"{check.__name__}: set {', '.join(absent)}")
    categories = [category.id for category in load_taxonomy().categories]
    if check.category not in categories:
        raise UsageError(f"{check.__name__}: no category {check.category!r}; there are {', '.join(categories)}")
    try:
        registry.register(check())
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from error
    return check


def _detector(check: str | type[Detector]) -> Detector:
    if not isinstance(check, str):
        return check()
    try:
        return registry.detector(check)
    except KeyError as error:
        raise UsageError(str(error.args[0])) from error


def _key(key: str) -> str:
    """Let the checks of this process count as an input too, since the command does not have them."""
    own = registry.registered()
    if not own:
        return key
    names = [f"{type(each).__module__}.{type(each).__qualname__} {each.version}" for each in own]
    return hashlib.sha256("\n".join([key, *names]).encode()).hexdigest()[:16]


def _check_shards(
    settings: AuditSettings,
    shards: Sequence[Sequence[AgentTask]],
    runs: Sequence[Sequence[Trajectory]],
    checks: Sequence[Detector],
) -> list[CheckedShard]:
    workers = min(settings.workers, len(shards))
    if workers <= 1:
        with settings.execution() as execution:
            return [check_tasks(execution, tasks, own, checks) for tasks, own in zip(shards, runs, strict=True)]
    own = [type(each).__qualname__ for each in checks if type(each).__module__ == "__main__"]
    if own and not hasattr(sys.modules["__main__"], "__file__"):
        raise UsageError(f"workers cannot import {own[0]} from a notebook; put it into a module, or use workers=1")
    spawn = multiprocessing.get_context("spawn")
    state = (settings.execution(), checks)
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=_start_worker, initargs=state) as pool:
        try:
            return list(pool.map(_check_in_worker, shards, runs))
        except BrokenProcessPool as error:
            raise UsageError(
                'a worker process ended: a script has to call ah.audit under `if __name__ == "__main__":`, and a '
                "machine needs memory for each worker; or use workers=1"
            ) from error


_worker_state: tuple[Execution, Sequence[Detector]]


def _start_worker(execution: Execution, checks: Sequence[Detector]) -> None:
    """Give a worker process what it needs for each shard."""
    global _worker_state
    follow_parent()
    _worker_state = (execution, checks)


def _check_in_worker(tasks: Sequence[AgentTask], runs: Sequence[Trajectory]) -> CheckedShard:
    execution, checks = _worker_state
    return check_tasks(execution, tasks, runs, checks)
