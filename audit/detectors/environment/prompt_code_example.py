"""Code in prompts that cannot run as it is written."""

import ast
import json
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.prompt_calls import (
    code_blocks,
    for_agent,
    prompts,
    read_object,
    without_code_blocks,
)
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Level, Severity, Tier
from agenthard.taxonomy.task import AgentTask

_MAX_CODE = 20_000
_PYTHON = ("python", "py", "python3")
_SKETCH = re.compile(r"\.\.\.|…|<[A-Za-z_][^<>\n]{0,60}>|\{\{|\[(?:your|insert) ", re.IGNORECASE)
_INLINE_CALL = re.compile(r"`(?P<name>[A-Za-z_][\w.]*)(?P<rest>\([^`\n]*)`")
_TAGGED = re.compile(
    r"<(?P<tag>tool_?calls?|function_?calls?|tool_use|action_input|arguments)>\s*(?P<code>[{\[].{1,4000}?)\s*</(?P=tag)>",
    re.DOTALL | re.IGNORECASE,
)
_STEP = re.compile(
    r"^[ \t]*(?:Action |Tool )?(?:Input|Arguments):[ \t]*(?P<code>\{[^\n]{1,2000})$"
    r"(?=\n[ \t]*(?:\n|[A-Z][\w ]*:)|\s*\Z)",
    re.MULTILINE,
)
_CALLED = re.compile(r"\b([A-Za-z_]\w*+)\s*+\(")


class PromptCodeExample(TaskDetector):
    """A code example in a policy or system message does not parse, or names a method where it has to call it.

    Looked at: fenced blocks marked as Python or JSON, what is in ``<tool_call>`` and its relatives or after "Action
    Input:", and inline code that starts a call of an offered tool.

    Flagged: a Python or JSON block that does not parse; the object of a ``<tool_call>`` that lacks a brace; a Python
    statement ``doc.save`` on its own, or ``x = doc.save``, where ``save`` is a tool or is called with
    parentheses elsewhere in the same prompt; inline code such as ``book(flight="A1"`` without its end.
    Not flagged: blocks without a language, sketches with "...", "<value>" or "{{value}}", Python literals in tags,
    properties that are only ever read, prompts with REPL prompts that parse once these are removed.

    All tasks with the same prompt are one finding. The rule is wrong where an example shows on purpose what not to do.
    """

    id = "prompt-code-example"
    title = "a code example in a prompt does not run"
    version = "2"
    experimental = True
    category = "incorrect-system-prompt"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    level = Level.ENVIRONMENT
    why = "A model that imitates the example writes code that fails or does nothing."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if not any(for_agent(pointer) for pointer, _ in prompts(task)):
            return "no policy or system message"
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield each faulty example in what the agent is told."""
        tools = frozenset(tool.name for tool in task.environment.tools)
        for pointer, text in prompts(task):
            if not for_agent(pointer):
                continue
            for fault in code_faults(text, tools):
                yield Hit(
                    claim=f"A code example in {pointer.removeprefix('/')} {fault.claim}",
                    evidence=(quote(task, pointer, text=fault.passage, note=fault.note),),
                    fix=fault.fix,
                    cause=f"{fault.passage} in {pointer}",
                )


@dataclass(frozen=True)
class CodeFault:
    """One example that cannot run as written."""

    claim: str
    """What is wrong, as the predicate of a sentence about the example."""
    passage: str
    """The code, exactly as it appears in the prompt."""
    note: str
    """Where in the block, or what the parser says."""
    fix: str
    """What to write instead."""


@lru_cache(maxsize=64)
def code_faults(text: str, tools: frozenset[str]) -> tuple[CodeFault, ...]:
    """List the faulty code examples of a prompt.

    Args:
        text: the prompt.
        tools: names of the tools that the agent has.
    """
    methods = frozenset(name.rpartition(".")[2] for name in tools)
    faults: list[CodeFault] = []
    for language, code in code_blocks(text):
        if len(code) > _MAX_CODE or not code.strip():
            continue
        if language in _PYTHON:
            faults += _python_faults(code, methods | frozenset(_CALLED.findall(text)))
        elif language == "json" and not _SKETCH.search(code):
            faults += _json_faults(code)
    for match in (*_TAGGED.finditer(text), *_STEP.finditer(without_code_blocks(text))):
        code = match["code"].strip()
        if not _SKETCH.search(code) and not _is_literal(code):
            faults += _json_faults(code)
    faults += _inline_faults(without_code_blocks(text), tools | methods)
    return tuple(dict.fromkeys(faults))


def _python_faults(code: str, callables: frozenset[str]) -> Iterator[CodeFault]:
    tree, error = _parse(_without_repl(code))
    if tree is None:
        if not _SKETCH.search(code):
            fix = "Fix the example so that it parses."
            yield CodeFault(f"is not valid Python ({error})", code.strip(), error, fix)
        return
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.Attribute) and value.attr in callables:
            passage = ast.unparse(value)
            if passage in code:
                claim = f"names the method {value.attr!r} without calling it"
                yield CodeFault(claim, passage, "no parentheses follow", f"Write {passage}(...).")


def _json_faults(code: str) -> Iterator[CodeFault]:
    try:
        json.loads(code)
    except ValueError as error:
        yield CodeFault(f"is not valid JSON ({error})", code.strip(), str(error), "Fix the example so that it parses.")
    except RecursionError:
        return


def _is_literal(code: str) -> bool:
    """Tell whether this is a Python literal, which some readers of calls take, or one object for each line."""
    return read_object(code) is not None or all(read_object(line) is not None for line in code.splitlines())


def _inline_faults(text: str, tools: frozenset[str]) -> Iterator[CodeFault]:
    for match in _INLINE_CALL.finditer(text):
        if match["name"] in tools and not _SKETCH.search(match["rest"]):
            tree, error = _parse(match["name"] + match["rest"])
            if tree is None:
                yield CodeFault(f"is not a complete call ({error})", match[0], error, "Complete the call.")


def _without_repl(code: str) -> str:
    r"""Return the code of an interactive session, without its prompts and its output.

    >>> _without_repl(">>> f(1)\n2\n>>> g()")
    'f(1)\ng()'
    """
    code = textwrap.dedent(code)
    if not re.search(r"^>>> ", code, re.M):
        return code
    return "\n".join(line[4:] for line in code.splitlines() if line.startswith((">>> ", "... ")))


def _parse(code: str) -> tuple[ast.Module | None, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code), ""
    except SyntaxError as error:
        return None, error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        return None, str(error) or type(error).__name__
