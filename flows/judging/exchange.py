"""Judging through files: export the exact requests, and read answers that were produced elsewhere.

Commands ``agenthard judge export`` and ``agenthard judge import`` (which starts in `agenthard.flows.judging.run`).
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from agenthard.flows.errors import CommandError
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.panel import DefenceCollector, VerdictCollector, open_ballots
from agenthard.flows.judging.session import NotAskedError, Session, Unanswered
from agenthard.flows.judging.settings import JudgingSettings, check_identity, select_tasks
from agenthard.flows.judging.store import AnswerStore, Question, custom_id, owner_id
from agenthard.flows.judging.votes import VoteCollector
from agenthard.flows.judging.workers import prompt_worker, run_async
from agenthard.models.batch.wire import custom_id_of, format_of, read_line, request_line
from agenthard.models.errors import BadRequestError, MalformedReplyError, StopError
from agenthard.models.model_file import ModelFile
from agenthard.models.request import ChatMessage, Completion, Finish, Reply, Request
from agenthard.models.tokens import most_prompt_tokens, prompt_tokens
from agenthard.taxonomy.files import replacing
from agenthard.taxonomy.record import Record

ExportFormat = Literal["agenthard", "openai-batch", "gemini-batch"]
_TASKS_FOR_WORKERS = 500
"""Tasks below which an export starts no further processes: each takes as long to start as some hundred prompts."""
_FINISHES: dict[str, Finish] = {"stop": "stop", "length": "length", "refusal": "refusal"}


class ExportOutcome(Record):
    """The exported requests in figures."""

    file: str
    """The file."""
    tasks: int
    """Number of tasks."""
    requests: dict[str, int]
    """Requests by judge."""
    answered: int
    """Questions that have an answer already."""
    investigators: tuple[str, ...]
    """Judges that were left out: they look things up, so one request is not enough to ask them."""
    errors: dict[str, str]
    """Questions for which no request could be written, with the reason."""
    prompt_tokens: int
    """Estimated tokens of all prompts."""
    longest_prompt: int
    """Upper estimate of the tokens of the longest prompt."""
    shortened: int
    """Prompts that were shortened to fit; each of them says so."""


def export_requests(
    settings: JudgingSettings, file: Path, form: ExportFormat = "agenthard", only: str | None = None
) -> ExportOutcome:
    """Write the requests that have no answer yet, in the order of the tasks.

    If the folder holds answers already, the file has only what is missing, such as the questions to the second tier.

    Args:
        settings: The run; its folder need not exist.
        file: The file to write.
        form: ``agenthard`` holds everything; the other formats are the providers' batch files, one model per file.
        only: Only this judge; None = all that can be exported.

    Raises:
        CommandError: The format does not fit a model, the judge does not exist, or the folder holds another judging.
    """
    settings.require_judge(only)
    names = [judge.name for judge in settings.judges.judges if only in (None, judge.name)]
    wanted = [name for name in names if not settings.judge(name).investigates]
    inputs = AuditInputs(settings.audited())
    _check_format(settings, wanted, form)
    if settings.folder.identity.is_file():
        check_identity(settings, inputs)
    answers = AnswerStore(":memory:")
    try:
        known = _copy_answers(settings.folder.store, answers)
        with replacing(file) as partial, partial.open("w", encoding="utf-8") as stream:
            writer = _RequestWriter(settings, select_tasks(settings, inputs), wanted, form, stream)
            run_async(_export(settings, inputs, answers, writer))
        failed = [answer for answer in answers.answers() if answer.question not in known]
    finally:
        answers.close()
    selected = set(writer.task_ids)
    return ExportOutcome(
        file=str(file),
        tasks=len(writer.task_ids),
        requests={name: writer.requests[name] for name in wanted},
        answered=sum(question.task_id in selected and question.judge in wanted for question in known),
        investigators=tuple(name for name in names if name not in wanted),
        errors={answer.question.owner: answer.checked.reason for answer in failed},
        prompt_tokens=writer.tokens,
        longest_prompt=writer.longest,
        shortened=writer.shortened,
    )


async def _export(settings: JudgingSettings, inputs: AuditInputs, store: AnswerStore, writer: "_RequestWriter") -> None:
    # No model is asked, so nothing waits for this process; another one pays off when it has enough to do.
    alone = settings.workers < 2 or len(writer.task_ids) < _TASKS_FOR_WORKERS
    async with prompt_worker(settings.model_copy(update={"workers": 0}) if alone else settings) as worker:
        session = Session(settings, NullModel(), store, worker, inputs, writer.add)
        await VerdictCollector(session, writer.finish_task).run(writer.task_ids)
        await VoteCollector(session).run(open_ballots(session, writer.task_ids))
        await DefenceCollector(session).run(writer.task_ids)
        writer.close()


def _copy_answers(path: Path, answers: AnswerStore) -> set[Question]:
    """Copy the answers of a folder, which an export must not change; returns their questions."""
    if not path.is_file():
        return set()
    store, known = AnswerStore(path), set()
    try:
        for answer in store.answers():
            answers.add(answer)
            known.add(answer.question)
            for cast in store.ballots(answer.judged.task_id):
                answers.add_ballot(cast)
    finally:
        store.close()
    return known


def _check_format(settings: JudgingSettings, wanted: list[str], form: ExportFormat) -> None:
    if form == "agenthard":
        return
    files = {settings.judge(name).model.name: settings.judge(name).model for name in wanted}
    if len(files) > 1:
        raise CommandError(f"a batch file is for one model, and these are {', '.join(files)}; choose with --judge NAME")
    for file in files.values():
        if form != f"{format_of(file)}-batch":
            raise CommandError(f"{file.name} does not support {form}; give --format {format_of(file)}-batch")


class _RequestWriter:
    """Collects requests and writes them in the order of the tasks, whatever order they arrive in."""

    def __init__(
        self, settings: JudgingSettings, task_ids: tuple[str, ...], wanted: list[str], form: ExportFormat, to: IO[str]
    ) -> None:
        self.task_ids = task_ids
        self.requests: Counter[str] = Counter()
        self.tokens = self.longest = self.shortened = 0
        self._settings, self._wanted, self._form, self._to = settings, wanted, form, to
        self._open: dict[str, list[Unanswered]] = {}
        self._done: set[str] = set()
        self._next = 0

    def add(self, found: Unanswered) -> None:
        if found.question.judge in self._wanted:
            self._open.setdefault(found.question.task_id, []).append(found)

    def finish_task(self, task_id: str) -> None:
        self._done.add(task_id)
        while self._next < len(self.task_ids) and self.task_ids[self._next] in self._done:
            self._write_all(self._open.pop(self.task_ids[self._next], []))
            self._next += 1

    def close(self) -> None:
        """Write what arrived after its task was finished: defences, which need all verdicts."""
        order = {task_id: n for n, task_id in enumerate(self.task_ids)}
        for task_id in sorted(self._open, key=order.__getitem__):
            self._write_all(self._open[task_id])

    def _write_all(self, requests: list[Unanswered]) -> None:
        for found in sorted(requests, key=self._position):
            self._write(found)

    def _position(self, found: Unanswered) -> tuple[int, int, str]:
        return self._wanted.index(found.question.judge), found.question.sample, found.question.against

    def _write(self, found: Unanswered) -> None:
        question, request = found.question, found.request
        name = custom_id(question.owner, request.digest)
        file = self._settings.judge(question.judge).model
        if self._form == "agenthard":
            line = json.dumps(_line(found, name), ensure_ascii=False, separators=(",", ":"))
        else:
            line = request_line(file, request, name)
        self._to.write(line + "\n")
        self.requests[question.judge] += 1
        self.tokens += prompt_tokens(request)
        self.longest = max(self.longest, most_prompt_tokens(request))
        self.shortened += bool(found.prompt.material.omitted)


def _line(found: Unanswered, name: str) -> dict[str, object]:
    question = found.question
    return {
        "custom_id": name,
        "task": question.task_id,
        "judge": question.judge,
        "sample": question.sample,
        "against": question.against,
        **({"votes_on": question.votes_on} if question.votes_on else {}),
        "attempt": found.attempt,
        "prompt_version": found.prompt.version,
        "digest": found.request.digest,
        "omitted": [each.model_dump(mode="json") for each in found.prompt.material.omitted],
        "request": found.request.model_dump(mode="json"),
    }


class NullModel:
    """A model without answers: every question stays unanswered."""

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Refuse to answer (agenthard.models.request.Model).

        Raises:
            NotAskedError: Always.
        """
        raise NotAskedError


