"""An issue that is to be settled, and what a rule says of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from agenthard.audit.execution.environment import Attempt, ExecutionError
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_evaluated, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.audit.judge.verify.checked import CheckedIssue
from agenthard.audit.judge.verify.cited import cited_calls, evidence_of
from agenthard.taxonomy.finding import Proof, Severity
from agenthard.taxonomy.pointer import resolve
from agenthard.taxonomy.task import AgentTask, ToolCall

NO_CALL = "its quotes do not name one call of the ground truth"


@dataclass(frozen=True)
class Ruling:
    """What a rule says of an issue."""

    standing: Literal["proved", "refuted", "open"]
    """open: the rule is about such an issue and cannot decide it."""
    reason: str
    """What was observed, or why nothing could be."""
    severity: Severity | None = None
    """What the flaw does to the score, where that was observed."""
    proof: Proof | None = None
    """A run that is scored wrongly, where a check found one."""


@dataclass(frozen=True)
class Case:
    """An issue whose quotes were found, with its task."""

    task: AgentTask
    """The task."""
    issue: CheckedIssue
    """The issue."""

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """Pointers of the gold calls that it quotes."""
        return cited_calls(self.task, self.issue)

    @property
    def claim(self) -> str:
        """What it says is wrong."""
        return self.issue.issue.claim

    @property
    def pointers(self) -> list[str]:
        """Places in the task record that it quotes."""
        return [item.pointer for item in evidence_of(self.issue)]

    def call(self, pointer: str) -> ToolCall:
        """Return the gold call at a pointer."""
        call: ToolCall = resolve(self.task, pointer)
        return call

    def number(self, pointer: str) -> int:
        """Return the place of a gold call among all, from 0."""
        return [place for place, _ in self.task.gold_calls()].index(pointer)

    def step(self, pointer: str) -> Step | None:
        """Return the step of a gold call in the replay; None when the gold cannot be replayed."""
        return None if why_not_replayed(self.task) else gold_replay(self.task).steps[self.number(pointer)]


def passes(task: AgentTask, attempts: Sequence[Attempt]) -> bool | str:
    """Tell whether the evaluator of a task passes all of some attempts.

    Returns:
        A text that says why the evaluator cannot be asked, where it cannot.

    Raises:
        ExecutionError: The evaluator broke.
    """
    reason = why_not_evaluated(task)
    if reason:
        return reason
    verdicts = environment_of(task).evaluate_many(task, attempts)
    for verdict in verdicts:
        if isinstance(verdict, ExecutionError):
            raise verdict
    return all(not isinstance(verdict, ExecutionError) and verdict.passed for verdict in verdicts)
