"""Prompts, and the calls of tools that they write out, in any of the syntaxes in which prompts show calls."""

import ast
import builtins
import json
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from agenthard.taxonomy.task import AgentTask

_FENCE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<language>[\w+-]*+)[^\n]*+\n(?P<code>.*?)^[ \t]*(?P=fence)",
    re.MULTILINE | re.DOTALL,
)


def prompts(task: AgentTask) -> Iterator[tuple[str, str]]:
    """Yield the policy, system messages and the texts of the simulator with their JSON Pointers.

    What a scripted user says is not a prompt: a user may call things what they like.
    """
    if task.environment.policy:
        yield "/environment/policy", task.environment.policy
    if task.user.kind == "simulated":
        yield from (item for item in task.user_texts() if not item[0].startswith("/user/turns"))
    for i, turn in enumerate(task.user.turns):
        for j, message in enumerate(turn):
            if message.role == "system" and message.content:
                yield f"/user/turns/{i}/{j}/content", message.content


def for_agent(pointer: str) -> bool:
    """Tell whether the prompt at ``pointer`` is read by the agent rather than by the user's simulator."""
    return pointer == "/environment/policy" or pointer.startswith("/user/turns")


def code_blocks(text: str) -> list[tuple[str, str]]:
    """List the fenced code blocks of a text as (language in lower case, code)."""
    return [(match["language"].lower(), match["code"]) for match in _FENCE.finditer(text)]


def without_code_blocks(text: str) -> str:
    """Return the text with fenced code blocks blanked out, positions unchanged."""
    return _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


_MAX_OBJECT, _MAX_OBJECTS, _MAX_DEPTH, _MAX_CODE = 4_000, 200, 6, 20_000
_NAME = r"[A-Za-z_][\w.-]{0,80}"
_PYTHON = ("python", "py", "python3")
_PLAIN_CALL = re.compile(r"(?<![\w.])(?P<tool>[A-Za-z_][\w.]*)\((?P<given>[^()\n]{0,300})\)")
_INVOKED = re.compile(
    rf"<(?:\w+:)?(?:invoke|function|function_call|tool|tool_call|tool_use|call)(?:\s+(?:name|tool|function)=|=)"
    rf"[\"']?(?P<tool>{_NAME})[\"']?\s*/?>(?P<body>(?:(?!<(?:\w+:)?(?:invoke|function)\b).){{0,2000}}?(?=</(?!param|arg)|\Z))?",
    re.DOTALL,
)
_GIVEN = re.compile(
    rf"<(?:\w+:)?(?:parameter|param|argument|arg)(?:\s+name=|=)[\"']?(?P<name>{_NAME})[\"']?[^>\n]*>(?P<value>[^<]{{0,200}})<"
)
_TAGGED = re.compile(
    r"<(?P<tool>[A-Za-z_]\w*)>\s*(?P<body>(?:<(?P<last>[A-Za-z_]\w*)>[^<>]{0,200}</(?P=last)>\s*){1,20})</(?P=tool)>"
)
_TAG = re.compile(r"<(?P<name>[A-Za-z_]\w*)>(?P<value>[^<>]{0,200})</(?P=name)>")
_NAMED = re.compile(rf"<(?P<tag>tool|function|tool_name|function_name)>\s*(?P<tool>{_NAME})\s*</(?P=tag)>")
_STEP = re.compile(
    rf"^[ \t>*-]*(?:Action|(?:Tool|Function)(?: call)?)[*]*:[*]*[ \t]*[`\"]?(?P<tool>{_NAME})[`\"]?[ \t]*$"
    r"(?:\n[ \t>*-]*(?:(?:Action|Tool|Function)[ _])?(?:Inputs?|Arguments?|Args|Parameters?|Params)[*]*:[*]*[ \t]*"
    r"\n?(?=\{))?",
    re.MULTILINE | re.IGNORECASE,
)
_NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "action", "api_name", "recipient_name")
_ARGUMENT_KEYS = tuple("arguments args parameters params kwargs input inputs action_input tool_input".split())
_STANDS_FOR = re.compile(
    r"(?:your|my|the|some|any|example|sample)[_-]\w+|(?:the_)?(?:tool|function|func|fn|action|api|method)s?"
    r"(?:[_-]?(?:name|call|id|\d+|[a-z]))?|(?:\w+_)?(?:tool|function|func|fn|action|api|method)_?names?"
    r"|names?_?of_?(?:(?:the|a|your|any|some)_?)?(?:tool|function|action|api|method)|foo\w*|ba[rz]\w*|respond|reply|answer|finish|final_?answer|think|none|null|"
    r"string|str",
    re.IGNORECASE,
)
"""Placeholders for the name of a tool, and steps of a protocol that are not tools."""
_SKETCH = re.compile(r"[<>{}\[\]]|\.\.\.|…|^\s*$|\byour\b", re.IGNORECASE)


