"""Models that ask nobody: one that has no answers, and one that reads them from a file."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agenthard.flows.judging.asking import NotAskedError
from agenthard.flows.judging.questions import Question, custom_id, owner_id
from agenthard.models.batch.wire import custom_id_of, read_line
from agenthard.models.errors import BadRequestError, MalformedReplyError, StopError
from agenthard.models.model_file import ModelFile
from agenthard.models.request import ChatMessage, Completion, Finish, Reply, Request

_FINISHES: dict[str, Finish] = {"stop": "stop", "length": "length", "refusal": "refusal"}


class Nobody:
    """Answers nothing, so that every question comes back unanswered."""

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Answer nothing.

        Raises:
            NotAskedError: Always.
        """
        raise NotAskedError


class Unused(NamedTuple):
    """A line that answers no question."""

    line: int
    """Number of the line, from 1."""
    reason: str
    """Why."""


class AnswerFile:
    """Answers from JSON Lines: ours (``custom_id`` and ``answer``), OpenAI's batch output, or Gemini's.

    ``answer`` is the judge's text, or the verdict as a JSON object; ``finish`` may say ``refusal`` or ``length``. Only
    the places of lines are held in memory.
    """

    def __init__(self, path: Path, files: Iterable[ModelFile]) -> None:
        """Look through the file.

        Args:
            path: The file.
            files: The models whose answers it holds.

        Raises:
            OSError: It cannot be read.
        """
        self.unreadable: list[Unused] = []
        """Lines that hold no answer, and ids that stand there twice; of these the first line counts."""
        self._files = {file.name: file for file in files}
        self._stream = path.open("rb")
        self._places: dict[str, tuple[int, int]] = {}
        self._used: set[str] = set()
        self._asked: set[str] = set()
        for number, offset, line in self._lines():
            self._note(number, offset, line)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        """Answer a request with the line that was written for just these words.

        Raises:
            NotAskedError: There is none.
            ModelError: The line holds an error, or no reply.
        """
        file = self._files[request.model]
        request = file.addressed(request)
        self._asked.add(owner_id(owner))
        found = [name for name in (custom_id(owner, request.digest), request.digest) if name in self._places]
        if not found:
            raise NotAskedError
        self._used.update(found)
        number, offset = self._places[found[0]]
        self._stream.seek(offset)
        try:
            return Completion(reply=_reply(json.loads(self._stream.readline()), file, request), attempts=0)
        except StopError as error:
            raise BadRequestError(f"line {number}: {error}") from error

    def unused(self, questions: Mapping[str, Question]) -> Iterator[Unused]:
        """Say which answers no question took, and why.

        Args:
            questions: All questions of the run, by the first half of their custom ids.
        """
        for name, (number, _) in self._places.items():
            if name in self._used:
                continue
            owner, _, _ = name.partition("-")
            question = questions.get(owner)
            if question is None:
                yield Unused(number, f"{name}: no question of this run has this id")
            elif owner in self._asked:
                yield Unused(number, f"{name}: answers another prompt than the one that {_named(question)} has now")
            else:
                yield Unused(number, f"{name}: {_named(question)} was answered before, or need not be asked")

    def _lines(self) -> Iterator[tuple[int, int, bytes]]:
        offset = 0
        for number, line in enumerate(self._stream, 1):
            yield number, offset, line
            offset += len(line)

    def _note(self, number: int, offset: int, line: bytes) -> None:
        if not line.strip():
            return
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as error:
            self.unreadable.append(Unused(number, f"no JSON ({error})"))
            return
        name = custom_id_of(content)
        if name is None:
            self.unreadable.append(Unused(number, "no custom_id"))
        elif "answer" in content and not isinstance(content["answer"], (str, dict)):
            self.unreadable.append(Unused(number, f"{name}: `answer` is neither text nor an object"))
        elif name in self._places:
            earlier = self._places[name][0]
            self.unreadable.append(Unused(number, f"{name}: line {earlier} answers this too, and counts"))
        elif "answer" in content or "response" in content or "error" in content:
            self._places[name] = (number, offset)
        else:
            self.unreadable.append(Unused(number, f"{name}: no `answer`, `response` or `error`"))


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


def _named(question: Question) -> str:
    about = f"defence against {question.against}" if question.against else f"sample {question.sample}"
    return f"{question.task_id} ({question.judge}, {about})"
