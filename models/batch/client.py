"""Handing requests over as batches, and taking the answers in: nothing is sent twice, everything is on the books.

Answers go into the reply cache under the digests of their requests, so that whoever asks the same through
models.client afterwards finds them there. Reservations and costs stand in the ledger, with the tag of the batch as the
owner. What is on disk at any moment is enough to go on after kill -9.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from agenthard.models.batch.intake import Intake, take_in
from agenthard.models.batch.jobs import Job, JobStore
from agenthard.models.batch.service import BatchService, service_for
from agenthard.models.batch.submission import Submission
from agenthard.models.batch.wire import custom_id_of, request_line
from agenthard.models.budget import Budget, most
from agenthard.models.cache import ReplyCache
from agenthard.models.errors import BadRequestError
from agenthard.models.ledger import Entry, Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.models.request import Request
from agenthard.taxonomy.files import sync

MOST_REQUESTS = 50_000
"""Requests that OpenAI takes in one batch."""
MOST_BYTES = 190 * 1024 * 1024
"""Bytes of one file; OpenAI takes 200 MB, Gemini 2 GB."""


class BatchDesk:
    """The batches of one run folder. One process at a time; cache and ledger stay the caller's to close."""

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
            folder: Where the batches' files and their store lie.
            cache: Where replies go.
            ledger: Where costs go.
            prices: What tokens cost.
            budget: What all rows of the ledger together may take.
            purpose: Who pays.
            service_for: Makes the batch service of a model.

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
        """Hand requests over that have no answer yet; what an earlier call began is ended first.

        Args:
            requests: What is asked, of any of the models; read one by one.

        Raises:
            BadRequestError: A provider refuses a batch as a whole; it is marked as failed.
            ModelError: The provider cannot be reached; the batch is written down, and the next call goes on with it.
        """
        count: Counter[str] = Counter()
        for job in self._jobs.jobs():
            if job.state == "new":
                await self._hand_over(job.tag, count)
        for model, digests, lines in self._chunks(requests, count):
            tag = self._tag(digests)
            sync(lines)
            lines.replace(self._lines(tag))
            self._jobs.begin(tag, model, digests)
            await self._hand_over(tag, count)
        return Submission.model_validate({name: count[name] for name in Submission.model_fields})

    async def progress(self) -> list[tuple[Job, str]]:
        """Every batch with the provider's word for its state; those that are fetched or failed are not asked about."""
        found = []
        for job in self._jobs.jobs():
            words = job.words
            if job.state == "submitted" and job.batch:
                now = await self._service(job.model).progress(job.batch)
                words = f"{now.words}, {now.done:,} answered, {now.failed:,} failed"
            found.append((job, words))
        return found

    async def fetch(self) -> Intake:
        """Take in the answers of all batches that have ended."""
        total = Intake()
        for job in self._jobs.jobs():
            if job.state != "submitted" or not job.batch:
                continue
            service = self._service(job.model)
            now = await service.progress(job.batch)
            if now.state == "running":
                total += Intake(waiting=1)
                continue
            answers = self._folder / f"{job.tag}.answers.jsonl"
            answers.unlink(missing_ok=True)
            answers.touch()
            if now.state == "ended":
                await service.download(job.batch, answers)
            file, share = self._files[job.model], self._prices.batch_share(job.model)
            total += take_in(
                answers, file, job.tag, self._jobs, self._cache, self._ledger,
                lambda usage, file=file, share=share: _times(self._prices.cost(file.name, usage), share),  # type: ignore[misc]
            )  # fmt: skip
            self._jobs.change(job.tag, "fetched" if now.state == "ended" else "failed", now.words)
        return total

    def errors(self, digest: str) -> list[str]:
        """Names of the errors that a request ended with, once for each batch it was in."""
        return self._jobs.errors(digest)

    async def cancel(self) -> int:
        """Ask the providers to stop all batches that run; what is answered by then can be fetched.

        Returns:
            How many.
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
        """Write requests that are still to be asked into files; yields model, digests and file."""
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
            if len(digests) >= MOST_REQUESTS or (digests and file.stat().st_size + len(line) > MOST_BYTES):
                yield request.model, digests, file
                open_[request.model] = (digests, file) = ([], file)
            with file.open("ab" if digests else "wb") as stream:
                stream.write(line)
            digests.append(digest)
        for model, (digests, file) in open_.items():
            yield model, digests, file

    async def _hand_over(self, tag: str, count: Counter[str]) -> None:
        """Book the requests of a batch that is written down, leave out what the budget has no room for, and send it."""
        job = next(job for job in self._jobs.jobs() if job.tag == tag)
        members = self._jobs.members(tag)
        left = self._book(tag, job.model, members)
        count["left"] += len(left)
        if left:
            self._leave_out(tag, left)
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

    def _book(self, tag: str, model: str, digests: Iterable[str]) -> set[str]:
        """Reserve what requests can take at most; returns those that the budget has no room for."""
        booked = {row.digest for row in self._ledger.of_owner(tag)}
        share = self._prices.batch_share(model)
        left: set[str] = set()
        for digest in digests:
            request = self._cache.request(digest)
            if digest in booked or request is None:
                continue
            upper = most(request, self._prices)
            upper = upper._replace(money=upper.money * share)
            if left or self._ledger.send(Entry(model, self._purpose, tag, digest), upper, self._budget) is None:
                left.add(digest)
        return left

    def _leave_out(self, tag: str, left: set[str]) -> None:
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


def _times(cost: float | None, share: float) -> float | None:
    return None if cost is None else cost * share
