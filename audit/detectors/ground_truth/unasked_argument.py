"""Check: optional settings that the gold demands without a request."""

from collections.abc import Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import Documented, GoldValue, documented, gold_values, name_words
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.text import squash, words
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask, ToolCall

_EMPTY_WORDS = frozenset(
    "include including get show is has enable enabled use allow the with of for only type name user value".split()
)
_SETTINGS = frozenset(
    "detail details level depth output format formatting intensity interval rate algorithm visualization quality "
    "priority precision verbosity sensitivity aggressiveness granularity refresh".split()
)
_STEM = 4
"""Words that begin with the same four letters count as one word: detail, detailed, details."""
_FOREIGN = 0.1
"""From this share of letters outside ASCII on, a conversation is not in English and its words are not compared."""


class UnaskedArgument(TaskDetector):
    """An optional argument that the gold demands follows from a word of the conversation.

    Looked at are calls that are compared with those of the run, and values that the documentation makes optional, that
    are not the documented default, and that a run may not leave out. A value has no trace when no word of it, and no
    word of the parameter's name, begins like a word of the conversation. Without a trace, flagged are

    * the value **false**, where true is not the documented default: leaving the argument out says the same;
    * a **setting of how the tool works** (a level of detail, an output format, an interval, an intensity), as the name
      of the parameter says: ``intensity="High"`` for "Check that these texts are original".

    Not flagged: any other value, because the words of users and of tools differ: "cartoon" is ``genre="Animation"``,
    and "men and women" ask for ``is_unisex=true``.

    Wrong where a synonym asks for it, and where the evaluator forgives what is left out without the files saying so.
    """

    id = "unasked-argument"
    title = "Optional arguments that no text asks for"
    version = "2"
    category = "redundant-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    why = "A run that leaves the optional argument out does what the user asks, differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only calls that are compared with those of a run, to a request in English, can be checked."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        if task.ground_truth.call_matching in ("state", "none"):
            return "calls count only through what they lead to"
        text = " ".join(text for _, text in task.user_texts())
        foreign = 0 if text.isascii() else sum(not letter.isascii() for letter in text if letter.isalpha())
        if foreign > _FOREIGN * len(text):
            return "the conversation is not in English"
        return (
            None if any(_optional_settings(task)) else "the gold demands no optional setting: others are not looked at"
        )

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per argument without a trace."""
        said = [text for _, text in task.user_texts()]
        stems = {word[:_STEM] for text in said for word in (*words(text), *name_words(text))}
        squashed = "\n".join(squash(text) for text in said)
        seen = set()
        for pointer, call, value in _optional_settings(task):
            name = call.name, value.name
            if name in seen or _has_trace(value, stems, squashed):
                continue
            seen.add(name)
            at, given = value.accepted[0]
            yield Hit(
                claim=f"The gold call of {call.name!r} demands the optional {value.name!r} = {given!r}, "
                "and nothing in the conversation mentions it.",
                evidence=(
                    quote(task, f"{pointer}/arguments{at}", note="the gold call"),
                    quote(task, list(task.user_texts())[-1][0], note="the last words of the conversation"),
                ),
                fix="Accept calls that leave it out, or let the user ask for it.",
                cause=shared_cause(task, *name, given),
            )


def _optional_settings(task: AgentTask) -> Iterator[tuple[str, ToolCall, GoldValue]]:
    """Yield the values that are looked at, with their calls."""
    for pointer, call in task.gold_calls():
        tool = task.tool(call.name, call.requestor)
        for value in gold_values(call.arguments) if tool and tool.language in ("json", "python") else ():
            place = documented(tool, value.at) if tool else None
            if place is None or not place.optional or value.omissible or _is_default(value, place):
                continue
            if _is_setting(value, place):
                yield pointer, call, value


def _is_default(value: GoldValue, place: Documented) -> bool:
    default = place.schema.get("default")
    return default is not None and any(given == default for _, given in value.accepted)


def _is_setting(value: GoldValue, place: Documented) -> bool:
    given = [choice for _, choice in value.accepted]
    if all(choice is False for choice in given):
        return place.schema.get("default") is not True
    texts = all(isinstance(choice, str) and choice for choice in given)
    return texts and not _SETTINGS.isdisjoint(name_words(value.member))


def _has_trace(value: GoldValue, stems: set[str], said: str) -> bool:
    names = name_words(value.member)
    if {"include", "value", "enabled"} & set(names[:1]) and len(names) == 1:
        names = name_words(next((part for part in reversed(split(value.at)[:-1]) if not part.isdigit()), ""))
    if any(word[:_STEM] in stems for word in names if len(word) > 2 and word not in _EMPTY_WORDS):
        return True
    return any(_said(choice, stems, said) for _, choice in value.accepted)


def _said(choice: Any, stems: set[str], said: str) -> bool:
    if not isinstance(choice, str):
        return False
    parts = (*words(choice), *name_words(choice))
    return squash(choice) in said or any(word[:_STEM] in stems for word in parts if len(word) > 1)
