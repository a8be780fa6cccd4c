"""The parts that the tasks of a composed suite are made of."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask

START, GOLD, CHECK, TEXT, NAME = "start", "gold", "check", "text", "name"
_SENTENCE = re.compile(r"\S[^\n]*?[.!?](?=\s|$)|\S[^\n]*")
_TOKEN = re.compile(r"[\w.-]+")
_LONGEST = 400
"""Characters of a sentence that is compared."""
_FEWEST_LETTERS = 3


class Part(NamedTuple):
    """One part of a task."""

    kind: str
    """start, gold, check, text or name."""
    text: str
    """What it does, as canonical JSON; a sentence; a word of the task's id."""


def parts(task: AgentTask) -> Iterator[tuple[str, Part]]:
    """Yield the parts of a task, each with its JSON Pointer.

    Parts are the actions that prepare the state, the gold calls, the assertions, the sentences of the user's texts and
    of the ticket, and the words of the task's id.
    """
    own = task.initial_state
    for key, actions in own.items() if isinstance(own, dict) else ():
        if key.endswith("actions") and isinstance(actions, list | tuple):
            for i, action in enumerate(actions):
                yield join("/initial_state", key, i), Part(START, _written(action))
    for at, call in task.gold_calls():
        yield at, Part(GOLD, f"{call.name}({canonical_json(call.arguments)}) of the {call.requestor}")
    for i, check in enumerate(task.evaluation.checks):
        if check.kind == "state_assertion":
            yield f"/evaluation/checks/{i}/expected", Part(CHECK, _written(check.expected))
    for token in dict.fromkeys(_TOKEN.findall(task.native_id)):
        if sum(map(str.isalpha, token)) >= _FEWEST_LETTERS:
            yield "/native_id", Part(NAME, token)
    ticket = task.metadata.get("ticket")
    for at, text in (*task.user_texts(), *([("/metadata/ticket", ticket)] if isinstance(ticket, str) else [])):
        for match in _SENTENCE.finditer(text):
            if len(match[0]) <= _LONGEST:
                yield at, Part(TEXT, f"{at.rpartition('/')[2]}: {match[0]}")


def _written(value: Any) -> str:
    """Write an action or an assertion as a call, with what else it says."""
    name = next(
        (value[key] for key in ("func_name", "name", "function") if isinstance(value, dict) and key in value), ""
    )
    rest = {key: item for key, item in value.items() if item != name and key != "message"} if name else value
    arguments = rest.pop("arguments", {}) if name else {}
    return f"{name}({canonical_json(arguments)}) with {canonical_json(rest)}" if name else canonical_json(value)
