"""Check: the answer may leave out a value that the user asks for, although the tool then takes another."""

import re
from collections.abc import Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import Documented, GoldValue, documented, gold_values
from agenthard.audit.detectors.support.said_and_called import why_not_compared
from agenthard.audit.detectors.support.said_places import Said, Scope, said_at
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import spoken_in
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import join, split
from agenthard.taxonomy.task import AgentTask, ToolCall

_DEFAULT = re.compile(
    r"\bdefaults?(?: value)?(?: is| to|:) ?(?P<mark>['\"`]?)(?P<value>[\w-]+(?:[ .][\w-]+){0,3}?)(?P=mark)"
    r"(?=\.(?:\s|$)|$|,|\)|;| if | when )",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"none|null|empty|any|all|not |no |current|dontcare|today|now|unspecified|unknown", re.IGNORECASE)
"""Beginnings of defaults that leave the tool to do as it likes."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class DroppableValue(TaskDetector):
    """An answer does not accept that a value is left out which the user asks for, where the default is another.

    Looked at are arguments that a run may leave out, with a default in the tool's documentation. It is flagged when the
    user says the value that the answer accepts, and the default is none of the accepted ones: a run that leaves the
    argument out asks for something else, and passes.

    Flagged: "the price on NASDAQ", where the answer accepts NASDAQ or nothing, and "default is NYSE".

    Not flagged: a default that is accepted, in the same words or as the same number; a default such as "all" or "none";
    a value within another one of the call ("the Treaty of Lisbon"); a request that says the default too.

    When it is wrong: the user's words are about something else, and the value follows from the rest of the request.
    """

    id = "droppable-value"
    title = "A value that the user asks for may be left out, and its default is another"
    version = "1"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "A run that leaves the value out does something else than the user asks for, and passes."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls or without a text of the user cannot be checked."""
        return why_not_compared(task)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value that may be left out."""
        spoken = spoken_in(task)
        for pointer, call in task.gold_calls():
            tool = task.tool(call.name, call.requestor)
            for value in gold_values(call.arguments) if tool else ():
                place = documented(tool, value.at) if value.omissible else None  # type: ignore[arg-type]
                default = _default(place) if place else None
                if default is None or squash(default).startswith(squash(value.member)) or _is_accepted(default, value):
                    continue
                scope = tuple(spoken.scope(int(pointer.split("/")[3])))
                said = said_at(value, scope)
                if said and not _is_explained(task, call, value, default, scope):
                    yield _hit(task, pointer, call, value, default, scope, said[0])


def _default(place: Documented) -> str | None:
    """Return the documented default of an optional argument."""
    stated = place.schema.get("default")
    description = place.schema.get("description")
    if stated is None and isinstance(description, str) and (match := _DEFAULT.search(description)):
        stated = match["value"]
    if isinstance(stated, bool) or not isinstance(stated, (str, int, float)) or stated == "":
        return None
    return None if _NOTHING.match(str(stated)) else str(stated)


def _is_accepted(default: str, value: GoldValue) -> bool:
    """Tell whether a default is an accepted value: the same number, or one that has the words of the other."""
    for _, item in value.accepted:
        if isinstance(item, bool) or not isinstance(item, (str, int, float)):
            return True
        number, own = _number(default), _number(item)
        if number is not None and own is not None:
            if number == own:
                return True
        elif squash(str(item)) in squash(default) or squash(default) in squash(str(item)):
            return True
    return False


def _is_explained(task: AgentTask, call: ToolCall, value: GoldValue, default: str, scope: Scope) -> bool:
    """Tell whether a request says a value as a part of another, or says the default too and no other call gives it."""
    texts = [str(item) for other in gold_values(call.arguments) for _, item in other.accepted if other.at != value.at]
    if any(_holds(text, item) for text in texts for _, item in value.accepted):
        return True
    others = [
        other
        for _, each in task.gold_calls()
        if each.name == call.name
        for other in gold_values(each.arguments)
        if other.member == value.member
    ]
    given = any(_is_accepted(default, other) for other in others)
    return not given and any(re.search(rf"(?<!\w){re.escape(default)}(?!\w)", text, re.IGNORECASE) for _, text in scope)


def _holds(text: str, item: object) -> bool:
    return isinstance(item, str) and re.search(rf"(?<!\w){re.escape(item)}(?!\w)", text, re.IGNORECASE) is not None


def _number(item: Any) -> float | None:
    match = _NUMBER.match(str(item))
    return float(match[0]) if match else None


def _hit(
    task: AgentTask, pointer: str, call: ToolCall, value: GoldValue, default: str, scope: Scope, said: Said
) -> Hit:
    at, text = scope[said.text]
    words = text[said.start : said.end]
    shown = value.accepted[0][1]
    claim = (
        f"The user says {words!r}, and the answer accepts that the call of {call.name!r} leaves out {value.name!r}, "
        f"whose default is {default!r}."
    )
    return Hit(
        claim=claim,
        evidence=(
            quote(task, join(f"{pointer}/arguments", split(value.at)[0]), note="what the answer accepts"),
            quote(task, at, text=words, note="what the user says"),
        ),
        fix=f"Accept {shown!r} alone.",
        cause=shared_cause(task, call.name, value.member, str(shown), default),
    )
