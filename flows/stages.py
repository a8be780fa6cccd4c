"""Stages of a command: plain calls, or tasks of a Prefect flow where a server is configured to record them.

No command starts a server of its own, and without one Prefect is not imported: that takes longer than a small audit.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar, cast

from agenthard.flows.telemetry import instrumented

if TYPE_CHECKING:
    from prefect import Task
    from prefect.task_runners import TaskRunner

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Submitted(Protocol[R_co]):
    """A stage that runs in another thread."""

    def result(self) -> R_co:
        """Wait for what the stage returns, or raise what it raised."""


_threads: ContextVar[ThreadPoolExecutor | None] = ContextVar("threads", default=None)
"""Threads of the flow that runs without a server; None in a flow that a server records, and outside flows."""
_recorded: ContextVar[bool] = ContextVar("recorded", default=False)
"""Whether a server records the flow that runs."""


@dataclass(frozen=True)
class Stage(Generic[P, R]):
    """A function that is one task of a flow."""

    function: Callable[P, R]
    """What it does."""
    name: str
    """Name of the Prefect task."""
    run_name: str | None
    """Template of the names of its runs, with the function's arguments in braces."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the stage and return what it returns."""
        return self._task()(*args, **kwargs) if _recorded.get() else instrumented(self)(*args, **kwargs)

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> Submitted[R]:
        """Run the stage in a thread of the flow.

        Raises:
            RuntimeError: No flow runs.
        """
        if _recorded.get():
            return cast("Submitted[R]", self._task().submit(*args, **kwargs))
        threads = _threads.get()
        if threads is None:
            raise RuntimeError(f"the stage {self.name!r} was submitted outside a flow")
        context, work = copy_context(), instrumented(self)
        return threads.submit(lambda: context.run(work, *args, **kwargs))

    def _task(self) -> "Task[P, R]":
        from prefect import task
        from prefect.cache_policies import NO_CACHE

        made = task(name=self.name, task_run_name=self.run_name, cache_policy=NO_CACHE)
        return made(instrumented(self))


def stage(name: str, run_name: str | None = None) -> Callable[[Callable[P, R]], Stage[P, R]]:
    """Make a function a stage.

    Args:
        name: name of the Prefect task.
        run_name: template of the names of its runs, with the function's arguments in braces.
    """
    return lambda function: Stage(function, name, run_name)


def run_flow(
    function: Callable[P, R],
    name: str,
    run_name: str,
    workers: "int | TaskRunner[Any]",
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> R:
    """Run a function of stages: as a Prefect flow where a server is configured, else directly.

    Within a flow that Prefect runs already (`agenthard.flows.deployments`), its stages are tasks of that flow.

    Args:
        function: the flow, a plain function.
        name: its name.
        run_name: name of this run.
        workers: submitted stages that run at a time, in threads; or a runner of Prefect, with which the function is a
            flow in any case.
        args: arguments of the function.
        kwargs: keyword arguments of the function.

    Returns:
        What the function returns.
    """
    if isinstance(workers, int) and in_flow():
        with _recording():
            return function(*args, **kwargs)
    if isinstance(workers, int) and not has_server():
        with _running_in(workers):
            return function(*args, **kwargs)
    import agenthard.flows.prefect_setup  # noqa: F401  isort:skip
    from prefect import flow
    from prefect.task_runners import ThreadPoolTaskRunner

    runner: Any = ThreadPoolTaskRunner(max_workers=workers) if isinstance(workers, int) else workers
    with _recording():
        named = run_name.replace("{", "{{").replace("}", "}}")  # Prefect takes it for a template
        recorded = flow(name=name, flow_run_name=named, validate_parameters=False, task_runner=runner)
        return recorded(function)(*args, **kwargs)


@contextmanager
def _recording() -> Iterator[None]:
    token = _recorded.set(True)
    try:
        yield
    finally:
        _recorded.reset(token)


def in_flow() -> bool:
    """Tell whether Prefect runs a flow here."""
    if "prefect" not in sys.modules:
        return False
    from prefect.context import FlowRunContext

    return FlowRunContext.get() is not None


@contextmanager
def _running_in(threads: int) -> Iterator[None]:
    with ThreadPoolExecutor(threads, thread_name_prefix="stage") as pool:
        token = _threads.set(pool)
        try:
            yield
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            _threads.reset(token)


def has_server() -> bool:
    """Tell whether a Prefect server is configured: by PREFECT_API_URL, a profile, or a settings file of the folder."""
    if "prefect" not in sys.modules and not _may_be_configured():
        return False
    import agenthard.flows.prefect_setup  # noqa: F401  isort:skip
    from prefect.settings import get_current_settings

    return bool(get_current_settings().api.url)


def _may_be_configured() -> bool:
    """Tell whether anything that Prefect reads its settings from names Prefect, without importing it."""
    if any(name in os.environ for name in ("PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH")):
        return True
    try:
        home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    except RuntimeError:  # no home
        home = Path()
    words = {
        home / "profiles.toml": b"prefect_",
        Path(".env"): b"prefect_",
        Path("prefect.toml"): b"",
        Path("pyproject.toml"): b"tool.prefect",
    }
    try:
        return any(path.is_file() and word in path.read_bytes().lower() for path, word in words.items())
    except OSError:
        return True
