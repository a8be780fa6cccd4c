"""Prompts that tell the agent to give a tool what it does not take."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from audit.detectors.base import Hit, TaskDetector
from audit.detectors.environment.prompts import prompts, without_code_blocks
from audit.evidence import quote
from taxonomy.finding import Severity, Tier
from taxonomy.pointer import join
from taxonomy.task import AgentTask

_NAME = r"[A-Za-z_]\w*"
_TOOL = r"(?:the )?`(?P<tool>[A-Za-z_][\w.]*)(?:\(\))?`"
_TOLD = re.compile(
    rf"\b(?:pass|give|set|provide|include) `(?P<name>{_NAME})(?:=[^`\n]*)?`(?: [^`.\n]{{0,30}})? (?:to|of|for|in) "
    rf"{_TOOL}"
    rf"|\b(?:parameter|argument) `(?P<name2>{_NAME})` (?:to|of|for) {_TOOL.replace('<tool>', '<tool2>')}"
)
_CALL = re.compile(r"(?<![\w.])(?P<tool>[A-Za-z_][\w.]*)\((?=[^()\n]{0,200}=)(?P<given>[^()\n]{1,200})\)")


class Named(NamedTuple):
    """An argument that a prompt tells to give."""

    tool: str
    """Name of the tool."""
    argument: str
    """Name of the argument."""
    value: str | None
    """Its value, where the prompt gives a text."""
    passage: str
    """Where the prompt says so."""


class PromptWrongArgument(TaskDetector):
    """A policy, system message or simulator's instruction gives an offered tool an argument that it does not take.

    Looked at are calls with named arguments, ``book(size="large")``, outside code blocks, and sentences that name
    argument and tool in backticks ("pass `reason` to `cancel_order`", "the parameter `reason` of the `cancel_order`
    tool"). The tool's schema has to have a parameter of that name, and where it lists the allowed values, the text
    given has to be one of them, apart from capitals.

    Flagged: "call book(reason=...)", where ``book`` has no parameter ``reason``; ``book(size="huge")``, where size is
    small or large. Not flagged: tools that are not offered (``prompt-unknown-tool``), tools without any documented
    parameter or that take further ones, a value in angle brackets or without quotation marks, which stands for another.

    All tasks with the same sentence are one finding. The rule is wrong where a prompt shows on purpose what not to do.
    """

    id = "prompt-wrong-argument"
    title = "a prompt gives a tool an argument it does not take"
    version = "1"
    category = "incorrect-system-prompt"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    why = "A model that follows the prompt makes a call that the tool refuses, or that is scored as wrong."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if next(prompts(task), None) is None:
            return "there is no policy, system message or simulator's instruction"
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield each argument that a prompt names and the tool does not take."""
        for pointer, text in prompts(task):
            for named in named_arguments(text):
                place, why = _contradiction(task, named)
                if why:
                    yield Hit(
                        claim=f"{pointer.removeprefix('/')} says “{named.passage}”, and {why}",
                        evidence=(
                            quote(task, pointer, text=named.passage, note="the prompt"),
                            quote(task, place, note="what the tool takes"),
                        ),
                        fix="Say what the tool takes, or document the argument.",
                        cause=f"{named.tool} {named.argument} {named.value} in {pointer}",
                    )


def _contradiction(task: AgentTask, named: Named) -> tuple[str, str]:
    """Return pointer and clause of what the tool says instead; empty when nothing contradicts."""
    for field, tools in (("tools", task.environment.tools), ("user_tools", task.environment.user_tools)):
        for index, tool in enumerate(tools):
            properties = tool.parameters.get("properties")
            if named.tool not in (tool.name, tool.name.rpartition(".")[2]) or not isinstance(properties, dict):
                continue
            place = join("/environment", field, index, "parameters", "properties")
            if not properties or tool.parameters.get("additionalProperties"):
                return "", ""
            if named.argument not in properties:
                return place, f"{tool.name} has no parameter {named.argument!r}"
            schema = properties[named.argument]
            allowed = schema.get("enum") if isinstance(schema, dict) else None
            if named.value is None or not isinstance(allowed, list):
                return "", ""
            if named.value.casefold() not in {str(each).casefold() for each in allowed}:
                return join(place, named.argument, "enum"), f"{named.argument} does not take {named.value!r}"
            return "", ""
    return "", ""


@lru_cache(maxsize=256)
def named_arguments(text: str) -> tuple[Named, ...]:
    """List the arguments that a prompt tells to give to a tool.

    >>> named_arguments('Then call book(size="huge").')
    (Named(tool='book', argument='size', value='huge', passage='book(size="huge")'),)
    """
    return tuple(dict.fromkeys(_found(without_code_blocks(text))))


def _found(text: str) -> Iterator[Named]:
    for match in _TOLD.finditer(text):
        yield Named(match["tool"] or match["tool2"], match["name"] or match["name2"], None, match[0])
    for match in _CALL.finditer(text):
        try:
            call = ast.parse(f"f({match['given']})", mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for given in call.keywords if isinstance(call, ast.Call) else ():
            value = given.value.value if isinstance(given.value, ast.Constant) else None
            if given.arg is not None:
                text_given = (
                    value if isinstance(value, str) and value and not re.search(r"[<>{}]|\.\.\.", value) else None
                )
                yield Named(match["tool"], given.arg, text_given, match[0])
