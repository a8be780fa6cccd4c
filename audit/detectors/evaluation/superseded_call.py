"""Check: gold calls that a later gold call overwrites, where the evaluator fails a run without them."""

import re
from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_evaluated, why_not_replayed
from agenthard.audit.execution.necessity import superseded_calls
from agenthard.taxonomy.finding import Proof, Severity, Tier
from agenthard.taxonomy.task import AgentTask

_IN_STEPS = re.compile(
    r"\b(?:separately|individually|one by one|one at a time|one after the other|step by step|(?:two|both) steps)\b"
    r"|\bfirst\b[^.!?]*\bthen\b",
    re.IGNORECASE,
)
"""Words by which a user asks for steps of their own."""


class SupersededCall(TaskDetector):
    """The score demands a gold call that a later one overwrites: only a list that logs each call tells them apart.

    Two gold calls of one tool change the same object, and the ground truth is replayed without the first. It is flagged
    when no call fails that did not fail before, when the first call set values (it did not only append to a list), when
    the final state is the same except for lists that the calls append to, and when the evaluator rejects the shorter
    run. A run that makes only the last call leaves the object as the ground truth does.

    Flagged: a ticket is moved to another class and then to another day, the second call states class and day, and a run
    that makes the second call only fails, because the payments were booked in one line and not in two.
    Not flagged: a user who asks for the steps ("first ..., then ...", "separately"); two messages to one person, where
    nothing is overwritten; two deposits, where the balance is another one; a setting that is set twice and logged
    nowhere (``gold-redundant``).

    It is wrong where the user asks for both steps in other words, or where the policy forbids to do both at once.
    """

    id = "superseded-call"
    title = "The score demands a call that a later one overwrites"
    version = "1"
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    executes = True
    why = "A run that goes to the end directly leaves what the user asked for, and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed or judged, or None."""
        return why_not_evaluated(task) or why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per call that a later one overwrites; variants of one base task share it."""
        if any(_IN_STEPS.search(text) for _, text in task.user_texts()):
            return
        environment = environment_of(task)
        for found in superseded_calls(environment, task, gold_replay(task)):
            first, last = found.first.call, found.last.call
            yield Hit(
                claim=f"A run that makes only the later of two {first.name} calls leaves the same final state, except "
                f"for {' and '.join(found.logs)}, where each call is logged, and fails.",
                evidence=(
                    quote(task, found.first.pointer, note="overwritten by the later call"),
                    quote(task, found.last.pointer, note="the later call"),
                ),
                fix="Compare states without the log, or have the user ask for both steps.",
                cause=shared_cause(task, "superseded", first.name, first.arguments, last.arguments),
                proof=Proof(
                    task_id=task.id,
                    kind="constructed",
                    turns=found.attempt.turns,
                    replies=found.attempt.replies,
                    passes=False,
                    should_pass=True,
                    evaluator=environment.label(),
                ),
            )
