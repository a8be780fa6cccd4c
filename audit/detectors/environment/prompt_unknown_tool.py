"""Prompts that name a tool that is not offered."""

import re
from collections.abc import Iterable
from typing import Any

from rapidfuzz import fuzz, process

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.prompt_calls import for_agent, prompts
from agenthard.audit.detectors.support.prompt_tools import named_tools, only_claimed
from agenthard.audit.detectors.support.tool_docs import documented_words
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Evidence, Level, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask

_NEAR = 60


class PromptUnknownTool(TaskDetector):
    """A policy, a system message or the instruction of a simulated user names a tool that is not offered.

    A name counts where the text itself calls it a tool or function ("the `get_status` tool", "the getStatus tool"),
    speaks of its results, tells to call or run it, lists it under a heading of tools, or writes a call of it: as
    ``get_status(...)``, as a JSON object with name and arguments, as ``<invoke name="get_status">``, as a step "Action:
    get_status". Names of one word count only where the text calls them a tool. Tools of the agent and of the user are
    known, withheld ones too; so is a name without the group it belongs to.

    Suspected only: a name that the text says to use without calling it a tool, and a function called in a block of
    Python that neither defines nor imports it; it has to begin as the name of a tool does, or to contain one.

    Flagged: "ground your response on the results of the `get_status_bar` tool call", where the tool is called
    ``check_status_bar``; "- **get_status**: shows the status" under "## Tools".
    Not flagged: parameter names, values and states in backticks ("`pending`"), prose ("the payment request tool"), a
    placeholder for any tool ("tool_name", "name_of_function"), a call that shows syntax ("e.g. `do_this(args)`"),
    "you have no `get_status` tool", and in a user's instruction what the user only says or claims: a line in quotation
    marks, "lie that you called pay_now()".
    Not checked: tasks that expect no call, whose tool may be missing on purpose.

    All tasks whose prompt carries the same name in the same field are one finding. The category is that of system
    prompts for the simulator's prompt as well: it states something false about the environment, and nothing about what
    the user wants becomes ambiguous. The rule is wrong where a prompt shows calls of another system as an example.
    """

    id = "prompt-unknown-tool"
    title = "a prompt names a tool that does not exist"
    version = "4"
    category = "incorrect-system-prompt"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    level = Level.ENVIRONMENT
    why = "An agent that follows the prompt calls a tool that is not there, or answers without the call it asks for."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if "expects_no_call" in task.traits:
            return "the task expects no call, so the tool it needs may be missing on purpose"
        if next(prompts(task), None) is None:
            return "no policy, system message or simulator's instruction"
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield each tool that a prompt of ``task`` names and that is not offered."""
        known = _known_tools(task)
        for pointer, text in prompts(task):
            for name, passage, sure in named_tools(text):
                if name in known or name.rpartition(".")[2] in known or name in documented_words(task.environment):
                    continue
                if not for_agent(pointer) and only_claimed(text, name):
                    continue
                if not sure and not _is_like_one_of(name, known):
                    continue
                near = process.extractOne(name, sorted(known), scorer=fuzz.ratio, score_cutoff=_NEAR)
                evidence = [quote(task, pointer, text=passage, note="the prompt names it")]
                if near:
                    evidence.append(_tool_name(task, near[0]))
                hint = f"; the nearest there is is {near[0]!r}" if near else ""
                yield Hit(
                    claim=f"{pointer.removeprefix('/')} names a tool {name!r} that neither agent nor user has{hint}",
                    evidence=tuple(evidence),
                    fix=f"Name the tool by its real name{f' {near[0]!r}' if near else ''}, or take the sentence out.",
                    cause=f"{name} in {pointer}",
                    tier=None if sure else Tier.SUSPECTED,
                    patch=_renamed(pointer, text, name, known),
                )


def _renamed(pointer: str, text: str, name: str, known: set[str]) -> tuple[dict[str, Any], ...]:
    """Write the patch that names the only tool whose name differs in one word; () when there are none or several."""
    words = name.split("_")
    near = [other for other in sorted(known) if _differ_in_one(words, other.split("_"))]
    if len(near) != 1:
        return ()
    return ({"op": "replace", "path": pointer, "value": re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", near[0], text)},)


def _differ_in_one(words: list[str], others: list[str]) -> bool:
    return len(words) == len(others) > 1 and sum(a != b for a, b in zip(words, others, strict=True)) == 1


def _known_tools(task: AgentTask) -> set[str]:
    names = {tool.name for tool in (*task.environment.tools, *task.environment.user_tools)}
    names |= {name for hidden in task.hidden_tools.values() for name in hidden}
    return names | {name.rpartition(".")[2] for name in names}


def _is_like_one_of(name: str, known: set[str]) -> bool:
    """Tell whether a name begins with the word that a tool's name begins with, or has all the words of one."""
    words = _words(name)
    return any(words[:1] == other[:1] or set(other) <= set(words) for other in map(_words, known) if other)


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name.rpartition(".")[2])]


def _tool_name(task: AgentTask, name: str) -> Evidence:
    for field in ("user_tools", "tools"):
        for index, tool in enumerate(getattr(task.environment, field)):
            if name in (tool.name, tool.name.rpartition(".")[2]):
                return quote(task, join("/environment", field, index, "name"), note="nearest tool there is")
    turn, names = next((turn, names) for turn, names in task.hidden_tools.items() if name in names)
    return quote(task, join("/hidden_tools", turn, names.index(name)), note="nearest tool, withheld at first")
