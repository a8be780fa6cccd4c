"""Check: a value that the user states may be left out, although the default is another."""

import re
from collections.abc import Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import Documented, documented
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.numbers import numbers_said
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import spoken_in
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import quote
from agenthard.taxonomy.accepted import alternatives, is_any_of, is_optional
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask

_DEFAULT = re.compile(
    r"\bdefaults?(?: value)?(?: is| to|:|=)?\s+(?:the )?"
    r"(?:['\"‘“](?P<quoted>[^'\"’”\n]{1,40})['\"’”]|(?P<bare>[\w-]+(?:\.\d+)?(?=[.,;)]|$)))",
    re.IGNORECASE,
)
_ANY = frozenset(
    {"", "all", "any", "none", "null", "dontcare", "empty", "optional", "an", "a", "current", "today", "no"}
)


class OmissibleValue(TaskDetector):
    """A value that the user states may not be left out where leaving it out means another value.

    Looked at are arguments that the ground truth lets a run leave out, of which the user says an accepted value word
    for word. Flagged is one whose documented default, in the schema or as "Default is 'morning'" in its description, is
    none of the accepted values.

    Flagged: "Book a flight on 27 April in the afternoon" where ``time`` accepts "afternoon" or nothing, and the default
    is "morning". Not flagged: a default that is an accepted value in other words; a default that means any value.

    Wrong where the user says the value about something else.
    """

    id = "omissible-value"
    title = "A value that the user states may be left out"
    version = "1"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    why = "A run that ignores what the user says passes."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only arguments that may be left out can be checked."""
        if task.ground_truth.call_matching in ("state", "none"):
            return "calls count only through what they lead to"
        every = (value for _, call in task.gold_calls() for value in call.arguments.values())
        return None if any(map(is_optional, every)) else "the ground truth lets no argument be left out"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per argument."""
        spoken = spoken_in(task)
        for pointer, call in task.gold_calls():
            tool = task.tool(call.name, call.requestor)
            texts = spoken.scope(int(pointer.split("/")[3]))
            for name, value in call.arguments.items() if tool else ():
                place = documented(tool, join("", name)) if tool and is_any_of(value) and is_optional(value) else None
                accepted = _scalars(value) if place else []
                said = next((found for item in accepted for found in _said(item, texts)), None)
                default = _default(place, accepted) if place else None
                if said is None or place is None or default is None:
                    continue
                index = next(i for i, each in enumerate(task.environment.tools) if each is tool)
                documentation = f"/environment/tools/{index}/parameters{place.pointer}"
                yield Hit(
                    claim=f"The gold call of {call.name!r} lets a run leave out {name!r}, which means {default!r}; the "
                    f"user says {said[1]!r}.",
                    evidence=(
                        quote(task, join(f"{pointer}/arguments", name), note="what the ground truth accepts"),
                        quote(task, said[0], text=said[1], note="what the user says"),
                        quote(task, documentation, note="the documentation"),
                    ),
                    fix="Do not accept that it is left out.",
                    cause=shared_cause(task, call.name, name, said[1]),
                )


def _scalars(value: Any) -> list[str | int | float]:
    items = [item for _, item in alternatives(value)]
    return [item for item in items if isinstance(item, str | int | float) and not isinstance(item, bool) and item != ""]


def _said(item: str | int | float, texts: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield where a text says a value word for word."""
    for at, text in texts:
        if isinstance(item, str):
            if match := re.search(rf"(?<![A-Za-z0-9.]){re.escape(item)}(?![A-Za-z0-9]|\.\d)", text, re.IGNORECASE):
                yield at, match[0]
        elif found := [m.text for m in mentions(text) if m.kind == "number" and float(item) in m.values]:
            yield at, found[0]


def _default(place: Documented, accepted: list[str | int | float]) -> str | None:
    """Return the documented default, where it is none of the accepted values and names one."""
    prose = place.schema.get("description")
    match = _DEFAULT.search(prose) if isinstance(prose, str) else None
    default = place.schema.get("default", (match["quoted"] or match["bare"]) if match else None)
    if default is None or isinstance(default, bool | list | dict) or squash(str(default)) in _ANY:
        return None
    bare = squash(str(default))
    if any(one in bare or bare in one for one in map(squash, map(str, accepted))):
        return None
    same_number = numbers_said(str(default)) & {float(item) for item in accepted if not isinstance(item, str)}
    return None if same_number else str(default)
