"""Run prompt writing and verdict checking in other processes, so that the event loop stays free for requests."""

import asyncio
import multiprocessing
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from agenthard.audit.judge.aggregate.panel import PanelIssue
from agenthard.audit.judge.context.material import Material
from agenthard.audit.judge.verdict import CheckedVerdict, Judged
from agenthard.flows.errors import CommandError, InfrastructureError
from agenthard.flows.judging.prompts import PreparedPrompt, PromptBuilder, prompt_builder
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.system import follow_parent

T = TypeVar("T")
_Job = tuple[Callable[..., Any], tuple[Any, ...]]
_BATCH_SECONDS = 0.1
"""Jobs that arrive within this time are sent together: each message to a process costs the event loop a millisecond."""
_NICENESS = 5
"""Lower priority of the processes: where cores are scarce, requests in flight come first."""


class PreparationError(AgentHardError):
    """A prompt could not be written, or a verdict could not be checked."""

    code = "AH804"
    remedy = "Audit the benchmark again; if the task still fails, report it with the message."


class PromptWorker(Protocol):
    """Writes prompts and checks verdicts. Every method raises `PreparationError` when it fails on a task."""

    async def prepare(self, task_id: str) -> dict[str, PreparedPrompt]:
        """Write the prompts of all judges for one task, by the name of the judge."""
        ...

    async def check(self, judged: Judged, material: Material) -> CheckedVerdict:
        """Check a judge's verdict on a task."""
        ...

    async def defence(self, task_id: str, issue: PanelIssue, judge: str) -> PreparedPrompt:
        """Write the prompt of a defence of a task."""
        ...

    async def ballot(self, task_id: str, issue: PanelIssue, judge: str, number: int) -> PreparedPrompt:
        """Write the prompt of a ballot on the readings of a flaw."""
        ...


class InProcess:
    """A prompt worker in this process."""

    def __init__(self, settings: JudgingSettings) -> None:
        """Read the audit."""
        self._builder = prompt_builder(settings)

    async def prepare(self, task_id: str) -> dict[str, PreparedPrompt]:
        """Write the prompts of all judges for one task."""
        return self._run(PromptBuilder.prepare, task_id)

    async def check(self, judged: Judged, material: Material) -> CheckedVerdict:
        """Check a judge's verdict on a task."""
        return self._run(PromptBuilder.check, judged, material)

    async def defence(self, task_id: str, issue: PanelIssue, judge: str) -> PreparedPrompt:
        """Write the prompt of a defence of a task."""
        return self._run(PromptBuilder.defence, task_id, issue, judge)

    async def ballot(self, task_id: str, issue: PanelIssue, judge: str, number: int) -> PreparedPrompt:
        """Write the prompt of a ballot on the readings of a flaw."""
        return self._run(PromptBuilder.ballot, task_id, issue, judge, number)

    def _run(self, work: Callable[..., T], *arguments: Any) -> T:
        [found] = run_jobs(self._builder, [(work, arguments)])
        if isinstance(found, Exception):
            raise found
        result: T = found
        return result


class ProcessPool:
    """A prompt worker that distributes jobs over several processes, each of which has read the audit."""

    def __init__(self, settings: JudgingSettings, pool: ProcessPoolExecutor) -> None:
        """Use a pool whose processes were started with `_start`."""
        self._settings, self._pool, self._workers = settings, pool, settings.workers
        self._waiting: list[tuple[_Job, asyncio.Future[Any]]] = []
        self._sending: set[asyncio.Future[None]] = set()

    async def prepare(self, task_id: str) -> dict[str, PreparedPrompt]:
        """Write the prompts of all judges for one task."""
        return await self._submit(PromptBuilder.prepare, task_id)

    async def check(self, judged: Judged, material: Material) -> CheckedVerdict:
        """Check a judge's verdict on a task."""
        return await self._submit(PromptBuilder.check, judged, material)

    async def defence(self, task_id: str, issue: PanelIssue, judge: str) -> PreparedPrompt:
        """Write the prompt of a defence of a task."""
        return await self._submit(PromptBuilder.defence, task_id, issue, judge)

    async def ballot(self, task_id: str, issue: PanelIssue, judge: str, number: int) -> PreparedPrompt:
        """Write the prompt of a ballot on the readings of a flaw."""
        return await self._submit(PromptBuilder.ballot, task_id, issue, judge, number)

    async def _submit(self, work: Callable[..., T], *arguments: Any) -> T:
        """Queue a job; it is sent together with the jobs of the next tenth of a second."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(((work, arguments), done))
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(_BATCH_SECONDS, self._send)
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
            message = (
                "a process that writes prompts died (out of memory, or killed). All answers are kept: run the same "
                "command to resume; --workers 1 uses the least memory"
            )
            found = [InfrastructureError(message)] * len(jobs)
        except Exception as error:  # noqa: BLE001 - a job that cannot be pickled fails alone
            found = [PreparationError(f"{type(error).__name__}: {error}")] * len(jobs)
        for (_, done), result in zip(share, found, strict=True):
            if done.done():
                continue
            if isinstance(result, Exception):
                done.set_exception(result)
            else:
                done.set_result(result)


@asynccontextmanager
async def prompt_worker(settings: JudgingSettings) -> AsyncIterator[PromptWorker]:
    """Start a prompt worker with as many processes as the settings say."""
    if not settings.workers:
        yield InProcess(settings)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(settings.workers, mp_context=context, initializer=_start, initargs=(settings,))
    try:
        yield ProcessPool(settings, pool)
    finally:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; of a group of errors the first is raised, since all have one cause."""
    try:
        return asyncio.run(work)
    except ExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from group


def _start(settings: JudgingSettings) -> None:
    follow_parent()
    os.nice(_NICENESS)
    prompt_builder(settings)


def _work(settings: JudgingSettings, jobs: list[_Job]) -> list[Any]:
    return run_jobs(prompt_builder(settings), jobs)


def run_jobs(builder: PromptBuilder, jobs: list[_Job]) -> list[Any]:
    """Run all jobs; the result of a failed job is its exception."""
    found: list[Any] = []
    for work, arguments in jobs:
        try:
            found.append(work(builder, *arguments))
        except CommandError as error:
            found.append(error)
        except Exception as error:  # noqa: BLE001 - a faulty task must not end the run
            found.append(PreparationError(f"{type(error).__name__}: {error}"))
    return found
