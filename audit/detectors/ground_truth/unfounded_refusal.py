"""Refusals that have to name what is not missing, not needed, or nowhere in the task."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import name_words
from agenthard.audit.detectors.support.tool_docs import Parameter, parameters_of
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.pointer import resolve
from agenthard.taxonomy.task import AgentTask, ToolSpec

_LONGEST = 80
"""A longer name is a sentence, and no name."""


class UnfoundedRefusal(TaskDetector):
    """What a refusal has to name is missing, or wrong, by the task's own words.

    Looked at are tasks that expect no call, and a reply that names what is missing or wrong, with a note of the tool or
    the parameter that it is about. Four rules:

    1. what the note names is a tool, or a parameter of a tool, that the task offers;
    2. a required text is the name of a parameter, at any depth, of the tool that the note names, or the user says it:
       else nothing in the task is called so;
    3. such a parameter is required where it is documented. The call can be made without an optional one, so that an
       agent who makes it, or names what is required, is right by the documentation;
    4. the user does not state its value: the words of its name, followed by "of", "is" or a colon and a number.

    Flagged: "discounts_condition" for the parameter `discount_conditions`; a refusal that has to name `origin`, which
    is optional; "broadcastFrequency" as missing after "with a broadcast frequency of 14.25 GHz".
    Not flagged: a member that is required within an optional object.

    Wrong where the documentation forgets to say that the parameter is required.
    """

    id = "unfounded-refusal"
    title = "refusals that name what is not missing"
    version = "1"
    category = "wrong-expected-output"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "An agent that reads the documentation names something else, or makes the call, and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why no refusal can be checked, or None."""
        if "expects_no_call" not in task.traits or not task.ground_truth.outputs:
            return "no refusal with required words is expected"
        return None if _about(task) else "the task does not say what the refusal is about"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per required text without a reason, or one when the note is about nothing."""
        tools = [tool for tool in task.environment.tools if tool.name in _about(task)]
        if not tools:
            every = {parameter.name for tool in task.environment.tools for parameter in parameters_of(tool)}
            if every.isdisjoint(_about(task)):
                yield _about_nothing(task)
                return
        for i, text in enumerate(task.ground_truth.outputs):
            found = _why_not(task, tools, text) if len(text) <= _LONGEST else None
            if found is not None:
                reason, shown = found
                yield Hit(
                    claim=f"A reply has to name {text!r}, {reason}.",
                    evidence=(quote(task, f"/ground_truth/outputs/{i}", note="the required text"), *shown),
                    fix="Require the name of what is missing or wrong.",
                )


def _about(task: AgentTask) -> tuple[str, ...]:
    about = task.metadata.get("about")
    return tuple(name for name in about if isinstance(name, str)) if isinstance(about, list | tuple) else ()


def _about_nothing(task: AgentTask) -> Hit:
    names = ", ".join(map(repr, _about(task)))
    return Hit(
        claim=f"The refusal is about {names}, and the task offers no tool and no parameter of that name.",
        evidence=(quote(task, "/metadata/about", note="what the refusal is about"),),
        fix="Name the tool or the parameter that is documented.",
    )


def _why_not(task: AgentTask, tools: list[ToolSpec], text: str) -> tuple[str, list[Evidence]] | None:
    """Return why a reader would not name a text, with quotes; None where the task gives a reason to."""
    bare = text.strip("'\"")
    named = [(tool, found) for tool in tools for found in parameters_of(tool) if found.name == bare]
    said = any(bare.casefold() in words.casefold() for _, words in task.user_texts())
    if not named:
        what = "parameter of " + ", ".join(tool.name for tool in tools) if tools else "value that the user gives"
        return None if said else (f"which is no {what}, and the user does not say it", [])
    if not any(_is_required(tool, parameter) for tool, parameter in named):
        tool, parameter = named[0]
        at = f"/environment/tools/{task.environment.tools.index(tool)}{parameter.pointer}"
        shown = [quote(task, at, note="the parameter, which is not among the required ones")]
        return f"and {tool.name} can be called without it by its documentation", shown
    given = next(_given(task, bare), None)
    return None if given is None else ("and the user gives its value", [given])


def _is_required(tool: ToolSpec, parameter: Parameter) -> bool:
    """Tell whether the object that a parameter is a member of requires it."""
    owner = resolve(tool, parameter.pointer.rsplit("/properties/", 1)[0])
    return isinstance(owner, dict) and parameter.name in (owner.get("required") or ())


def _given(task: AgentTask, name: str) -> Iterator[Evidence]:
    words = name_words(name)
    if len(words) < 2:
        return
    stated = re.compile(
        r"\b"
        + r"[\s_-]?".join(map(re.escape, words))
        + r"s?\s*(?:of|is|are|:|=|为|是|：)\s*(?:about |approximately )?[\d\"“']",
        re.IGNORECASE,
    )
    for at, text in task.user_texts():
        if match := stated.search(text):
            yield quote(task, at, text=match[0], note="what the user gives")
