"""Rollouts as data: every attempt with its calls and feedback, as JSON Lines and as conversations for training."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from agenthard.agency.judges import Grade
from agenthard.agency.scaffolds.rollout import Called, Rollout, Said, Told
from agenthard.agency.tools import TOOLS
from agenthard.agency.user import Feedback
from agenthard.models.request import Call
from agenthard.taxonomy.record import Record


class RecordedRollout(Record):
    """One attempt, complete."""

    agent: str
    """Name of the agent."""
    scenario: str
    """Scenario."""
    task_id: str
    """Task."""
    attempt: int
    """Number of the attempt, from 0."""
    trial: int
    """Number of the repetition of the scenario, from 0."""
    condition: str
    """Conditions that differ from the default ones."""
    license: str
    """Licence of the scenario's texts and files."""
    before: str
    """Snapshot that the attempt began on."""
    after: str
    """Snapshot that it left, which was graded."""
    rollout: Rollout
    """What happened."""
    grade: Grade
    """The grade."""
    feedback: Feedback | None = None
    """What the user said afterwards; None when nothing was said. ``leaks`` is the word of the leak filter."""
    turns: int
    """Replies of the agent."""
    seconds: float
    """Time of its requests and calls."""


def conversations(rows: Iterable[RecordedRollout]) -> Iterator[dict[str, Any]]:
    """Join the attempts of each play of a scenario into one conversation in the chat format.

    Args:
        rows: rollouts, those of one play in order.

    Yields:
        One per play: messages, tools, licence, the score of each attempt, and what the leak filter took out.
    """
    for (agent, scenario, condition, trial), play in groupby(
        rows, key=lambda row: (row.agent, row.scenario, row.condition, row.trial)
    ):
        attempts = list(play)
        yield {
            "messages": [message for row in attempts for message in _messages(row.rollout)],
            "tools": [{"type": "function", "function": each.tool.model_dump()} for each in TOOLS.values()],
            "metadata": {
                "agent": agent,
                "scenario": scenario,
                "condition": condition,
                "trial": trial,
                "license": attempts[0].license,
                "scores": [
                    {"task": row.task_id, "attempt": row.attempt, "score": row.grade.score, "passed": row.grade.passed}
                    for row in attempts
                ],
                "withheld_from_feedback": sum(len(row.feedback.leaks) for row in attempts if row.feedback),
            },
        }


def _messages(rollout: Rollout) -> Iterator[dict[str, Any]]:
    for event in rollout.events:
        if isinstance(event, Told):
            yield {"role": "user", "content": event.text}
        elif isinstance(event, Said):
            calls = {"tool_calls": [_call(call) for call in event.calls]} if event.calls else {}
            yield {"role": "assistant", "content": event.text, **calls}
        elif isinstance(event, Called):
            yield {"role": "tool", "tool_call_id": event.call.id, "content": event.result.output}


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
