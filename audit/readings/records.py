"""The records of readings and their trials, and how they are written for a person."""

from typing import Any

from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.environment import Attempt
from agenthard.audit.execution.state_diff import Difference
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import ToolCall

GOLD = "gold"
"""Name of the ground truth among the readings."""


class Reading(Record):
    """What a user and a policy may be taken to want, as a run."""

    name: str
    """Letter of the reading, or ``gold``."""
    meaning: str
    """What it takes the user to want, in a sentence."""
    turns: tuple[tuple[ToolCall, ...], ...]
    """Its calls, turn by turn."""
    says: tuple[str, ...] = ()
    """What the agent says at the end; empty where the author of the reading wrote nothing."""
    right: bool = True
    """Whether its author says that it does what user and policy want; False for a careless run."""


class Trial(Record):
    """What code found out about a reading."""

    reading: Reading
    """The reading."""
    environment: str
    """What ran, with its version."""
    undocumented: tuple[str, ...] = ()
    """Calls that an agent cannot make from the documentation, with the reason."""
    refused: tuple[str, ...] = ()
    """Calls that can change something and that the environment refused, with its words."""
    broken: tuple[str, ...] = ()
    """Rules of the policy that a call breaks, with the call's fault."""
    undecided: tuple[str, ...] = ()
    """Rules that looked at a call and could not tell."""
    changes: tuple[Difference, ...] = ()
    """The fields in which the final state differs from the start; the first ones."""
    more: int = 0
    """Further fields that differ."""
    final: str = ""
    """Hash of the final state; empty where calls are compared and not carried out."""
    passed: bool
    """Whether the evaluator gives the run full score."""
    parts: dict[str, bool]
    """Its verdict on each part."""
    says_required: bool = False
    """Whether the texts that the task requires were put into the agent's mouth, since the reading has no words."""

    @property
    def defect(self) -> str:
        """Why the reading is not a run of a careful agent; empty when nothing was found against it."""
        for title, found in (
            ("cannot be called as documented", self.undocumented),
            ("the replay refuses", self.refused),
            ("breaks the policy", self.broken),
        ):
            if found:
                return f"{title}: {'; '.join(found)}"
        return ""

    @property
    def attempt(self) -> Attempt:
        """The run, as the evaluator was given it."""
        return Attempt(turns=self.reading.turns, replies=self.reading.says)


def shown_call(call: ToolCall) -> str:
    """Write a call for a reader."""
    who = "" if call.requestor == "assistant" else f"{call.requestor}: "
    return f"{who}{call.name}({canonical_json(call.arguments)})"


def shown_value(value: Any) -> str:
    """Write a value of a state for a reader, cut."""
    text = canonical_json(value)
    return text if len(text) <= 120 else f"{text[:119]}…"


def shown_trial(trial: Trial) -> str:
    """Write a trial for a reader: calls, what they change by field, what the evaluator says."""
    calls = [shown_call(call) for turn in trial.reading.turns for call in turn]
    fields = [f"{each.pointer}: {shown_value(each.before)} → {shown_value(each.after)}" for each in trial.changes]
    if trial.more:
        fields.append(f"{trial.more} more fields")
    said = "accepts" if trial.passed else "rejects"
    failed = ", ".join(name for name, right in trial.parts.items() if not right)
    because = f" ({failed})" if failed and not trial.passed else ""
    words = f" Says: {shown_value(list(trial.reading.says))}." if trial.reading.says else ""
    changed = "; ".join(fields) or ("nothing" if trial.final else "calls are compared, not carried out")
    defect = f" It {trial.defect}." if trial.defect else ""
    return (
        f"Reading {trial.reading.name} ({trial.reading.meaning}): {'; '.join(calls) or 'no call'}.{words} Changes: "
        f"{changed}.{defect} The evaluator {said} it{because}."
    )
