"""Prompts that tell the agent to give a tool what it does not take."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.outside_world import shared_state
from agenthard.audit.detectors.support.prompt_calls import prompts, written_calls
from agenthard.audit.detectors.support.prompt_tools import Told, told_arguments
from agenthard.audit.detectors.support.tool_docs import documented_words, enum_of
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.finding import Level, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolSpec


class PromptWrongArgument(TaskDetector):
    """A policy, system message or simulator's instruction gives an offered tool an argument that it does not take.

    Looked at are calls in every syntax in which prompts show them (``book(size="large")``, a JSON object with name and
    arguments, ``<invoke name="book">``, "Action: book" with its input), in and outside blocks of code, and sentences
    that join argument and tool ("pass `reason` to `cancel_order`", "the parameter `reason` of the `cancel_order`
    tool"). The tool's schema has to have a parameter of that name, and where it lists the allowed values, the one given
    has to be among them, apart from capitals.

    Suspected only: a sentence that names one tool, and next to it a parameter, or a word in code style to set, pass or
    fill in; the word is none that the tools or the state know. Or the sentence gives a parameter a value.

    Flagged: "call book(reason=...)", where ``book`` has no parameter ``reason``; ``{"name": "book", "arguments":
    {"size": "huge"}}``, where size is small or large; "Fill in `reason` before you call `book`."
    Not flagged: tools that are not offered (``prompt-unknown-tool``), tools without any documented parameter or that
    take further ones, a value in angle brackets or without quotation marks, which is a placeholder; "`book` does not
    take `reason`"; "the `reason` field of what `book` returns".

    All tasks with the same sentence are one finding. The rule is wrong where a prompt shows on purpose what not to do.
    """

    id = "prompt-wrong-argument"
    title = "a prompt gives a tool an argument it does not take"
    version = "2"
    experimental = True
    category = "incorrect-system-prompt"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    level = Level.ENVIRONMENT
    why = "A model that follows the prompt makes a call that the tool refuses, or that is scored as wrong."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if next(prompts(task), None) is None:
            return "no policy, system message or simulator's instruction"
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield each argument that a prompt names and the tool does not take."""
        offered = frozenset(tool.name for tool in (*task.environment.tools, *task.environment.user_tools))
        for pointer, text in prompts(task):
            said: set[str] = set()
            for told in _told(text, offered):
                place, why = _contradiction(task, told)
                if why and why not in said:
                    said.add(why)
                    yield Hit(
                        claim=f"{pointer.removeprefix('/')} says “{told.passage[:300]}”, and {why}",
                        evidence=(
                            quote(task, pointer, text=told.passage, note="the prompt"),
                            quote(task, place, note="what the tool takes"),
                        ),
                        fix="Say what the tool takes, or document the argument.",
                        cause=f"{told.tool} {told.argument} {told.value} in {pointer}",
                        tier=None if told.sure else Tier.SUSPECTED,
                    )


def _contradiction(task: AgentTask, told: Told) -> tuple[str, str]:
    """Return pointer and clause of what the tool says instead; empty when nothing contradicts."""
    for field, tools in (("tools", task.environment.tools), ("user_tools", task.environment.user_tools)):
        for index, tool in enumerate(tools):
            if told.tool not in (tool.name, tool.name.rpartition(".")[2]):
                continue
            properties = _properties(tool)
            place = join("/environment", field, index, "parameters", "properties")
            if not properties:
                return "", ""
            if told.argument not in properties:
                known = not told.sure and _is_known(task, told.argument)
                return ("", "") if known else (place, f"{tool.name} has no parameter {told.argument!r}")
            schema = properties[told.argument]
            allowed = enum_of(schema) if isinstance(schema, dict) else None
            if told.value is None or allowed is None:
                return "", ""
            if told.value.casefold() not in {_text(each).casefold() for each in allowed}:
                listed = ("enum",) if "enum" in schema else ("items", "enum")
                return join(place, told.argument, *listed), f"{told.argument} does not take {told.value!r}"
            return "", ""
    return "", ""


def _properties(tool: ToolSpec) -> dict[str, Any]:
    """Return the parameters of a tool that documents all it takes; {} otherwise."""
    properties = tool.parameters.get("properties")
    closed = isinstance(properties, dict) and not tool.parameters.get("additionalProperties")
    return properties if closed and isinstance(properties, dict) else {}


def _is_known(task: AgentTask, word: str) -> bool:
    if word in documented_words(task.environment):
        return True
    name = canonical_json(word)
    return name in shared_state(task.environment) or name in canonical_json(task.initial_state)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)


@lru_cache(maxsize=256)
def _told(text: str, tools: frozenset[str]) -> tuple[Told, ...]:
    """List the arguments that a prompt gives to ``tools``, the sure ones first."""
    found: dict[tuple[str, str, str | None], Told] = {}
    for told in sorted((*_in_calls(text), *told_arguments(text, tools)), key=lambda told: not told.sure):
        found.setdefault(told[:3], told)
    return tuple(found.values())


def _in_calls(text: str) -> Iterator[Told]:
    for call in written_calls(text):
        for name, values in call.arguments:
            for value in values or (None,):
                yield Told(call.tool, name, value, call.passage, True)
