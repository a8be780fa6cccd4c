"""Writing prompts and checking verdicts beside the event loop, so that requests in flight never wait for either."""

import asyncio
import multiprocessing
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from agenthard.audit.judge.aggregate.panel import PanelIssue
from agenthard.audit.judge.context.material import Material
from agenthard.audit.judge.judged import Judged
from agenthard.audit.judge.verify.checked import CheckedVerdict
from agenthard.flows.errors import CommandError
from agenthard.flows.evaluation.playing import follow_parent
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.flows.judging.workbench import Ready, Workbench, open_workbench
from agenthard.taxonomy.errors import AgentHardError

T = TypeVar("T")
_Job = tuple[Callable[..., Any], tuple[Any, ...]]
_TOGETHER_SECONDS = 0.1
_BEHIND = 5
"""How far these processes stand behind the event loop where cores are scarce: requests in flight come first."""


class PreparationError(AgentHardError):
    """Something could not be done for one task; the message says what went wrong."""

    code = "AH804"
    remedy = "Audit the benchmark again; if the task still fails, report it with the message."


class Hands(Protocol):
    """Who writes prompts and checks verdicts. What cannot be done is `PreparationError`."""

    async def prepare(self, task_id: str) -> dict[str, Ready]:
        """Write the prompts of all judges for one task, by the judge's name."""
        ...

    async def check(self, judged: Judged, material: Material) -> CheckedVerdict:
        """Check what a judge said of a task."""
        ...

    async def defence(self, task_id: str, issue: PanelIssue, judge: str) -> Ready:
        """Write the prompt of a defence of a task."""
        ...


class _Here:
    """Everything in this process."""

    def __init__(self, settings: JudgingSettings) -> None:
        self._workbench = open_workbench(settings)

    async def prepare(self, task_id: str) -> dict[str, Ready]:
        return self._do(Workbench.prepare, task_id)

    async def check(self, judged: Judged, material: Material) -> CheckedVerdict:
        return self._do(Workbench.check, judged, material)

    async def defence(self, task_id: str, issue: PanelIssue, judge: str) -> Ready:
        return self._do(Workbench.defence, task_id, issue, judge)

    def _do(self, work: Callable[..., T], *arguments: Any) -> T:
        [found] = _work_on(self._workbench, [(work, arguments)])
        if isinstance(found, Exception):
            raise found
        result: T = found
        return result


class _Elsewhere:
    """Everything in processes of its own, each of which has read the audit."""

    def __init__(self, settings: JudgingSettings, pool: ProcessPoolExecutor) -> None:
        self._settings, self._pool, self._workers = settings, pool, settings.workers
        self._waiting: list[tuple[_Job, asyncio.Future[Any]]] = []
        self._sending: set[asyncio.Future[None]] = set()

    async def prepare(self, task_id: str) -> dict[str, Ready]:
        return await self._do(Workbench.prepare, task_id)

    async def check(self, judged: Judged, material: Material) -> CheckedVerdict:
        return await self._do(Workbench.check, judged, material)

    async def defence(self, task_id: str, issue: PanelIssue, judge: str) -> Ready:
        return await self._do(Workbench.defence, task_id, issue, judge)

    async def _do(self, work: Callable[..., T], *arguments: Any) -> T:
        """Have something done together with all that is asked for within a tenth of a second.

        Each message to another process costs the event loop a millisecond, and nobody waits for a single one.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(((work, arguments), done))
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(_TOGETHER_SECONDS, self._send)
        return await done

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, []
        for share in (waiting[number :: self._workers] for number in range(self._workers)):
            if share:
                sending = asyncio.ensure_future(self._deliver(share))
                self._sending.add(sending)
                sending.add_done_callback(self._sending.discard)

    async def _deliver(self, share: list[tuple[_Job, "asyncio.Future[Any]"]]) -> None:
        jobs = [job for job, _ in share]
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._pool, _work, self._settings, jobs)
        except BrokenProcessPool:
            words = (
                "a process that writes prompts died (out of memory, or killed); what is answered is kept: the same "
                "command goes on from there, and --workers 1 takes the least memory"
            )
            found = [CommandError(words)] * len(jobs)
        except Exception as error:  # noqa: BLE001 - what cannot be sent there and back ends no run
            found = [PreparationError(f"{type(error).__name__}: {error}")] * len(jobs)
        for (_, done), result in zip(share, found, strict=True):
            if done.done():
                continue
            if isinstance(result, Exception):
                done.set_exception(result)
            else:
                done.set_result(result)


@asynccontextmanager
async def hands(settings: JudgingSettings) -> AsyncIterator[Hands]:
    """Take on those who write and check, as many processes as the settings say."""
    if not settings.workers:
        yield _Here(settings)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(settings.workers, mp_context=context, initializer=_start, initargs=(settings,))
    try:
        yield _Elsewhere(settings, pool)
    finally:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


def _start(settings: JudgingSettings) -> None:
    follow_parent()
    os.nice(_BEHIND)
    open_workbench(settings)


def _work(settings: JudgingSettings, jobs: list[_Job]) -> list[Any]:
    return _work_on(open_workbench(settings), jobs)


def _work_on(workbench: Workbench, jobs: list[_Job]) -> list[Any]:
    """Do all jobs; the exception of one is its result."""
    found: list[Any] = []
    for work, arguments in jobs:
        try:
            found.append(work(workbench, *arguments))
        except CommandError as error:
            found.append(error)
        except Exception as error:  # noqa: BLE001 - what is wrong with one task ends no run
            found.append(PreparationError(f"{type(error).__name__}: {error}"))
    return found