class WrittenCall(NamedTuple):
    """A call of a tool that a prompt writes out."""

    tool: str
    """Name of the tool."""
    arguments: tuple[tuple[str, tuple[str, ...]], ...]
    """Names of the arguments, each with the values given as texts; empty where the value is a placeholder."""
    passage: str
    """The call, as it appears in the prompt."""
    is_tool: bool
    """Whether the syntax itself says that this is a tool, so that an unknown name is an unknown tool."""
    in_code: bool = False
    """Whether it is in a block of code, which may call helpers of its own."""


@lru_cache(maxsize=256)
def written_calls(text: str) -> tuple[WrittenCall, ...]:
    """List the calls that a prompt writes out.

    Read are Python calls, plain or in a block of code; JSON objects with a name and arguments, in all spellings of
    the common interfaces, or with the arguments under the name; ``<invoke name=..>`` and its relatives; a tag named
    like the tool with one per argument; and the steps "Action:" and "Action Input:".

    >>> [call[:2] for call in written_calls('{"name": "book", "arguments": {"size": "huge"}}')]
    [('book', (('size', ('huge',)),))]
    """
    readers = (_objects(text), _steps(text), _tags(text), _python(text))
    found: dict[tuple[str, Any], WrittenCall] = {}
    for call in (call for reader in readers for call in reader):
        if not stands_for_any(call.tool):
            found.setdefault(call[:2], call)
    return tuple(found.values())


def stands_for_any(name: str) -> bool:
    """Tell whether a name is a placeholder for any tool, as in a description of syntax, or a step of a protocol.

    >>> [stands_for_any(name) for name in ("tool_name", "nameOfFunction", "agent_tool_name", "get_card")]
    [True, True, True, False]
    """
    return _STANDS_FOR.fullmatch(name.rpartition(".")[2]) is not None


def _objects(text: str) -> Iterator[WrittenCall]:
    for start, end in object_spans(text):
        passage = text[start:end]
        value = read_object(passage)
        for name, arguments in _calls_in(value, 0):
            yield WrittenCall(name, _given(arguments), passage, True)
        if isinstance(value, dict) and len(value) == 1:
            [(name, arguments)] = value.items()
            if isinstance(arguments, dict) and not _is_schema(arguments):
                yield WrittenCall(str(name), _given(arguments), passage, False)


