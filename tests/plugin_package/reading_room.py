"""A benchmark of a reading room for AgentHard: a source, a check, an environment and the rules of its policy."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import Attempt, Environment, ToolResponse, Verdict
from agenthard.audit.execution.policy.case import PolicyCase
from agenthard.audit.execution.policy.rule import Outcome, RuleBook, RuleViolation
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.sources.base import Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.formats.files import copy_lines
from agenthard.audit.sources.formats.json_records import read_jsonl
from agenthard.audit.sources.formats.native_files import read_native_runs
from agenthard.taxonomy import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    Origin,
    Severity,
    Tier,
    ToolCall,
    ToolSpec,
    Trajectory,
    UserSpec,
)

TASKS = "tasks.jsonl"
LIMIT = "Lend at most two books to a reader."
LEND = ToolSpec(
    name="lend_book",
    description="Lend a book to the reader.",
    parameters={"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
    effect="write",
)


class ReadingRoom(Source):
    """Reads one JSON object per line of ``tasks.jsonl``."""

    name = "reading-room"
    title = "Reading Room"
    layout = f"a folder with {TASKS} whose lines have 'request', 'lent' and 'calls'"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a folder."""
        super().__init__(root, domains)
        if not (root / TASKS).is_file():
            raise SourceError(f"{root}: expected {self.layout}")

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether the first task has the fields of this benchmark."""
        path = root / TASKS
        first = next(read_jsonl(path, TASKS, Quarantine()), None) if path.is_file() else None
        return first is not None and {"request", "lent", "calls"} <= set(first.value)

    def version(self) -> Version:
        """Identify the file by its content."""
        return hash_files(self.root, [self.root / TASKS], "1")

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks; a record that cannot be read is quarantined."""
        environment = EnvironmentSpec(tools=(LEND,), policy=LIMIT)
        for record in read_jsonl(self.root / TASKS, TASKS, quarantine):
            try:
                yield _task(record.value, record.line, environment)
            except (KeyError, TypeError, ValueError) as error:
                quarantine.add(TASKS, f"{type(error).__name__}: {error}; fix the record", line=record.line)

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream runs in AgentHard's own format."""
        return read_native_runs(path, quarantine)

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Copy the kept lines byte for byte."""
        lines = {task.origins[""].line or 0 for task in self.tasks(Quarantine()) if task.id in set(keep)}
        copy_lines(self.root / TASKS, out / TASKS, lines)
        return [out / TASKS]


def _task(record: dict[str, Any], line: int, environment: EnvironmentSpec) -> AgentTask:
    calls = tuple(ToolCall(name="lend_book", arguments={"title": title}) for title in record["calls"])
    return AgentTask(
        id=record["id"],
        native_id=record["id"],
        benchmark=ReadingRoom.name,
        subtask=ReadingRoom.name,
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=record["request"]),),)),
        environment=environment,
        initial_state={"lent": record["lent"]},
        evaluation=EvaluationSpec(checks=(Check(kind="final_state", scored=True),)),
        ground_truth=GroundTruth(semantics="reference_path", turns=(calls,), call_matching="state"),
        origins={"": Origin(file=TASKS, line=line)},
    )


class ReadingRoomEnvironment(Environment):
    """The books that are lent; an attempt passes when it lends the books of the ground truth."""

    name = "reading-room"

    def version(self) -> str:
        """Name the version of the tools."""
        return "1"

    def supports(self, task: AgentTask) -> str | None:
        """Every task can be executed."""
        return None

    def reset(self, task: AgentTask) -> None:
        """Go back to the books that are lent at the beginning."""
        self._lent = list(task.initial_state["lent"])

    def call(self, call: ToolCall) -> ToolResponse:
        """Lend a book."""
        if call.name != LEND.name:
            return ToolResponse(text="Error: unknown tool", error=f"there is no tool {call.name!r}")
        self._lent.append(call.arguments.get("title"))
        return ToolResponse(text="lent")

    def snapshot(self) -> Any:
        """Return the books that are lent."""
        return {"lent": {title: {} for title in self._lent}}

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Compare the books that an attempt lends with those of the ground truth."""
        same = self._after(task, attempt.turns) == self._after(task, gold_turns(task))
        return Verdict(passed=same, parts={"books": same})

    def _after(self, task: AgentTask, turns: Sequence[Sequence[ToolCall]]) -> Any:
        self.reset(task)
        for turn in turns:
            for call in turn:
                self.call(call)
        return self.snapshot()


class UnnamedBook(TaskDetector):
    """A ground truth that lends a book whose title the request does not name.

    Flagged: "Lend me some books." Not flagged: "Lend me the atlas." with a ground truth that lends the atlas.
    Wrong when the reader describes the book in other words.
    """

    id = "reading-room-unnamed-book"
    title = "requests that do not name the book"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    why = "The agent has to guess which book is meant."

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per book that the request does not name."""
        request = task.user.turns[0][0].content
        for _, call in task.gold_calls():
            title = call.arguments["title"]
            if title not in request.lower():
                asked = quote(task, "/user/turns/0/0/content")
                yield Hit(claim=f"The request does not name the book {title!r}.", evidence=(asked,))


BOOK = RuleBook("reading")  # the part of the subtask before the first hyphen


@BOOK.rule("at-most-two-books", tools=(LEND.name,), sentences=(LIMIT,))
def at_most_two_books(case: PolicyCase) -> Outcome:
    """Lend no third book."""
    if len(case.changes["lent"]) < 2:
        return None
    return RuleViolation(claim="The ground truth lends a third book to the reader.")
