"""Prompts that name a tool nobody has."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from rapidfuzz import fuzz, process

from audit.detectors.base import Hit, TaskDetector
from audit.detectors.environment.parameters import parameters_of
from audit.detectors.environment.prompts import prompts, without_code_blocks
from audit.detectors.ground_truth.identity_cache import IdentityCache
from audit.evidence import quote
from taxonomy.finding import Evidence, Severity, Tier
from taxonomy.pointer import join
from taxonomy.task import AgentTask, EnvironmentSpec

_NAME = r"[A-Za-z_]\w*+(?:\.\w++)*+"
_SNAKE = r"(?<![\w.`])(?=[a-z][^\W_]*+_\w)[a-z]\w*+"
_MARKED = rf"(?:`(?P<{{0}}m>{_NAME})(?:\(\))?`|(?P<{{0}}s>{_SNAKE})(?:\(\))?)"
_AS_TOOL = re.compile(
    _MARKED.format("a") + r"\s+(?:tool|function)\b(?!\s*(?:name|response|result)s?\b)"
    r"|\b(?:tool|function)(?:\s+(?:called|named))?:?\s+" + _MARKED.format("b") + r"(?=[\s.,;:)]|$)"
)
_AS_WORK = re.compile(
    r"\b(?:[Rr]esults?|[Oo]utputs?|[Rr]esponses?|[Aa]nswers?|[Rr]eturn values?)\s+(?:of|from|by)\s+"
    + _MARKED.format("c") + r"|\b(?:[Cc]all|[Ii]nvoke|[Rr]un|[Ee]xecute)(?:s|ing)?\s+" + _MARKED.format("d")
    + r"|" + _MARKED.format("e") + r"\s+(?:returns|responds|answers)\b"
)  # fmt: skip
_COMPOUND = re.compile(r"\w*(?:[^\W_]_[^\W_]|[a-z][A-Z])\w*")
"""Names of several words: a single word in backticks is a value or a state as often as a tool."""
_AS_CALL = re.compile(rf"(?P<call>{_SNAKE})\((?=[^\n]{{0,200}}\))")
_NEAR = 60


class PromptUnknownTool(TaskDetector):
    """A policy, a system message or the instruction of a simulated user names a tool that nobody has.

    A name counts where the text itself calls it a tool or function ("the `get_status` tool", "use the get_status
    tool"), or writes a call of it (``get_status(...)``) in snake_case outside a code block. Tools of the agent and of
    the user are known, withheld ones too; so is a name without the group it belongs to.

    Flagged: "ground your response on the results of the `get_status_bar` tool call", where the tool is called
    ``check_status_bar``.
    Not flagged: parameter names, values and states in backticks ("`pending`"), and prose ("the payment request tool").
    Not checked: tasks that expect no call, whose tool may be missing on purpose.

    All tasks whose prompt carries the same name in the same field are one finding. The category is that of system
    prompts for the simulator's prompt as well: it states something false about the environment, and nothing about what
    the user wants becomes ambiguous. The rule is wrong where a prompt names a tool in order to say that it is absent.
    """

    id = "prompt-unknown-tool"
    title = "a prompt names a tool that does not exist"
    version = "2"
    category = "incorrect-system-prompt"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    why = "Whoever follows the prompt calls a tool that is not there, or answers without the call it asks for."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if "expects_no_call" in task.traits:
            return "the task expects no call, so the tool it needs may be missing on purpose"
        if next(prompts(task), None) is None:
            return "there is no policy, system message or simulator's instruction"
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield each tool that a prompt of ``task`` names and nobody has."""
        known = _known_tools(task)
        for pointer, text in prompts(task):
            for name, passage in named_tools(text):
                if name in known or name.rpartition(".")[2] in known or name in _parameters(task.environment):
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


@lru_cache(maxsize=256)
def named_tools(text: str) -> tuple[tuple[str, str], ...]:
    """List the names that a prompt uses as names of tools, each once, with the passage.

    >>> named_tools("Use the `get_status` tool. The status is `pending`.")
    (('get_status', '`get_status` tool'),)
    """
    found: dict[str, str] = {}
    for name, passage in _matches(without_code_blocks(text)):
        found.setdefault(name, passage)
    return tuple(found.items())


def _matches(text: str) -> Iterator[tuple[str, str]]:
    for match in _AS_TOOL.finditer(text):
        yield match["am"] or match["as"] or match["bm"] or match["bs"], match[0]
    for match in _AS_WORK.finditer(text):
        name = next(name for name in match.groups() if name)
        if _COMPOUND.fullmatch(name):
            yield name, match[0]
    for match in _AS_CALL.finditer(text):
        yield match["call"], match[0]


def _known_tools(task: AgentTask) -> set[str]:
    names = {tool.name for tool in (*task.environment.tools, *task.environment.user_tools)}
    names |= {name for hidden in task.hidden_tools.values() for name in hidden}
    return names | {name.rpartition(".")[2] for name in names}


def _parameter_names(environment: EnvironmentSpec) -> frozenset[str]:
    tools = (*environment.tools, *environment.user_tools)
    return frozenset(parameter.name for tool in tools for parameter in parameters_of(tool))


_parameters = IdentityCache(_parameter_names)


def _tool_name(task: AgentTask, name: str) -> Evidence:
    for field in ("user_tools", "tools"):
        for index, tool in enumerate(getattr(task.environment, field)):
            if name in (tool.name, tool.name.rpartition(".")[2]):
                return quote(task, join("/environment", field, index, "name"), note="nearest tool there is")
    turn, names = next((turn, names) for turn, names in task.hidden_tools.items() if name in names)
    return quote(task, join("/hidden_tools", turn, names.index(name)), note="nearest tool, withheld at first")
