"""Prompts and checks of verdicts on the workers of a cluster. Judges are asked by the process of the command.

A worker reads the audit and the benchmark from the paths that the command names, so all machines have them there.
"""

import pickle
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any, NoReturn

from agenthard.audit.judge.aggregate.panel import PanelIssue
from agenthard.audit.judge.context.material import Material
from agenthard.audit.judge.verdict import CheckedVerdict, Judged
from agenthard.flows.errors import CommandError, InfrastructureError
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.prompts import PreparedPrompt, PromptBuilder, prompt_builder
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.flows.judging.workers import PreparationError, PromptWorker, run_jobs
from agenthard.flows.resume_key import code_hash
from agenthard.flows.scale_out.job_crew import job_crew
from agenthard.flows.scale_out.job_server import JobServer
from agenthard.flows.scale_out.job_worker import Ask, Handler
from agenthard.flows.scale_out.runners import workers_at_hand
from agenthard.flows.scale_out.surroundings import DifferentWorkerError
from agenthard.taxonomy.record import Record


class _Hello(Record):
    """What a worker needs before its first job."""

    package: str
    code: str
    audit: str
    settings: JudgingSettings


class _Made(Record):
    """What a worker made: one of these, or why it could not."""

    prompts: dict[str, PreparedPrompt] = {}
    verdict: CheckedVerdict | None = None
    defence: PreparedPrompt | None = None
    ballot: PreparedPrompt | None = None
    failed: str = ""
    """The task cannot be judged."""
    ended: str = ""
    """Nothing can be judged."""


class RemotePrompts:
    """A prompt worker whose jobs go to the workers of a cluster."""

    def __init__(self, server: JobServer) -> None:
        """Use a server of jobs."""
        self._server = server

    async def prepare(self, task_id: str) -> dict[str, PreparedPrompt]:
        """Write the prompts of all judges for one task."""
        return (await self._made("prepare", task_id, task_id)).prompts

    async def check(self, judged: Judged, material: Material) -> CheckedVerdict:
        """Check a judge's verdict on a task."""
        made = await self._made("check", judged.task_id, judged, material)
        return made.verdict or _missing(judged.task_id)

    async def defence(self, task_id: str, issue: PanelIssue, judge: str) -> PreparedPrompt:
        """Write the prompt of a defence of a task."""
        made = await self._made("defence", task_id, task_id, issue, judge)
        return made.defence or _missing(task_id)

    async def ballot(self, task_id: str, issue: PanelIssue, judge: str, number: int) -> PreparedPrompt:
        """Write the prompt of a ballot on the readings of a flaw."""
        made = await self._made("ballot", task_id, task_id, issue, judge, number)
        return made.ballot or _missing(task_id)

    async def _made(self, what: str, task_id: str, *arguments: Any) -> _Made:
        data = await self._server.run(f"{what} for the task {task_id}", pickle.dumps((what, arguments)))
        made = _Made.model_validate_json(data)
        if made.ended:
            raise InfrastructureError(f"a worker cannot {what} the task {task_id}: {made.ended}")
        if made.failed:
            raise PreparationError(made.failed)
        return made


@asynccontextmanager
async def remote_prompts(settings: JudgingSettings, inputs: AuditInputs) -> AsyncIterator[PromptWorker]:
    """Start a prompt worker on the workers of the flow that runs.

    Args:
        settings: The run.
        inputs: The audit.
    """
    own: dict[str, Any] = {"out": "", "cache": None, "prices": None, "run": str(Path(settings.run).absolute())}
    benchmark = Path(settings.benchmark or inputs.audited.settings.path).absolute()
    sent = settings.model_copy(update={**own, "benchmark": str(benchmark)})
    hello = _Hello(package=package_version("agenthard"), code=_code(), audit=inputs.key(), settings=sent)
    cluster, target = workers_at_hand(), f"{__name__}:writer"
    async with job_crew(
        cluster, settings.scale_out, target, hello.model_dump_json().encode(), _nothing, settings.in_flight
    ) as server:
        yield RemotePrompts(server)


def writer(hello: bytes) -> Handler:
    """Return what writes prompts and checks verdicts on a worker.

    Raises:
        DifferentWorkerError: Other code, or another audit, is here than where the command runs.
        CommandError: The audit or the benchmark is not here.
    """
    said = _Hello.model_validate_json(hello)
    if (package_version("agenthard"), _code()) != (said.package, said.code):
        raise DifferentWorkerError("a worker has another version of AgentHard, or other code of it")
    builder = prompt_builder(said.settings)
    if builder.inputs.key() != said.audit:
        raise DifferentWorkerError(f"a worker has another audit at {said.settings.run}")

    async def make(job: bytes, ask: Ask) -> bytes:
        what, arguments = pickle.loads(job)  # noqa: S301 - from the command whose code this worker runs
        return _make(builder, what, arguments).model_dump_json().encode()

    return make


_WORK: dict[str, Callable[..., Any]] = {
    "prepare": PromptBuilder.prepare,
    "check": PromptBuilder.check,
    "defence": PromptBuilder.defence,
    "ballot": PromptBuilder.ballot,
}


def _make(builder: PromptBuilder, what: str, arguments: tuple[Any, ...]) -> _Made:
    [found] = run_jobs(builder, [(_WORK[what], arguments)])
    if isinstance(found, CommandError):
        return _Made(ended=str(found))
    if isinstance(found, Exception):
        return _Made(failed=str(found))
    return _Made(**{{"prepare": "prompts", "check": "verdict"}.get(what, what): found})


def _code() -> str:
    """Hash the code that writes prompts and checks verdicts."""
    return code_hash(("agenthard.flows.judging.prompts",))


async def _nothing(question: bytes) -> bytes:
    raise InfrastructureError("workers that write prompts ask nothing")


def _missing(task_id: str) -> NoReturn:
    raise PreparationError(f"a worker returned nothing for the task {task_id}")