def object_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where outermost pairs of braces begin and end."""
    start = text.find("{")
    for _ in range(_MAX_OBJECTS):
        if start < 0:
            return
        end = _closing(text, start)
        if end:
            yield start, end
        start = text.find("{", end or start + 1)


def _closing(text: str, start: int) -> int:
    """Return where the object that begins at ``start`` ends; 0 when it does not. Braces in texts may be unpaired."""
    depth, quote, skip = 0, "", False
    for at in range(start, min(len(text), start + _MAX_OBJECT)):
        char = text[at]
        if skip or (quote and char == "\\"):
            skip = not skip
        elif quote:
            quote = "" if char == quote else quote
        elif char == '"':
            quote = char
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if not depth:
                return at + 1
    return 0


def read_object(text: str) -> Any:
    """Read JSON or a Python literal; None when it is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return read(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return None


def _calls_in(value: Any, depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _calls_in(item, depth + 1)
    if not isinstance(value, dict):
        return
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    arguments = next((_as_object(value[key]) for key in _ARGUMENT_KEYS if key in value), None)
    if name and re.fullmatch(_NAME, name) and arguments is not None and not _is_schema(arguments):
        yield name, arguments
        return
    if "properties" not in value:
        for item in value.values():
            yield from _calls_in(item, depth + 1)


def _as_object(value: Any) -> dict[str, Any] | None:
    value = read_object(value) if isinstance(value, str) else value
    return value if isinstance(value, dict) else None


def _is_schema(arguments: dict[str, Any]) -> bool:
    """Tell whether this documents arguments, as the entry of a tool in a list of tools does."""
    return "properties" in arguments or any(
        isinstance(item, dict) and ("type" in item or "description" in item) for item in arguments.values()
    )


def _steps(text: str) -> Iterator[WrittenCall]:
    for match in _STEP.finditer(text):
        end = _closing(text, match.end()) if text[match.end() : match.end() + 1] == "{" else 0
        arguments = _as_object(text[match.end() : end]) if end else None
        passage = text[match.start() : end or match.end()].strip()
        yield WrittenCall(match["tool"], _given(arguments or {}), passage, True)


def _tags(text: str) -> Iterator[WrittenCall]:
    for match in _INVOKED.finditer(text):
        given = ((each["name"], _texts(each["value"])) for each in _GIVEN.finditer(match["body"] or ""))
        yield WrittenCall(match["tool"], tuple(given), match[0].strip(), True)
    for match in _TAGGED.finditer(text):
        given = ((each["name"], _texts(each["value"])) for each in _TAG.finditer(match["body"]))
        yield WrittenCall(match["tool"], tuple(given), match[0], False)
    for match in _NAMED.finditer(text):
        yield WrittenCall(match["tool"], (), match[0], True)


def _python(text: str) -> Iterator[WrittenCall]:
    for match in _PLAIN_CALL.finditer(without_code_blocks(text)):
        tree = _parse(f"f({match['given']})")
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Call):
                yield WrittenCall(match["tool"], _keywords(node), match[0], False)
                break
    for language, code in code_blocks(text):
        tree = _parse(code) if language in (*_PYTHON, "") and len(code) <= _MAX_CODE else None
        if tree is None:
            continue
        own = _own_names(tree)
        for node in ast.walk(tree):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and re.fullmatch(r"[\w.]+", name) and name.partition(".")[0] not in own:
                passage = ast.get_source_segment(code, node) or ""
                is_tool = language in _PYTHON and "." not in name and not hasattr(builtins, name)
                yield WrittenCall(name, _keywords(node), passage, is_tool, in_code=True)


def _own_names(tree: ast.Module) -> set[str]:
    """Collect what the code defines, imports or assigns itself."""
    own: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.alias):
            own.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
    return own


def _parse(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _keywords(call: ast.Call) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (given.arg, _texts(given.value.value if isinstance(given.value, ast.Constant) else None))
        for given in call.keywords
        if given.arg is not None
    )


def _given(arguments: dict[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((str(name), _texts(value)) for name, value in arguments.items() if not _SKETCH.search(str(name)))


def _texts(value: Any) -> tuple[str, ...]:
    """Write a scalar, or the scalars of a list, as texts; () for objects and placeholders."""
    values = value if isinstance(value, list) else [value]
    texts = [item if isinstance(item, str) else json.dumps(item) for item in values if _is_scalar(item)]
    return tuple(text.strip() for text in texts if not _SKETCH.search(text))


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)
