"""Judge an audit: acquire the run folder, ask the models or read an answer file, and publish the result."""

import gc
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from agenthard.audit.judge.aggregate.readings import voters
from agenthard.flows.judging.cascade import Cascade
from agenthard.flows.judging.exchange import AnswerFile, UnusedLine
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.panel import DefenceCollector, VerdictCollector, open_ballots, panel_results
from agenthard.flows.judging.publish import JudgingOutcome, publish_judging
from agenthard.flows.judging.session import Session
from agenthard.flows.judging.settings import JudgingFolder, JudgingSettings, acquire_run_folder, select_tasks
from agenthard.flows.judging.store import AnswerStore, Question, owner_id, questions_of
from agenthard.flows.judging.votes import VoteCollector
from agenthard.flows.judging.workers import PromptWorker, prompt_worker, run_async
from agenthard.flows.progress import current
from agenthard.flows.scale_out.runner import Runner
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.ledger import Ledger
from agenthard.models.providers import provider_for
from agenthard.models.request import Model
from agenthard.taxonomy.record import Record


class ImportOutcome(Record):
    """The result of reading an answer file."""

    judging: JudgingOutcome
    """The judging with its answers."""
    unused: tuple[tuple[int, str], ...]
    """Lines that answer no question: number of the line, reason."""


def run_judging(settings: JudgingSettings) -> JudgingOutcome:
    """Judge an audit into a run folder. Questions that an interrupted run has answered are not asked again.

    Raises:
        CommandError: The audit cannot be judged, or the folder holds something else.
        ModelError: The models are not configured correctly, or answers cannot be stored.
    """
    settings.scale_out.check_address()
    if settings.scale_out.runner is Runner.LOCAL:
        return _judge(settings)
    from agenthard.flows.scale_out.runners import run_on_workers

    names = ("judge", f"judge {Path(settings.run).name}")
    return run_on_workers(lambda: _judge(settings), settings.scale_out, max(1, settings.workers), *names)


def _judge(settings: JudgingSettings) -> JudgingOutcome:
    inputs = AuditInputs(settings.audited())
    task_ids = select_tasks(settings, inputs)
    with acquire_run_folder(settings, inputs) as folder:
        stopped = run_async(_ask_models(settings, inputs, folder, task_ids))
        return conclude(settings, inputs, folder, task_ids, stopped)


def import_answers(settings: JudgingSettings, answers: Path) -> ImportOutcome:
    """Read answers that were produced elsewhere, with the same checks, and publish the result. Nothing is sent.

    Args:
        settings: The run; answers that its folder holds already are kept.
        answers: JSON Lines (agenthard.flows.judging.exchange.AnswerFile).

    Raises:
        CommandError: The audit cannot be judged, or the folder holds something else.
        OSError: The file cannot be read.
    """
    inputs = AuditInputs(settings.audited())
    task_ids = select_tasks(settings, inputs)
    file = AnswerFile(answers, settings.models)
    try:
        with acquire_run_folder(settings, inputs) as folder:
            run_async(_ask(settings, inputs, folder, task_ids, file))
            outcome = conclude(settings, inputs, folder, task_ids, "")
    finally:
        file.close()
    questions = {owner_id(question.owner): question for question in _all_questions(settings, inputs, folder)}
    unused: list[UnusedLine] = sorted([*file.unreadable, *file.unused(questions)])
    return ImportOutcome(judging=outcome, unused=tuple(map(tuple, unused)))


def conclude(
    settings: JudgingSettings, inputs: AuditInputs, folder: JudgingFolder, task_ids: Sequence[str], stopped: str
) -> JudgingOutcome:
    """Publish what follows from the answers in the folder; `stopped` says why asking ended early."""
    current().start("writing the report")
    store = AnswerStore(folder.store)
    try:
        return publish_judging(settings, inputs, store, task_ids, stopped)
    finally:
        store.close()


async def _ask_models(
    settings: JudgingSettings, inputs: AuditInputs, folder: JudgingFolder, task_ids: Sequence[str]
) -> str:
    async with _open_client(settings, folder) as client:
        return await _ask(settings, inputs, folder, task_ids, client)


async def _ask(
    settings: JudgingSettings, inputs: AuditInputs, folder: JudgingFolder, task_ids: Sequence[str], model: Model
) -> str:
    """Ask all open questions; returns why asking ended early."""
    current().start("judging tasks", total=len(task_ids))
    store = AnswerStore(folder.store)
    try:
        with inputs.audited.settings.execution() as execution, execution.active():
            async with _prompt_worker(settings, inputs) as worker:
                session = Session(settings, model, store, worker, inputs)
                gc.freeze()  # What is loaded by now stays; scanning it again and again would block the event loop.
                await VerdictCollector(session, lambda task_id: current().advance(1)).run(task_ids)
                await VoteCollector(session).run(open_ballots(session, task_ids))
                await DefenceCollector(session).run(task_ids)
                return session.stopped
    finally:
        store.close()


@asynccontextmanager
async def _prompt_worker(settings: JudgingSettings, inputs: AuditInputs) -> AsyncIterator[PromptWorker]:
    """Start what writes prompts and checks verdicts: processes of this machine, or the workers of a cluster."""
    if settings.scale_out.runner is Runner.LOCAL:
        async with prompt_worker(settings) as worker:
            yield worker
        return
    from agenthard.flows.judging.remote import remote_prompts

    async with remote_prompts(settings, inputs) as worker:
        yield worker


@asynccontextmanager
async def _open_client(settings: JudgingSettings, folder: JudgingFolder) -> AsyncIterator[ModelClient]:
    cache, ledger = ReplyCache(folder.cache_of(settings)), Ledger(folder.ledger)
    client = ModelClient(
        settings.models,
        cache=cache,
        ledger=ledger,
        prices=settings.price_table(),
        rng=Random(settings.judges.seed),
        budget=settings.limits,
    )
    try:
        for file in settings.models:
            await provider_for(file).close()  # Loads its SDK now, so that the first question does not wait for it.
        yield client
    finally:
        await client.close()
        ledger.close()
        cache.close()


def _all_questions(settings: JudgingSettings, inputs: AuditInputs, folder: JudgingFolder) -> Iterator[Question]:
    """Yield every question that this judging can ask, defences against the flaws reported so far included."""
    judges = settings.judges.judges
    store = AnswerStore(folder.store)
    try:
        for result in panel_results(Cascade.of(settings.judges, inputs), store, inputs.plan.task_ids):
            yield from questions_of(result.task_id, judges)
            for issue in result.panel.issues if result.panel else ():
                yield from (Question(result.task_id, judge.name, 0, issue.category) for judge in judges)
                for judge, number in voters(settings.judges, issue) if issue.best.readings else ():
                    yield Question(result.task_id, judge, number, votes_on=issue.category)
    finally:
        store.close()
