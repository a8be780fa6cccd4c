"""A judging from beginning to end: take the folder, ask, conclude; or read answers that were given elsewhere."""

import asyncio
import gc
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.offline import AnswerFile, Unused
from agenthard.flows.judging.panel import Defending
from agenthard.flows.judging.panels import sittings
from agenthard.flows.judging.publish import JudgingOutcome, publish_judging
from agenthard.flows.judging.questions import Question, owner_id, questions_of
from agenthard.flows.judging.running import Judging
from agenthard.flows.judging.session import Session
from agenthard.flows.judging.settings import JudgingFolder, JudgingSettings
from agenthard.flows.judging.store import AnswerStore
from agenthard.flows.judging.taking import chosen_tasks, taken
from agenthard.flows.judging.workers import hands
from agenthard.flows.progress import current
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.ledger import Ledger
from agenthard.models.provider import Model
from agenthard.models.providers import provider_for
from agenthard.taxonomy.record import Record

T = TypeVar("T")


class ImportOutcome(Record):
    """What an answer file gave."""

    judging: JudgingOutcome
    """The judging with its answers."""
    unused: tuple[tuple[int, str], ...]
    """Lines that answer no question: number of the line, reason."""


def run_judging(settings: JudgingSettings) -> JudgingOutcome:
    """Judge an audit into a run folder. What an interrupted run has answered is not asked again.

    Raises:
        CommandError: The audit cannot be judged, or the folder is about something else.
        ModelError: The models are set up wrongly, or what is answered cannot be kept.
    """
    inputs = AuditInputs(settings.audited())
    task_ids = chosen_tasks(settings, inputs)
    with taken(settings, inputs) as folder:
        stopped = unwrapped(_ask_models(settings, inputs, folder, task_ids))
        return conclude(settings, inputs, folder, task_ids, stopped)


def import_answers(settings: JudgingSettings, answers: Path) -> ImportOutcome:
    """Read answers that were given elsewhere, with the same checks, and conclude. Nothing is sent.

    Args:
        settings: The run; its folder may hold answers already, which stay.
        answers: JSON Lines (agenthard.flows.judging.offline.AnswerFile).

    Raises:
        CommandError: The audit cannot be judged, or the folder is about something else.
        OSError: The file cannot be read.
    """
    inputs = AuditInputs(settings.audited())
    task_ids = chosen_tasks(settings, inputs)
    file = AnswerFile(answers, settings.models)
    try:
        with taken(settings, inputs) as folder:
            unwrapped(_ask(settings, inputs, folder, task_ids, file))
            outcome = conclude(settings, inputs, folder, task_ids, "")
    finally:
        file.close()
    questions = {owner_id(question.owner): question for question in _all_questions(settings, inputs, folder)}
    unused: list[Unused] = sorted([*file.unreadable, *file.unused(questions)])
    return ImportOutcome(judging=outcome, unused=tuple(map(tuple, unused)))


def _all_questions(settings: JudgingSettings, inputs: AuditInputs, folder: JudgingFolder) -> Iterator[Question]:
    """List every question that this judging can put, defences against the flaws seen so far included."""
    judges = settings.judges.judges
    store = AnswerStore(folder.store)
    try:
        for sitting in sittings(settings.judges, store, inputs.plan.task_ids):
            yield from questions_of(sitting.task_id, judges)
            for issue in sitting.panel.issues if sitting.panel else ():
                yield from (Question(sitting.task_id, judge.name, 0, issue.category) for judge in judges)
    finally:
        store.close()


async def _ask_models(
    settings: JudgingSettings, inputs: AuditInputs, folder: JudgingFolder, task_ids: Sequence[str]
) -> str:
    async with _client(settings, folder) as client:
        return await _ask(settings, inputs, folder, task_ids, client)


async def _ask(
    settings: JudgingSettings, inputs: AuditInputs, folder: JudgingFolder, task_ids: Sequence[str], model: Model
) -> str:
    """Ask; returns why it ended early."""
    current().start("judging tasks", total=len(task_ids))
    store = AnswerStore(folder.store)
    try:
        async with hands(settings) as both:
            session = Session(settings, model, store, both, inputs.task)
            gc.freeze()  # What is loaded by now stays: going through it again and again would hold up the event loop.
            await Judging(session, lambda task_id: current().advance(1)).run(task_ids)
            await Defending(session).run(task_ids)
            return session.stopped
    finally:
        store.close()


def conclude(
    settings: JudgingSettings, inputs: AuditInputs, folder: JudgingFolder, task_ids: Sequence[str], stopped: str
) -> JudgingOutcome:
    """Write everything that follows from the answers in the folder; `stopped` says why asking ended early."""
    current().start("writing the report")
    store = AnswerStore(folder.store)
    try:
        return publish_judging(settings, inputs, store, task_ids, stopped)
    finally:
        store.close()


@asynccontextmanager
async def _client(settings: JudgingSettings, folder: JudgingFolder) -> AsyncIterator[ModelClient]:
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
            await provider_for(file).close()  # Loads its SDK now, so that the first question does not wait for that.
        yield client
    finally:
        await client.close()
        ledger.close()
        cache.close()


def unwrapped(work: Coroutine[Any, Any, T]) -> T:
    """Run it; of a group of errors the first is raised, since all have one cause."""
    try:
        return asyncio.run(work)
    except ExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from group
