"""The exact requests of a judging as a file, to be answered elsewhere (``agenthard judge export``)."""

import json
from collections import Counter
from pathlib import Path
from typing import IO, Literal

from agenthard.flows.errors import CommandError
from agenthard.flows.judging.asking import Unanswered
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.offline import Nobody
from agenthard.flows.judging.panel import Defending
from agenthard.flows.judging.questions import Question, custom_id
from agenthard.flows.judging.run import unwrapped
from agenthard.flows.judging.running import Judging
from agenthard.flows.judging.session import Session
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.flows.judging.store import AnswerStore
from agenthard.flows.judging.taking import chosen_tasks, identify
from agenthard.flows.judging.workers import hands
from agenthard.models.batch.wire import format_of, request_line
from agenthard.models.tokens import most_prompt_tokens, prompt_tokens
from agenthard.taxonomy.files import replacing
from agenthard.taxonomy.record import Record

ExportFormat = Literal["agenthard", "openai-batch", "gemini-batch"]


class ExportOutcome(Record):
    """What was written."""

    file: str
    """The file."""
    tasks: int
    """Tasks looked at."""
    requests: dict[str, int]
    """Requests by judge."""
    answered: int
    """Questions that have their answer already."""
    investigators: tuple[str, ...]
    """Judges that look things up as they go, so that they cannot be asked with one request; they were left out."""
    errors: dict[str, str]
    """Questions for which no request could be written, with the reason."""
    prompt_tokens: int
    """About how many tokens all prompts have."""
    longest_prompt: int
    """Tokens that the longest prompt hardly exceeds."""
    shortened: int
    """Prompts from which something was left out for want of room; each states it."""


def export_requests(
    settings: JudgingSettings, file: Path, form: ExportFormat = "agenthard", only: str | None = None
) -> ExportOutcome:
    """Write the requests that are still to be answered, in the order of the tasks.

    A folder that holds answers already is taken into account: then the file has what is left, such as the questions to
    the second tier.

    Args:
        settings: The run; its folder need not exist.
        file: The file to write.
        form: ``agenthard`` holds everything; the others are what the providers take as a batch, one model in a file.
        only: Only this judge; None = all that can be exported.

    Raises:
        CommandError: The format does not fit a model, there is no such judge, or the folder is about something else.
    """
    names = [judge.name for judge in settings.judges.judges]
    if only is not None and only not in names:
        raise CommandError(f"there is no judge {only!r}; the judge file has {', '.join(names)}")
    inputs = AuditInputs(settings.audited())
    wanted = [name for name in names if only in (None, name) and not settings.judge(name).investigates]
    investigators = tuple(name for name in names if only in (None, name) and settings.judge(name).investigates)
    _check_format(settings, wanted, form)
    if settings.folder.identity.is_file():
        identify(settings, inputs)
    answers = AnswerStore(":memory:")
    try:
        known = _copy(settings.folder.store, answers)
        with replacing(file) as partial, partial.open("w", encoding="utf-8") as stream:
            sheet = _Sheet(settings, chosen_tasks(settings, inputs), wanted, form, stream)
            unwrapped(_write(settings, inputs, answers, sheet))
        failed = [answer for answer in answers.answers() if answer.question not in known]
    finally:
        answers.close()
    chosen = set(sheet.task_ids)
    return ExportOutcome(
        file=str(file),
        tasks=len(sheet.task_ids),
        requests={name: sheet.requests[name] for name in wanted},
        answered=sum(question.task_id in chosen and question.judge in wanted for question in known),
        investigators=investigators,
        errors={answer.question.owner: answer.checked.reason for answer in failed},
        prompt_tokens=sheet.tokens,
        longest_prompt=sheet.longest,
        shortened=sheet.shortened,
    )


def _copy(path: Path, answers: AnswerStore) -> set[Question]:
    """Copy the answers of a folder, which an export must not add to; returns the questions."""
    if not path.is_file():
        return set()
    store, known = AnswerStore(path), set()
    try:
        for answer in store.answers():
            answers.add(answer)
            known.add(answer.question)
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
            raise CommandError(f"{file.name} takes no {form}; give --format {format_of(file)}-batch")


class _Sheet:
    """Collects requests and writes them in the order of the tasks, whatever order they come in."""

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

    def note(self, found: Unanswered) -> None:
        if found.question.judge in self._wanted:
            self._open.setdefault(found.question.task_id, []).append(found)

    def done(self, task_id: str) -> None:
        self._done.add(task_id)
        while self._next < len(self.task_ids) and self.task_ids[self._next] in self._done:
            for found in sorted(self._open.pop(self.task_ids[self._next], ()), key=self._place):
                self._write(found)
            self._next += 1

    def close(self) -> None:
        """Write what came after its task was done with: defences, which need all verdicts."""
        order = {task_id: n for n, task_id in enumerate(self.task_ids)}
        for task_id in sorted(self._open, key=order.__getitem__):
            for found in sorted(self._open[task_id], key=self._place):
                self._write(found)

    def _place(self, found: Unanswered) -> tuple[int, int, str]:
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
        self.shortened += bool(found.ready.material.omitted)


def _line(found: Unanswered, name: str) -> dict[str, object]:
    question = found.question
    return {
        "custom_id": name,
        "task": question.task_id,
        "judge": question.judge,
        "sample": question.sample,
        "against": question.against,
        "attempt": found.attempt,
        "prompt_version": found.ready.version,
        "digest": found.request.digest,
        "omitted": [each.model_dump(mode="json") for each in found.ready.material.omitted],
        "request": found.request.model_dump(mode="json"),
    }


async def _write(settings: JudgingSettings, inputs: AuditInputs, store: AnswerStore, sheet: _Sheet) -> None:
    async with hands(settings) as both:
        session = Session(settings, Nobody(), store, both, inputs.task, sheet.note)
        await Judging(session, sheet.done).run(sheet.task_ids)
        await Defending(session).run(sheet.task_ids)
        sheet.close()
