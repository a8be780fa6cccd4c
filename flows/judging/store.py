"""Questions to judges, and their answers in one SQLite file of the run folder.

Each answer is one row, written in one transaction: the judge's reply, the verdict after the evidence gate, and what the
prompt left out. The question is the primary key, so a killed process loses no finished answer and stores none twice.
"""

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from agenthard.audit.judge.context.material import Omission
from agenthard.audit.judge.settings import Judge
from agenthard.audit.judge.verdict import CheckedVerdict, Judged
from agenthard.audit.readings.outcome import Ballot
from agenthard.models.request import Request, Usage
from agenthard.models.storage import Database
from agenthard.taxonomy.record import Record

MAX_SAMPLES, MAX_ATTEMPTS = 64, 100
"""Upper bounds of the settings. Requests are numbered with them, so that a number never depends on the settings."""
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
CREATE TABLE IF NOT EXISTS ballots (
    task_id TEXT NOT NULL, category TEXT NOT NULL, readings TEXT NOT NULL, judge TEXT NOT NULL, number INTEGER NOT NULL,
    ballot BLOB NOT NULL, PRIMARY KEY (task_id, category, readings, judge, number)
) WITHOUT ROWID;
"""
_CHECK = "check"
"""Kind of the error of a verdict that could not be checked."""


class Question(NamedTuple):
    """A question to a judge. A run folder holds one answer to it, whatever the number of attempts."""

    task_id: str
    """Id of the task."""
    judge: str
    """Name of the judge."""
    sample: int
    """Number of the repetition, from 0."""
    against: str = ""
    """Category of the flaw that a defence argues against; empty for a question that asks for a verdict."""
    votes_on: str = ""
    """Category of the flaw whose readings are voted on; empty for other questions."""

    @property
    def owner(self) -> str:
        """Name of the question in the ledger."""
        about = f"defence against {self.against}" if self.against else str(self.sample)
        if self.votes_on:
            about = f"ballot {self.sample} on {self.votes_on}"
        return f"{self.task_id} | {self.judge} | {about}"


def questions_of(task_id: str, judges: Sequence[Judge]) -> Iterator[Question]:
    """Yield the questions about one task: judges in order, then samples."""
    for judge in judges:
        for sample in range(judge.samples):
            yield Question(task_id, judge.name, sample)


def request_number(identical: int, sample: int, attempt: int) -> int:
    """Number a request among those with the same content (agenthard.models.request.Request.sample).

    Every question gets its own replies. Repetitions, further attempts after an unusable answer, and judges that differ
    only in their name never share a reply.

    Args:
        identical: Number of earlier judges in the panel with the same model and sampling.
        sample: Number of the repetition, from 0.
        attempt: Number of the attempt, from 0.

    >>> request_number(0, 2, 0), request_number(0, 2, 1), request_number(1, 0, 0)
    (2, 66, 6400)
    """
    return sample + MAX_SAMPLES * (attempt + MAX_ATTEMPTS * identical)


def words_hash(request: Request) -> str:
    """Hash what a request says: readers with the same hash read the same words."""
    said = "\x1f".join(f"{message.role}\x1e{message.text}" for message in request.messages)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16] if said else ""


def repetition(request: Request, number: int) -> Request:
    """Return a repetition of a request: with its own number, and its own seed where the judge has one.

    Args:
        request: The request of the first sample at its first attempt.
        number: Which repetition, from 0.
    """
    seed = request.sampling.seed
    sampling = request.sampling if seed is None else request.sampling.model_copy(update={"seed": seed + number})
    return request.model_copy(update={"sample": request.sample + number, "sampling": sampling})


def identical_judges_before(judge: Judge, judges: Sequence[Judge]) -> int:
    """Count the earlier judges that would send the same request to the same model."""
    before = judges[: judges.index(judge)]
    return sum((each.model.name, each.model.sampling) == (judge.model.name, judge.model.sampling) for each in before)


def custom_id(owner: str, digest: str) -> str:
    """Build the id of a request in an exchange file: the first half identifies the question, the second its wording.

    Args:
        owner: Name of the question in the ledger.
        digest: Digest of the request.
    """
    return f"{owner_id(owner)}-{digest[:20]}"


def owner_id(owner: str) -> str:
    """Return the first half of the custom ids of a question."""
    return f"q{hashlib.sha256(owner.encode()).hexdigest()[:20]}"


class Answer(Record):
    """The outcome of one question."""

    judged: Judged
    """The reply of the judge, or its error."""
    checked: CheckedVerdict
    """The verdict after the evidence gate."""
    digest: str
    """Digest of the last request that was answered."""
    attempts: int
    """Number of attempts."""
    omitted: tuple[Omission, ...] = ()
    """Parts of the material that did not fit into the prompt."""
    prompt: str = ""
    """Hash of the prompt's messages, whatever the model, the settings and the sample; empty without a prompt."""

    @property
    def question(self) -> Question:
        """The question that it answers."""
        return Question(self.judged.task_id, self.judged.judge, self.judged.sample)

    @property
    def error(self) -> tuple[str, str]:
        """Kind and message of its error: ``check`` when the verdict could not be checked, empty without an error."""
        if self.judged.error is not None:
            return self.judged.error.kind, self.judged.error.message
        return (_CHECK, self.checked.reason) if self.checked.outcome == "error" else ("", "")


