"""Judging through providers' batches: collect the answers that have arrived, submit the requests that are left."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import IO

from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.panel import DefenceCollector, VerdictCollector, open_ballots
from agenthard.flows.judging.publish import JudgingOutcome
from agenthard.flows.judging.run import conclude
from agenthard.flows.judging.session import NotAskedError, Session, Unanswered
from agenthard.flows.judging.settings import JudgingFolder, JudgingSettings, acquire_run_folder, select_tasks
from agenthard.flows.judging.store import AnswerStore
from agenthard.flows.judging.votes import VoteCollector
from agenthard.flows.judging.workers import prompt_worker, run_async
from agenthard.flows.progress import current
from agenthard.models.batch.client import BatchClient, Submission
from agenthard.models.batch.collect import Collected
from agenthard.models.cache import ReplyCache
from agenthard.models.errors import BadRequestError, ContextOverflowError, ModelError, ServerError
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.models.request import Completion, Request
from agenthard.taxonomy.record import Record

MAX_BATCHES = 3
"""Batches that one request may be in before its error is final."""
_PERMANENT: dict[str, type[ModelError]] = {
    "ContextOverflowError": ContextOverflowError,
    "BadRequestError": BadRequestError,
}
"""Errors that would occur again in another batch."""


class BatchOutcome(Record):
    """The state of a judging through batches."""

    judging: JudgingOutcome
    """The judging with the answers so far."""
    intake: Collected
    """Answers that this call collected."""
    submission: Submission
    """Requests that this call submitted."""
    batches: tuple[tuple[str, str, str], ...]
    """Every batch: tag, model, and its state in the provider's words."""
    investigators: tuple[str, ...]
    """Judges that look things up, which batches cannot ask."""


class CollectedReplies:
    """A model whose answers are the collected replies of batches."""

    def __init__(
        self, files: Mapping[str, ModelFile], cache: ReplyCache, client: BatchClient, prices: PriceTable
    ) -> None:
        """Set it up.

        Args:
            files: Models by full name.
            cache: Holds the replies.
            client: Knows the requests that ended in an error.
            prices: Prices of replies.
        """
        self._files, self._cache, self._client, self._prices = files, cache, client, prices

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Answer a request (agenthard.models.request.Model).

        Raises:
            NotAskedError: Its answer has not arrived.
            ModelError: It ended in a permanent error, or too often in another one.
        """
        digest = self._files[request.model].addressed(request).digest
        reply = self._cache.get(digest)
        if reply is not None:
            cost = self._prices.batch_cost(request.model, reply.usage)
            return Completion(reply=reply, cached=True, attempts=0, cost=cost)
        errors = self._client.errors(digest)
        for name in errors:
            if name in _PERMANENT:
                raise _PERMANENT[name](f"{request.model} answered it in a batch with {name}")
        if len(errors) >= MAX_BATCHES:
            raise ServerError(f"{request.model} gave no reply in {len(errors)} batches: {', '.join(errors)}")
        raise NotAskedError


class _OpenRequests:
    """Requests that are still to be submitted, on disk."""

    def __init__(self, settings: JudgingSettings, stream: IO[str]) -> None:
        self._settings, self._stream = settings, stream

    def add(self, found: Unanswered) -> None:
        if not self._settings.judge(found.question.judge).investigates:
            self._stream.write(found.request.model_dump_json() + "\n")

    def __iter__(self) -> Iterator[Request]:
        self._stream.seek(0)
        for line in self._stream:
            yield Request.model_validate_json(line)


def run_batches(settings: JudgingSettings, wait: float | None = None) -> BatchOutcome:
    """Start or resume a judging through batches.

    Args:
        settings: The run.
        wait: Seconds between two polls while batches are in progress; None polls once.

    Raises:
        CommandError: The audit cannot be judged, or the folder holds something else.
        ModelError: A provider cannot be reached or refuses. Submitted batches are kept, and the same call resumes.
    """
    inputs = AuditInputs(settings.audited())
    task_ids = select_tasks(settings, inputs)
    with acquire_run_folder(settings, inputs) as folder:
        return run_async(_run(settings, inputs, folder, task_ids, wait))


def cancel_batches(settings: JudgingSettings) -> int:
    """Ask the providers to cancel the batches in progress; returns their number.

    Raises:
        ModelError: A provider cannot be reached.
    """
    if not settings.folder.identity.is_file():
        return 0

    async def cancel() -> int:
        async with _open_client(settings, settings.folder) as (client, _):
            return await client.cancel()

    return run_async(cancel())


async def _run(
    settings: JudgingSettings, inputs: AuditInputs, folder: JudgingFolder, task_ids: Sequence[str], wait: float | None
) -> BatchOutcome:
    async with _open_client(settings, folder) as (client, cache):
        collected, submitted = Collected(), Submission()
        while True:
            now = await client.collect()
            sent = await _submit_open(settings, inputs, folder, task_ids, client, cache)
            collected = (collected + now).model_copy(update={"waiting": now.waiting + sent.batches})
            submitted = submitted + sent
            if wait is None or not collected.waiting:
                break
            current().start(f"waiting for {collected.waiting} batches")
            await asyncio.sleep(wait)
        batches = [(job.tag, job.model, message) for job, message in await client.progress()]
    return BatchOutcome(
        judging=conclude(settings, inputs, folder, task_ids, ""),
        intake=collected,
        submission=submitted,
        batches=tuple(batches),
        investigators=tuple(judge.name for judge in settings.judges.judges if judge.investigates),
    )


async def _submit_open(
    settings: JudgingSettings,
    inputs: AuditInputs,
    folder: JudgingFolder,
    task_ids: Sequence[str],
    client: BatchClient,
    cache: ReplyCache,
) -> Submission:
    """Store the verdicts of all replies that have arrived, and submit the requests that are left."""
    current().start("reading verdicts", total=len(task_ids))
    model = CollectedReplies({file.name: file for file in settings.models}, cache, client, settings.price_table())
    store, path = AnswerStore(folder.store), folder.judge / "left.jsonl"
    try:
        with path.open("w+", encoding="utf-8") as stream:
            requests = _OpenRequests(settings, stream)
            async with prompt_worker(settings) as worker:
                session = Session(settings, model, store, worker, inputs, requests.add)
                await VerdictCollector(session, lambda task_id: current().advance(1)).run(task_ids)
                await VoteCollector(session).run(open_ballots(session, task_ids))
                await DefenceCollector(session).run(task_ids)
            return await client.submit(requests)
    finally:
        store.close()
        path.unlink(missing_ok=True)


@asynccontextmanager
async def _open_client(
    settings: JudgingSettings, folder: JudgingFolder
) -> AsyncIterator[tuple[BatchClient, ReplyCache]]:
    batches = folder.judge / "batches"
    batches.mkdir(parents=True, exist_ok=True)
    cache, ledger = ReplyCache(folder.cache_of(settings)), Ledger(folder.ledger)
    client = BatchClient(
        settings.models, batches, cache=cache, ledger=ledger, prices=settings.price_table(), budget=settings.limits
    )
    try:
        yield client, cache
    finally:
        await client.close()
        ledger.close()
        cache.close()
