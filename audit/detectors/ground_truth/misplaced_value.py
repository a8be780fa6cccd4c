"""Check: a gold value is in another parameter than the one by whose name the user calls it."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import gold_values, name_words
from agenthard.audit.detectors.support.said_and_called import why_not_compared
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.text import words
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

_LINK = r"(?:is|are|was|be|of|as|named|called|to|the|a|an|should|will)"
_LABEL = re.compile(
    rf"((?:[A-Za-z_]+\s+){{0,3}}(?!{_LINK}\b)[A-Za-z_]+)(?:\s+{_LINK})*\s*[:=]?\s*[\"'“‘`#@]*$", re.IGNORECASE
)
_BEFORE = 80
"""Characters before a value in which its name is looked for."""
_SHORTEST = 3


class MisplacedValue(TaskDetector):
    """A value is in the parameter by whose name the user calls it.

    Looked at are texts in gold calls that the user says too, with the name of another parameter of the same tool
    right before them ("with the hashtag 'Trip'": the end of the last word counts, and so does its plural), and of the
    same type. It is flagged when the call leaves that parameter out, and no word of the parameter that has the value is
    said in the same sentence.

    Flagged: "post it with the hashtag 'Trip'" and ``post(mentions=["#Trip"])``, where the tool has ``tags``.

    Not flagged: a call that gives the named parameter as well; a name of several words of which the user says one; a
    value that the user says twice, under different names.

    When it is wrong: the user's word means something else than the parameter of that name.
    """

    id = "misplaced-value"
    title = "A gold value is in another parameter than the one the user names"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    why = "A run that gives the value to the parameter that the user names differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls or without a text of the user cannot be checked."""
        return why_not_compared(task)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value in a wrong place."""
        for pointer, call in task.gold_calls():
            tool = task.tool(call.name, call.requestor)
            if tool is None:
                continue
            for value in gold_values(call.arguments):
                given = split(value.at)[0]
                others = [] if value.omissible else _left_out(tool, given, call.arguments)
                if len(value.accepted) != 1 or not others:
                    continue
                for at, text in value.strings():
                    found = _other_name(task, text, given, others)
                    if found is not None:
                        yield _hit(task, f"{pointer}/arguments{at}", call, text, found)


class _Named(NamedTuple):
    """What the user calls a value."""

    at: str
    """Pointer of the text."""
    label: str
    """The words before the value."""
    given: str
    """The parameter that has the value."""
    other: str
    """The parameter that the words name."""


def _hit(task: AgentTask, at: str, call: ToolCall, text: str, found: _Named) -> Hit:
    claim = (
        f"The gold call of {call.name!r} gives {text!r} as {found.given!r}, but the user calls it "
        f"{found.label.split()[-1]!r}, and the tool has {found.other!r}."
    )
    return Hit(
        claim=claim,
        evidence=(
            quote(task, at, note="the gold call"),
            quote(task, found.at, text=found.label, note="what the user calls it"),
        ),
        fix=f"Give it as {found.other!r}.",
        cause=shared_cause(task, call.name, found.given, found.other, text),
    )


def _left_out(tool: ToolSpec, given: str, arguments: dict[str, Any]) -> list[str]:
    """List the parameters of the same type that a call leaves out."""
    properties = tool.parameters.get("properties") or {}
    own = properties.get(given)
    if not isinstance(own, dict):
        return []
    alike = (name for name, schema in properties.items() if isinstance(schema, dict) and _type(schema) == _type(own))
    return [name for name in alike if name not in arguments]


def _type(schema: dict[str, Any]) -> tuple[str, str]:
    items = schema.get("items")
    return canonical_json(schema.get("type")), canonical_json(items.get("type") if isinstance(items, dict) else None)


def _other_name(task: AgentTask, text: str, given: str, others: Sequence[str]) -> _Named | None:
    """Find the parameter by whose name the user calls a value, wherever they say it."""
    bare = text.strip("#@\"' ")
    if len(bare) < _SHORTEST:
        return None
    labels = [(at, label, before) for at, said in task.user_texts() for label, before in _labels(said, bare)]
    if not labels or any(_says(before, given) for _, _, before in labels):
        return None
    for other in others:
        if all(_names(label, other) for _, label, _ in labels):
            return _Named(labels[0][0], labels[0][1], given, other)
    return None


def _labels(said: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield the words right before each place where a text says a value, and what its sentence says before it."""
    place = said.find(value)
    while place >= 0:
        before, end = said[max(0, place - _BEFORE) : place], place + len(value)
        if not (before[-1:].isalnum() or said[end : end + 1].isalnum()):
            match = _LABEL.search(before)
            yield (match[1] if match else "", re.split(r"[.!?\n]\s", before)[-1])
        place = said.find(value, end)


def _names(label: str, parameter: str) -> bool:
    """Tell whether the last words before a value name a parameter.

    >>> _names("with the hashtag", "tags"), _names("the ticket", "ticket_id")
    (True, False)
    """
    own, said = [_singular(word) for word in name_words(parameter)], [_singular(word) for word in label.split()]
    if not own or len(own[-1]) < _SHORTEST:
        return False
    return said[-len(own) :] == own or (len(own) == 1 and bool(said) and said[-1].endswith(own[0]))


def _says(text: str, parameter: str) -> bool:
    said = {_singular(word) for word in words(text)}
    return any(each.startswith(_singular(word)) for word in name_words(parameter) for each in said)


def _singular(word: str) -> str:
    word = word.lower()
    return word[:-1] if word.endswith("s") and len(word) > _SHORTEST else word