class Defence(Record):
    """The outcome of a second question, which argues that the task is sound, for one flaw that the panel reports."""

    task_id: str
    """Task."""
    category: str
    """Category of the flaw."""
    accusation: str
    """Hash of the flaw as the panel reports it: another flaw needs another defence."""
    judge: str
    """Judge that defended the task."""
    rebuttal: Literal["upheld", "overturned", "error"]
    """Whether the flaw is upheld."""
    reason: str
    """Why."""
    digest: str
    """Digest of the last request that was answered."""
    attempts: int
    """Number of attempts."""
    usage: Usage = Usage()
    """Tokens of all its requests."""
    cost: float | None = None
    """Their cost; None without a price."""


class CastBallot(Record):
    """The outcome of a question that puts the readings of a flaw to a reader."""

    task_id: str
    """Task."""
    category: str
    """Category of the flaw."""
    readings: str
    """Hash of the readings: others need other ballots."""
    judge: str
    """Judge that read them."""
    number: int
    """Number of its ballot, from 0."""
    ballot: Ballot | None
    """The votes; None after an error."""
    error: str = ""
    """Why there are none."""
    digest: str = ""
    """Digest of the last request that was answered."""
    attempts: int = 0
    """Number of attempts."""
    usage: Usage = Usage()
    """Tokens of all its requests."""
    cost: float | None = None
    """Their cost; None without a price."""


class AnswerStore:
    """The answers of one run folder. Every method raises StorageError when the file cannot be read or written."""

    def __init__(self, path: Path | str) -> None:
        """Open or create the file; ``:memory:`` keeps the answers in memory only.

        Raises:
            ConfigurationError: It cannot be opened.
        """
        self._database = Database(path, _SCHEMA, version=1)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def add(self, answer: Answer) -> None:
        """Store an answer; it replaces an error, never a verdict."""
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
        """Read the answers about one task: judges by name, then samples."""
        query = "SELECT answer FROM answers WHERE task_id = ? ORDER BY judge, sample"
        found = (_read(blob) for (blob,) in self._database.read(query, (task_id,)))
        return {answer.question: answer for answer in found}

    def questions(self) -> set[Question]:
        """Return the questions that have an answer."""
        return {Question(*row) for row in self._database.read("SELECT task_id, judge, sample FROM answers")}

    def failed(self) -> dict[Question, int]:
        """Return the questions that ended in an error, with the number of attempts that gave no verdict."""
        query = "SELECT task_id, judge, sample, attempts - (error = ?) FROM answers WHERE error IS NOT NULL"
        return {Question(*row[:3]): row[3] for row in self._database.read(query, (_CHECK,))}

    def answers(self) -> Iterator[Answer]:
        """Stream all answers: tasks by id, then judges by name, then samples."""
        keys = self._database.read("SELECT DISTINCT task_id FROM answers ORDER BY task_id")
        for (task_id,) in keys:
            yield from self.of_task(task_id).values()

    def add_defence(self, defence: Defence) -> None:
        """Store a defence; it replaces an earlier one."""
        blob = zlib.compress(defence.model_dump_json().encode("utf-8"), 3)
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO defences VALUES (?, ?, ?, ?) ON CONFLICT (task_id, category) DO UPDATE "
                "SET accusation = excluded.accusation, defence = excluded.defence",
                (defence.task_id, defence.category, defence.accusation, blob),
            )

    def defences(self, task_id: str) -> dict[str, Defence]:
        """Read the defences of a task, by the category of the flaw."""
        query = "SELECT category, defence FROM defences WHERE task_id = ? ORDER BY category"
        rows = self._database.read(query, (task_id,))
        return {category: Defence.model_validate_json(zlib.decompress(blob)) for category, blob in rows}

    def add_ballot(self, cast: CastBallot) -> None:
        """Store a ballot; it replaces an earlier one."""
        blob = zlib.compress(cast.model_dump_json().encode("utf-8"), 3)
        row = (cast.task_id, cast.category, cast.readings, cast.judge, cast.number, blob)
        with self._database.write() as connection:
            connection.execute("INSERT OR REPLACE INTO ballots VALUES (?, ?, ?, ?, ?, ?)", row)

    def ballots(self, task_id: str) -> tuple[CastBallot, ...]:
        """Read the ballots on the readings of a task: by category, judge and number."""
        query = "SELECT ballot FROM ballots WHERE task_id = ? ORDER BY category, readings, judge, number"
        rows = self._database.read(query, (task_id,))
        return tuple(CastBallot.model_validate_json(zlib.decompress(blob)) for (blob,) in rows)


def _read(blob: bytes) -> Answer:
    return Answer.model_validate_json(zlib.decompress(blob))
