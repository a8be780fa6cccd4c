"""Judging through batches: take in what has come back, hand over what is left, and so on until nothing is."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import IO

from agenthard.flows.judging.asking import NotAskedError, Unanswered
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.panel import Defending
from agenthard.flows.judging.publish import JudgingOutcome
from agenthard.flows.judging.run import conclude, unwrapped
from agenthard.flows.judging.running import Judging
from agenthard.flows.judging.session import Session
from agenthard.flows.judging.settings import JudgingFolder, JudgingSettings
from agenthard.flows.judging.store import AnswerStore
from agenthard.flows.judging.taking import chosen_tasks, taken
from agenthard.flows.judging.workers import hands
from agenthard.flows.progress import current
from agenthard.models.batch.client import BatchDesk
from agenthard.models.batch.intake import Intake
from agenthard.models.batch.submission import Submission
from agenthard.models.cache import ReplyCache
from agenthard.models.errors import BadRequestError, ContextOverflowError, ModelError, ServerError
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.models.request import Completion, Request
from agenthard.taxonomy.record import Record

TRIES = 3
"""Batches that one request may be in before its error stands."""
_LASTING: dict[str, type[ModelError]] = {
    "ContextOverflowError": ContextOverflowError,
    "BadRequestError": BadRequestError,
}
"""Errors that another batch would not mend."""


class BatchOutcome(Record):
    """Where a judging through batches stands."""

    judging: JudgingOutcome
    """The judging with the answers so far."""
    intake: Intake
    """What came back in this call."""
    submission: Submission
    """What was handed over in this call."""
    batches: tuple[tuple[str, str, str], ...]
    """Every batch: tag, model, and the provider's word for its state."""
    investigators: tuple[str, ...]
    """Judges that look things up as they go, so that no batch can ask them."""


class Returned:
    """Answers what has come back from batches, and nothing else."""

    def __init__(self, files: Mapping[str, ModelFile], cache: ReplyCache, desk: BatchDesk, prices: PriceTable) -> None:
        """Get ready.

        Args:
            files: Models by full name.
            cache: Holds the replies.
            desk: Knows what ended in an error.
            prices: What a reply costs.
        """
        self._files, self._cache, self._desk, self._prices = files, cache, desk, prices

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Answer a request (agenthard.models.provider.Model).

        Raises:
            NotAskedError: It has not come back.
            ModelError: It came back with an error that lasts, or too often with one that might not.
        """
        digest = self._files[request.model].addressed(request).digest
        reply = self._cache.get(digest)
        if reply is not None:
            cost = self._prices.cost(request.model, reply.usage)
            share = self._prices.batch_share(request.model)
            return Completion(reply=reply, cached=True, attempts=0, cost=None if cost is None else cost * share)
        errors = self._desk.errors(digest)
        for name in errors:
            if name in _LASTING:
                raise _LASTING[name](f"{request.model} answered it in a batch with {name}")
        if len(errors) >= TRIES:
            raise ServerError(f"{request.model} gave no reply in {len(errors)} batches: {', '.join(errors)}")
        raise NotAskedError


class _Left:
    """Requests that are still to be asked, on disk."""

    def __init__(self, settings: JudgingSettings, stream: IO[str]) -> None:
        self._settings, self._stream = settings, stream

    def note(self, found: Unanswered) -> None:
        if not self._settings.judge(found.question.judge).investigates:
            self._stream.write(found.request.model_dump_json() + "\n")

    def requests(self) -> Iterator[Request]:
        self._stream.seek(0)
        for line in self._stream:
            yield Request.model_validate_json(line)


def run_batches(settings: JudgingSettings, wait: float | None = None) -> BatchOutcome:
    """Go on with a judging through batches.

    Args:
        settings: The run.
        wait: Seconds between two looks while batches are under way; None looks once.

    Raises:
        CommandError: The audit cannot be judged, or the folder is about something else.
        ModelError: A provider cannot be reached or refuses; what was handed over is kept, and the same call goes on.
    """
    inputs = AuditInputs(settings.audited())
    task_ids = chosen_tasks(settings, inputs)
    with taken(settings, inputs) as folder:
        return unwrapped(_go_on(settings, inputs, folder, task_ids, wait))


def cancel_batches(settings: JudgingSettings) -> int:
    """Ask the providers to stop the batches that are under way; returns how many.

    Raises:
        ModelError: A provider cannot be reached.
    """
    if not settings.folder.identity.is_file():
        return 0

    async def cancel() -> int:
        async with _desk(settings, settings.folder) as (desk, _):
            return await desk.cancel()

    return unwrapped(cancel())


async def _go_on(
    settings: JudgingSettings, inputs: AuditInputs, folder: JudgingFolder, task_ids: Sequence[str], wait: float | None
) -> BatchOutcome:
    async with _desk(settings, folder) as (desk, cache):
        intake, handed = Intake(), Submission()
        while True:
            now = await desk.fetch()
            sent = await _round(settings, inputs, folder, task_ids, desk, cache)
            intake = (intake + now).model_copy(update={"waiting": now.waiting + sent.batches})
            handed = handed + sent
            if wait is None or not intake.waiting:
                break
            current().start(f"waiting for {intake.waiting} batches")
            await asyncio.sleep(wait)
        batches = [(job.tag, job.model, words) for job, words in await desk.progress()]
    return BatchOutcome(
        judging=conclude(settings, inputs, folder, task_ids, ""),
        intake=intake,
        submission=handed,
        batches=tuple(batches),
        investigators=tuple(judge.name for judge in settings.judges.judges if judge.investigates),
    )


async def _round(
    settings: JudgingSettings,
    inputs: AuditInputs,
    folder: JudgingFolder,
    task_ids: Sequence[str],
    desk: BatchDesk,
    cache: ReplyCache,
) -> Submission:
    """Keep the verdicts of all replies that have come back, and hand over the requests that are left."""
    current().start("reading verdicts", total=len(task_ids))
    model = Returned({file.name: file for file in settings.models}, cache, desk, settings.price_table())
    store = AnswerStore(folder.store)
    try:
        with (folder.judge / "left.jsonl").open("w+", encoding="utf-8") as stream:
            left = _Left(settings, stream)
            async with hands(settings) as both:
                session = Session(settings, model, store, both, inputs.task, left.note)
                await Judging(session, _advance).run(task_ids)
                await Defending(session).run(task_ids)
            return await desk.submit(left.requests())
    finally:
        store.close()
        (folder.judge / "left.jsonl").unlink(missing_ok=True)


def _advance(task_id: str) -> None:
    current().advance(1)


@asynccontextmanager
async def _desk(settings: JudgingSettings, folder: JudgingFolder) -> AsyncIterator[tuple[BatchDesk, ReplyCache]]:
    place = folder.judge / "batches"
    place.mkdir(parents=True, exist_ok=True)
    cache, ledger = ReplyCache(folder.cache_of(settings)), Ledger(folder.ledger)
    desk = BatchDesk(
        settings.models, place, cache=cache, ledger=ledger, prices=settings.price_table(), budget=settings.limits
    )
    try:
        yield desk, cache
    finally:
        await desk.close()
        ledger.close()
        cache.close()
