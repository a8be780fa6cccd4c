"""Task runners of Prefect for an audit, and what carries out functions on their workers."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast

import agenthard.flows.prefect_setup  # noqa: F401  isort:skip
from agenthard.flows.errors import InfrastructureError
from agenthard.flows.logs import log
from agenthard.flows.scale_out.runner import Runner
from agenthard.flows.scale_out.settings import ScaleOut
from agenthard.flows.stages import has_server, run_flow
from agenthard.taxonomy.errors import MissingExtraError

if TYPE_CHECKING:
    from prefect.task_runners import TaskRunner

R = TypeVar("R")
STARTS = 3
"""Times that a cluster of this machine is started."""


def task_runner(where: ScaleOut, workers: int) -> "TaskRunner[Any]":
    """Make what runs the tasks of the flow.

    Args:
        where: what checks the shards.
        workers: threads or processes, where the cluster is one of this machine's own.

    Raises:
        MissingExtraError: A package is missing.
    """
    if where.runner is Runner.DASK:
        return _dask(where.address, workers)
    if where.runner is Runner.RAY:
        return _ray(where.address, workers)
    from prefect.task_runners import ThreadPoolTaskRunner

    return ThreadPoolTaskRunner(max_workers=workers)


def _dask(address: str | None, workers: int) -> "TaskRunner[Any]":
    try:
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError as error:
        raise MissingExtraError("--runner dask", "dask") from error
    if address:
        return DaskTaskRunner(address=address)
    own = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    return DaskTaskRunner(cluster_kwargs={**own, "host": "127.0.0.1", "silence_logs": "CRITICAL"})


def _ray(address: str | None, workers: int) -> "TaskRunner[Any]":
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray  # noqa: F401 - prefect_ray imports it when the runner starts
        from prefect_ray.task_runners import RayTaskRunner
    except ImportError as error:
        raise MissingExtraError("--runner ray", "ray") from error
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    own = {} if address else {"num_cpus": workers, "include_dashboard": False}
    made: TaskRunner[Any] = RayTaskRunner(address=address, init_kwargs={**quiet, **own})
    return made


class Workers:
    """What carries out functions on the workers of a runner that has been started.

    Where a Prefect server is configured, each call is a task run that it records, so workers have to reach it. Else a
    cluster gets the plain function: without a server each worker would start one of its own.
    """

    def __init__(self, runner: Any, kind: Runner, *, recorded: bool) -> None:
        """Prepare.

        Args:
            runner: the runner, started.
            kind: which it is.
            recorded: whether calls are task runs of the flow that runs.
        """
        self._runner, self._kind, self._recorded = runner, kind, recorded

    def count(self) -> int:
        """Return how many functions are carried out at a time; 0 while a cluster has no worker."""
        if self._kind is Runner.DASK:
            return sum(self._runner.client.nthreads().values())
        if self._kind is Runner.RAY:
            import ray

            resources: Any = ray.cluster_resources  # has no types
            return int(resources().get("CPU", 0))
        return int(self._runner._max_workers)

    def submit(self, what: str, function: Callable[..., R], *arguments: Any) -> Any:
        """Carry out a function on a worker; return a future with ``result``, ``cancel`` and ``add_done_callback``.

        Args:
            what: name of the task run.
            function: a function of a module, so that workers find it.
            arguments: its arguments.
        """
        if self._recorded:
            from prefect import task
            from prefect.cache_policies import NO_CACHE

            named = what.replace("{", "{{").replace("}", "}}")
            made = task(name="check-shards", task_run_name=named, cache_policy=NO_CACHE, persist_result=False)
            return made(function).submit(*arguments)
        if self._kind is Runner.DASK:
            return self._runner.client.submit(function, *arguments, pure=False)
        import ray

        return ray.remote(function).options(name=what).remote(*arguments).future()


_started: ContextVar[Workers] = ContextVar("started")
_given: ContextVar[Callable[[], Any]] = ContextVar("given")


def workers_at_hand() -> Workers:
    """Return the workers of the flow that runs."""
    return _started.get()


def run_on_workers(function: Callable[[], R], where: ScaleOut, workers: int, name: str, run_name: str) -> R:
    """Run a function of stages whose shards go to workers.

    Args:
        function: the flow.
        where: what checks the shards.
        workers: threads or processes, where the cluster is one of this machine's own.
        name: name of the flow.
        run_name: name of this run.

    Raises:
        MissingExtraError: A package is missing.
    """
    runner = task_runner(where, workers)
    token = _given.set(function)
    try:
        if where.runner is Runner.PREFECT or has_server():
            return cast("R", run_flow(_recorded, name, run_name, runner, where.runner.value))
        with _reached(runner, where) as started:
            _started.set(Workers(started, where.runner, recorded=False))
            return run_flow(function, name, run_name, 1)
    finally:
        _given.reset(token)


@contextmanager
def _reached(runner: Any, where: ScaleOut) -> Iterator[Any]:
    """Start a runner; a cluster that does not answer is named."""
    with ExitStack() as stack:
        try:
            started = _start(stack, runner, where)
            Workers(started, where.runner, recorded=False).count()
        except Exception as error:  # Ray raises a plain Exception when its node does not start in time
            raise InfrastructureError(
                f"no {where.runner.value} cluster answers at {where.address or 'this machine'}: "
                f"{type(error).__name__}: {str(error)[:300]}"
            ) from error
        yield started


def _start(stack: ExitStack, runner: Any, where: ScaleOut) -> Any:
    """Start a runner; a cluster of this machine that Ray gave up after 30 seconds, since the machine is busy, again."""
    for _ in range(STARTS - 1 if where.runner is Runner.RAY and not where.address else 0):
        try:
            return stack.enter_context(runner)
        except Exception as error:  # Ray raises nothing more special
            if "timed out during startup" not in str(error):
                raise
            log.warning("warning: Ray did not start within its 30 seconds; it is started again")
            import ray

            ray.shutdown()
            runner = runner.duplicate()
    return stack.enter_context(runner)


def _recorded(kind: str) -> Any:
    """Be the flow. Prefect sends its parameters to every worker, so the tasks of the benchmark are not among them."""
    from prefect.context import FlowRunContext

    context = FlowRunContext.get()
    assert context is not None
    _started.set(Workers(context.task_runner, Runner(kind), recorded=True))
    return _given.get()()