class UnusedLine(NamedTuple):
    """A line of an answer file that answers no question."""

    line: int
    """Number of the line, from 1."""
    reason: str
    """Why it was not used."""


class AnswerFile:
    """A model whose answers are in a file of JSON Lines: ours (``custom_id``, ``answer``), OpenAI's or Gemini's.

    ``answer`` is the judge's text, or the verdict as a JSON object; ``finish`` may be ``refusal`` or ``length``. Memory
    holds the offsets of the lines only.
    """

    def __init__(self, path: Path, files: Iterable[ModelFile]) -> None:
        """Index the file.

        Args:
            path: The file.
            files: The models whose answers it holds.

        Raises:
            OSError: It cannot be read.
        """
        self.unreadable: list[UnusedLine] = []
        """Lines without an answer, and further lines with an id that occurred before; the first line counts."""
        self._files = {file.name: file for file in files}
        self._stream = path.open("rb")
        self._offsets: dict[str, tuple[int, int]] = {}
        self._used: set[str] = set()
        self._asked: set[str] = set()
        offset = 0
        for number, line in enumerate(self._stream, 1):
            self._index(number, offset, line)
            offset += len(line)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Answer a request with the line that was written for exactly this request (agenthard.models.request.Model).

        Raises:
            NotAskedError: No such line.
            ModelError: The line holds an error, or not a reply.
        """
        file = self._files[request.model]
        request = file.addressed(request)
        self._asked.add(owner_id(owner))
        found = [name for name in (custom_id(owner, request.digest), request.digest) if name in self._offsets]
        if not found:
            raise NotAskedError
        self._used.update(found)
        number, offset = self._offsets[found[0]]
        self._stream.seek(offset)
        try:
            return Completion(reply=_reply(json.loads(self._stream.readline()), file, request), attempts=0)
        except StopError as error:
            raise BadRequestError(f"line {number}: {error}") from error

    def unused(self, questions: Mapping[str, Question]) -> Iterator[UnusedLine]:
        """Yield the answers that were not used, with the reason.

        Args:
            questions: All questions of the run, by the first half of their custom ids.
        """
        for name, (number, _) in self._offsets.items():
            if name in self._used:
                continue
            owner, _, _ = name.partition("-")
            question = questions.get(owner)
            if question is None:
                reason = f"{name}: this run has no question with this id"
            elif owner in self._asked:
                reason = f"{name}: answers another prompt than the current one of {_described(question)}"
            else:
                reason = f"{name}: {_described(question)} was answered before, or need not be asked"
            yield UnusedLine(number, reason)

    def _index(self, number: int, offset: int, line: bytes) -> None:
        if not line.strip():
            return
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as error:
            self.unreadable.append(UnusedLine(number, f"not valid JSON: {error}"))
            return
        name = custom_id_of(content)
        if name is None:
            self.unreadable.append(UnusedLine(number, "no custom_id"))
        elif "answer" in content and not isinstance(content["answer"], (str, dict)):
            self.unreadable.append(UnusedLine(number, f"{name}: `answer` is neither text nor an object"))
        elif name in self._offsets:
            earlier = self._offsets[name][0]
            self.unreadable.append(UnusedLine(number, f"{name}: line {earlier} has the same id and is used"))
        elif "answer" in content or "response" in content or "error" in content:
            self._offsets[name] = (number, offset)
        else:
            self.unreadable.append(UnusedLine(number, f"{name}: no `answer`, `response` or `error`"))


def _reply(line: Any, file: ModelFile, request: Request) -> Reply:
    if "answer" not in line:
        try:
            return read_line(file, request, line)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise MalformedReplyError(f"the line holds no reply of {file.name}: {error!r}") from error
    answer = line["answer"]
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return Reply(
        message=ChatMessage(role="assistant", text=text), finish=_FINISHES.get(str(line.get("finish")), "stop")
    )


def _described(question: Question) -> str:
    about = f"defence against {question.against}" if question.against else f"sample {question.sample}"
    if question.votes_on:
        about = f"ballot {question.sample} on {question.votes_on}"
    return f"{question.task_id} ({question.judge}, {about})"
