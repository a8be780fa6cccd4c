"""The answers of a run folder, in one SQLite file: a question is one row, written whole or not at all.

A row holds what the judge said, what code made of it, and what the judge was not shown. Its key is taken once, so what
a killed process had finished is there and nothing can be there twice.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from agenthard.audit.judge.context.material import Omission
from agenthard.audit.judge.verdict import CheckedVerdict, Judged
from agenthard.flows.judging.questions import Question
from agenthard.models.request import Usage
from agenthard.models.storage import Database
from agenthard.taxonomy.record import Record

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    task_id TEXT NOT NULL, judge TEXT NOT NULL, sample INTEGER NOT NULL, prompt_version TEXT NOT NULL,
    digest TEXT NOT NULL, attempts INTEGER NOT NULL, error TEXT, answer BLOB NOT NULL,
    PRIMARY KEY (task_id, judge, sample)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS defences (
    task_id TEXT NOT NULL, category TEXT NOT NULL, accusation TEXT NOT NULL, defence BLOB NOT NULL,
    PRIMARY KEY (task_id, category)
) WITHOUT ROWID;
"""

_CHECK = "check"


class Answer(Record):
    """The outcome of one question, with all that belongs to it."""

    judged: Judged
    """What the judge said, or why it said nothing."""
    checked: CheckedVerdict
    """What is left of it after the evidence gate."""
    digest: str
    """Digest of the request that was answered last."""
    attempts: int
    """Questions put for it."""
    omitted: tuple[Omission, ...] = ()
    """What the judge was not shown for want of room."""

    @property
    def question(self) -> Question:
        """Which question it answers."""
        return Question(self.judged.task_id, self.judged.judge, self.judged.sample)

    @property
    def error(self) -> tuple[str, str]:
        """The kind and the words of its error; ``check`` when a verdict could not be checked, empty without error."""
        if self.judged.error is not None:
            return self.judged.error.kind, self.judged.error.message
        return (_CHECK, self.checked.reason) if self.checked.outcome == "error" else ("", "")


class Defence(Record):
    """What a second question, which argues that the task is sound, made of one flaw that the panel sees."""

    task_id: str
    """Task."""
    category: str
    """Category of the flaw."""
    accusation: str
    """Hash of the flaw as the panel sees it: another flaw needs another defence."""
    judge: str
    """Who defended the task."""
    rebuttal: Literal["upheld", "overturned", "error"]
    """What became of the flaw."""
    reason: str
    """Why."""
    digest: str
    """Digest of the request that was answered last."""
    attempts: int
    """Questions put for it."""
    usage: Usage = Usage()
    """Tokens of all its requests."""
    cost: float | None = None
    """What they cost; None without a price."""


class AnswerStore:
    """Answers of one run folder. Every method raises StorageError when the file cannot be read or written."""

    def __init__(self, path: Path | str) -> None:
        """Open the file, or make it; ``:memory:`` keeps nothing.

        Raises:
            ConfigurationError: It cannot be opened.
        """
        self._database = Database(path, _SCHEMA, version=1)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def add(self, answer: Answer) -> None:
        """Keep an answer; it takes the place of an error, never of a verdict."""
        judged, error = answer.judged, answer.error[0] or None
        blob = zlib.compress(answer.model_dump_json().encode("utf-8"), 3)
        row = (*answer.question[:3], judged.prompt_version, answer.digest, answer.attempts, error, blob)
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task_id, judge, sample) DO UPDATE "
                "SET prompt_version = excluded.prompt_version, digest = excluded.digest, attempts = excluded.attempts, "
                "error = excluded.error, answer = excluded.answer WHERE answers.error IS NOT NULL",
                row,
            )

    def of_task(self, task_id: str) -> dict[Question, Answer]:
        """Read the answers about one task, judges by name, then samples."""
        query = "SELECT answer FROM answers WHERE task_id = ? ORDER BY judge, sample"
        found = (_read(blob) for (blob,) in self._database.read(query, (task_id,)))
        return {answer.question: answer for answer in found}

    def questions(self) -> set[Question]:
        """Read which questions have an answer."""
        return {Question(*row) for row in self._database.read("SELECT task_id, judge, sample FROM answers")}

    def failed(self) -> dict[Question, int]:
        """Read which questions ended in an error, with the attempts made in vain; one that gave a verdict was not."""
        query = "SELECT task_id, judge, sample, attempts - (error = ?) FROM answers WHERE error IS NOT NULL"
        return {Question(*row[:3]): row[3] for row in self._database.read(query, (_CHECK,))}

    def answers(self) -> Iterator[Answer]:
        """Stream all answers, tasks by id, then judges by name, then samples."""
        keys = self._database.read("SELECT DISTINCT task_id FROM answers ORDER BY task_id")
        for (task_id,) in keys:
            yield from self.of_task(task_id).values()

    def defend(self, defence: Defence) -> None:
        """Keep a defence in the place of an earlier one."""
        blob = zlib.compress(defence.model_dump_json().encode("utf-8"), 3)
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO defences VALUES (?, ?, ?, ?) ON CONFLICT (task_id, category) DO UPDATE "
                "SET accusation = excluded.accusation, defence = excluded.defence",
                (defence.task_id, defence.category, defence.accusation, blob),
            )

    def defences(self, task_id: str) -> dict[str, Defence]:
        """Read the defences of a task by the category of the flaw."""
        query = "SELECT category, defence FROM defences WHERE task_id = ? ORDER BY category"
        rows = self._database.read(query, (task_id,))
        return {category: Defence.model_validate_json(zlib.decompress(blob)) for category, blob in rows}


def _read(blob: bytes) -> Answer:
    return Answer.model_validate_json(zlib.decompress(blob))
