"""Submit requests as batches and collect the answers: nothing is sent twice, and every cost is in the ledger.

Answers go into the reply cache under the digests of their requests, where `agenthard.models.client` finds them too.
Reservations and costs go into the ledger, with the tag of the batch as their owner. The files on disk are at any moment
enough to resume after kill -9.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from agenthard.models.batch.collect import Collected, collect_answers
from agenthard.models.batch.jobs import Job, JobStore
from agenthard.models.batch.service import BatchService, service_for
from agenthard.models.batch.wire import custom_id_of, request_line
from agenthard.models.budget import Budget, max_amount
from agenthard.models.cache import ReplyCache
from agenthard.models.errors import BadRequestError
from agenthard.models.ledger import Entry, Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.models.request import Request
from agenthard.taxonomy.files import sync
from agenthard.taxonomy.record import Record

MAX_REQUESTS = 50_000
"""Requests that OpenAI accepts in one batch."""
MAX_BYTES = 190 * 1024 * 1024
"""Bytes of one file; OpenAI accepts 200 MB, Gemini 2 GB."""


class Submission(Record):
    """The requests that one call submitted."""

    batches: int = 0
    """Batches submitted, those that an earlier call prepared included."""
    requests: int = 0
    """Requests in them."""
    answered: int = 0
    """Requests whose reply was in the cache."""
    under_way: int = 0
    """Requests that were in a batch already."""
    left: int = 0
    """Requests that exceed the budget."""

    def __add__(self, other: "Submission") -> "Submission":
        """Adds up two calls."""
        return Submission(**{name: getattr(self, name) + getattr(other, name) for name in Submission.model_fields})


class BatchClient:
    """The batches of one run folder. Only one process may use it; the caller closes cache and ledger."""

    def __init__(
        self,
        files: Iterable[ModelFile],
        folder: Path,
        *,
        cache: ReplyCache,
        ledger: Ledger,
        prices: PriceTable,
        budget: Budget,
        purpose: str = "judge",
        service_for: Callable[[ModelFile], BatchService] = service_for,
    ) -> None:
        """Open the folder; nothing is sent.

        Args:
            files: The models.
            folder: Folder of the batch files and of their store.
            cache: Stores the replies.
            ledger: Records the costs.
            prices: Prices of tokens.
            budget: Limit for all rows of the ledger together.
            purpose: Purpose of the requests in the ledger.
            service_for: Creates the batch service of a model.

        Raises:
            ConfigurationError: The store cannot be opened, or the budget is in money and a model has no price.
        """
        self._files = {file.name: file for file in files}
        prices = prices.after(file.price for file in self._files.values() if file.price)
        budget.require_prices(self._files, prices)
        self._folder, self._cache, self._ledger = folder, cache, ledger
        self._prices, self._budget, self._purpose = prices, budget, purpose
        self._service_for = service_for
        self._services: dict[str, BatchService] = {}
        self._jobs = JobStore(folder / "batches.sqlite")

    async def submit(self, requests: Iterable[Request]) -> Submission:
        """Submit the requests that have no answer yet, after the batches that an interrupted call prepared.

        Args:
            requests: Requests to any of the models; read one by one.

        Raises:
            BadRequestError: A provider refuses a whole batch, which is then marked as failed.
            ModelError: The provider cannot be reached; the batch stays prepared, and the next call submits it.
        """
        count: Counter[str] = Counter()
        for job in self._jobs.jobs():
            if job.state == "new":
                await self._submit(job.tag, count)
        for model, digests, lines in self._chunks(requests, count):
            tag = self._tag(digests)
            sync(lines)
            lines.replace(self._lines(tag))
            self._jobs.begin(tag, model, digests)
            await self._submit(tag, count)
        return Submission.model_validate({name: count[name] for name in Submission.model_fields})

    async def progress(self) -> list[tuple[Job, str]]:
        """Return every batch with its state in the provider's words; finished batches are not requested again."""
        found = []
        for job in self._jobs.jobs():
            message = job.message
            if job.state == "submitted" and job.batch:
                now = await self._service(job.model).progress(job.batch)
                message = f"{now.message}, {now.done:,} answered, {now.failed:,} failed"
            found.append((job, message))
        return found

    async def collect(self) -> Collected:
        """Collect the answers of all batches that have ended."""
        total = Collected()
        for job in self._jobs.jobs():
            if job.state != "submitted" or not job.batch:
                continue
            service = self._service(job.model)
            now = await service.progress(job.batch)
            if now.state == "running":
                total += Collected(waiting=1)
                continue
            answers = self._folder / f"{job.tag}.answers.jsonl"
            answers.unlink(missing_ok=True)
            answers.touch()
            if now.state == "ended":
                await service.download(job.batch, answers)
            file = self._files[job.model]
            total += collect_answers(answers, file, job.tag, self._jobs, self._cache, self._ledger, self._prices)
            self._jobs.change(job.tag, "fetched" if now.state == "ended" else "failed", now.message)
        return total

    def errors(self, digest: str) -> list[str]:
        """Return the names of the errors of a request, one for each batch that it failed in."""
        return self._jobs.errors(digest)

    async def cancel(self) -> int:
        """Ask the providers to cancel all running batches; answers that exist by then can be collected.

        Returns:
            The number of batches.
        """
        running = [job for job in self._jobs.jobs() if job.state == "submitted" and job.batch]
        for job in running:
            await self._service(job.model).cancel(job.batch or "")
        return len(running)

    async def close(self) -> None:
        """Close connections and store."""
        for service in self._services.values():
            await service.close()
        self._jobs.close()

    def _chunks(self, requests: Iterable[Request], count: Counter[str]) -> Iterator[tuple[str, list[str], Path]]:
        """Write the open requests into files; yields model, digests and file."""
        known = self._jobs.under_way()
        open_: dict[str, tuple[list[str], Path]] = {}
        for request in requests:
            request = self._files[request.model].addressed(request)
            digest = request.digest
            if digest in known or self._cache.has(digest):
                count["under_way" if digest in known else "answered"] += 1
                continue
            known.add(digest)
            line = request_line(self._files[request.model], request, digest).encode() + b"\n"
            self._cache.put(request, digest, None)
            digests, file = open_.setdefault(request.model, ([], self._folder / f"next-{len(open_)}.jsonl"))
            if len(digests) >= MAX_REQUESTS or (digests and file.stat().st_size + len(line) > MAX_BYTES):
                yield request.model, digests, file
                open_[request.model] = (digests, file) = ([], file)
            with file.open("ab" if digests else "wb") as stream:
                stream.write(line)
            digests.append(digest)
        for model, (digests, file) in open_.items():
            yield model, digests, file

    async def _submit(self, tag: str, count: Counter[str]) -> None:
        """Reserve the costs of a prepared batch, drop the requests that exceed the budget, and submit it."""
        job = next(job for job in self._jobs.jobs() if job.tag == tag)
        members = self._jobs.members(tag)
        left = self._reserve(tag, job.model, members)
        count["left"] += len(left)
        if left:
            self._drop(tag, left)
        if len(left) == len(members):
            self._jobs.change(tag, "failed", "the budget has no room for any of its requests")
            return
        service = self._service(job.model)
        try:
            batch = await service.find(tag) or await service.submit(self._lines(tag), tag)
        except BadRequestError as error:
            self._jobs.change(tag, "failed", str(error))
            for row in self._ledger.of_owner(tag):
                self._ledger.failed(row.id, type(error).__name__, maybe_billed=False)
            raise
        self._jobs.change(tag, "submitted", batch=batch)
        count["batches"] += 1
        count["requests"] += len(members) - len(left)

    def _reserve(self, tag: str, model: str, digests: Iterable[str]) -> set[str]:
        """Reserve the maximum cost of each request; returns the requests that exceed the budget."""
        reserved = {row.digest for row in self._ledger.of_owner(tag)}
        share = self._prices.batch_share(model)
        left: set[str] = set()
        for digest in digests:
            request = self._cache.request(digest)
            if digest in reserved or request is None:
                continue
            upper = max_amount(request, self._prices)
            upper = upper._replace(money=upper.money * share)
            if left or self._ledger.send(Entry(model, self._purpose, tag, digest), upper, self._budget) is None:
                left.add(digest)
        return left

    def _drop(self, tag: str, left: set[str]) -> None:
        """Remove requests from a prepared batch and from its file."""
        for digest in sorted(left):
            self._jobs.drop(tag, digest)
        whole, rest, wanted = self._lines(tag), self._folder / f"{tag}.rest.jsonl", self._jobs.members(tag)
        with whole.open("rb") as stream, rest.open("wb") as kept:
            kept.writelines(line for line in stream if custom_id_of(json.loads(line)) in wanted)
        sync(rest)
        rest.replace(whole)

    def _tag(self, digests: Sequence[str]) -> str:
        name = hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()[:16]
        return f"{name}-{sum(job.tag.startswith(name) for job in self._jobs.jobs())}"

    def _lines(self, tag: str) -> Path:
        return self._folder / f"{tag}.jsonl"

    def _service(self, model: str) -> BatchService:
        if model not in self._services:
            self._services[model] = self._service_for(self._files[model])
        return self._services[model]
