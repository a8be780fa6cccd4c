"""Attempts that do not solve a task, made from the task alone to test its evaluator."""

import weakref
from collections.abc import Iterator
from typing import Any, Literal

from agenthard.audit.execution.environment import Attempt
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall

ProbeName = Literal["nothing", "refusal", "transfer", "everything", "echo"]

DOES: dict[ProbeName, str] = {
    "nothing": "does nothing",
    "transfer": "hands every user over to a human",
    "refusal": "refuses politely",
    "everything": "calls nothing and says every value of the database",
    "echo": "calls nothing and repeats what the user wants",
}
"""What the agent does in each probe, as the subject of a sentence: "An agent that ..."."""
_REFUSAL = "I am sorry, but I cannot help you with that."
_TRANSFER = "I am handing you over to a human agent."
_LISTENING = ("output_substring", "rubric", "judge")
_listed: dict[int, str] = {}


class Probe(Record):
    """One attempt."""

    name: ProbeName
    """What kind it is."""
    does: str
    """What the agent does, as the subject of a sentence: "An agent that ..."."""
    attempt: Attempt
    """The attempt."""


def probes(task: AgentTask) -> Iterator[Probe]:
    """Yield the probes of a task: do nothing, transfer to a human, refuse, say every value of the state, echo the user.

    The last three only speak, so they are left out where no scored check reads replies.
    """
    yield Probe(name="nothing", does=DOES["nothing"], attempt=Attempt())
    transfer = next((tool for tool in task.environment.tools if "transfer_to_human" in tool.name), None)
    if transfer is not None:
        required = transfer.parameters.get("required", [])
        call = ToolCall(name=transfer.name, arguments={name: _REFUSAL for name in required})
        yield Probe(
            name="transfer",
            does=DOES["transfer"],
            attempt=Attempt(turns=((call,),), replies=(_TRANSFER,)),
        )
    if not any(check.scored and check.kind in _LISTENING for check in task.evaluation.checks):
        return
    yield Probe(name="refusal", does=DOES["refusal"], attempt=Attempt(replies=(_REFUSAL,)))
    everything = _everything(task.environment)
    if everything:
        yield Probe(name="everything", does=DOES["everything"], attempt=Attempt(replies=(everything,)))
    texts = tuple(text for _, text in task.user_texts())
    if texts:
        yield Probe(name="echo", does=DOES["echo"], attempt=Attempt(replies=texts))


def _everything(environment: EnvironmentSpec) -> str:
    """List all values of the shared state in one text, each once; the text is cached as long as the state lives."""
    key = id(environment)
    if key not in _listed:
        _listed[key] = " ".join(dict.fromkeys(_values(environment.state)))
        weakref.finalize(environment, _listed.pop, key, None)
    return _listed[key]


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _values(item)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item)
    elif value is not None:
        yield str(value)
