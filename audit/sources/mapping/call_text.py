"""Calls written as text: one or several, separated by semicolons, line breaks, commas or arrows, with other marks."""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence

from agenthard.audit.sources.formats.calls import MAX_CALL_CHARS, parse_call_list
from agenthard.taxonomy.task import ToolCall

Parameters = Mapping[str, Sequence[str]]
"""Parameter names in documented order, by tool."""

_FENCE = re.compile(r"\A\s*```\w*\n(.*?)\n?```\s*\Z", re.DOTALL)
_SEPARATOR = re.compile(r";|\r?\n|->|=>|\u2192|&&|\|+|\s(?:and )?then\s|\sand\s|,")
_LEAD = re.compile(r"(?:\d+[.)]|[-*\u2022])\s+|(?:await\s+)|(?:[A-Za-z_]\w*\s*=(?!=)\s*(?=[A-Za-z_][\w.]*\s*\())")
_OPEN, _CLOSE = "([{", ")]}"
_WRAPPED = re.compile(r"\A(?:api|apis|tools?|functions?|client|self)\.|\.(?:func|run|invoke|call|__call__)\Z")
"""What code puts around the name of a tool."""
_BEGINS_CALL = re.compile(r"[A-Za-z_][\w./:-]*\s*\(")
_WRITTEN = re.compile(r"([A-Za-z_][\w./:-]*)\s*\((.*)\)", re.DOTALL)


def read_call_text(text: str, parameters: Parameters) -> tuple[ToolCall, ...]:
    r"""Read the calls of a text, without running any of it.

    Calls look like Python's, and may be in a list, in a fenced block, numbered, or assigned to a name. JSON's ``true``,
    ``false`` and ``null`` count as constants, and so does one object of arguments (``f({"x": 1})``). What lies between
    two separators and is not a call becomes a call without a name that keeps the text.

    Args:
        text: the calls as written.
        parameters: parameter names in documented order, by tool.

    Returns:
        The calls; none when nothing in the text looks like one.

    >>> [call.name for call in read_call_text("f(x=1); g()\nh('a; b', 2)", {})]
    ['f', 'g', 'h']
    >>> [(call.name, call.text) for call in read_call_text("f(x=1); g(y=", {})]
    [('f', 'f(x=1)'), ('', 'g(y=')]
    >>> read_call_text('f({"on": true})', {"f": ["on"]})[0].arguments
    {'on': True}
    >>> read_call_text("Lend a book (7)", {})
    ()
    """
    fenced = _FENCE.match(text)
    body = (fenced[1] if fenced else text).strip("` \t\r\n")
    if len(body) > MAX_CALL_CHARS or "(" not in body:
        return ()
    if body[:1] == "[" and body[-1:] == "]":
        body = body[1:-1]
    parts = [part for part in map(_bare, _parts(body)) if part]
    if not parts or not _BEGINS_CALL.match(parts[0]):
        return ()
    return tuple(_call(part, parameters) for part in parts)


def _bare(part: str) -> str:
    """Remove a number, a bullet, ``await`` or the name that a result is assigned to."""
    part = part.strip().strip("`")
    while lead := _LEAD.match(part):
        part = part[lead.end() :]
    return part.strip()


def _parts(text: str) -> Iterator[str]:
    """Split at separators outside quotes and brackets."""
    depth, quote_mark, start, at = 0, "", 0, 0
    while at < len(text):
        char = text[at]
        if quote_mark:
            if char == "\\":
                at += 1
            elif char == quote_mark:
                quote_mark = ""
        elif char in "'\"" and depth:
            quote_mark = char
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth = max(0, depth - 1)
        elif depth == 0 and (found := _SEPARATOR.match(text, at)):
            yield text[start:at]
            start = at = found.end()
            continue
        at += 1
    yield text[start:]


def _call(text: str, parameters: Parameters) -> ToolCall:
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return ToolCall(name="", text=text)
    name = _tool_name(found[1], parameters)
    inside = f"_({found[2]})"
    for written in (inside, _with_constants(inside)):
        calls = parse_call_list(written, {"_": parameters.get(name, ())})
        if len(calls) == 1:
            named = calls[0].model_copy(update={"name": name, "text": text})
            return _unwrapped(named, parameters)
    return ToolCall(name="", text=text)


def _tool_name(written: str, parameters: Parameters) -> str:
    """Return the tool that is meant by a dotted name: ``email.search.func`` and ``api.search`` may be ``search``."""
    words = written.split(".")
    names = (".".join(words[start:end]) for end in range(len(words), 0, -1) for start in range(end))
    found = next((name for name in names if name in parameters), None)
    return found or _WRAPPED.sub("", written) or written


def _unwrapped(call: ToolCall, parameters: Parameters) -> ToolCall:
    """Take one object given by position for the arguments, where its keys are parameters of the tool."""
    if call.positional != 1 or len(call.arguments) != 1:
        return call
    [(name, given)] = call.arguments.items()
    known = parameters.get(call.name, ())
    if not isinstance(given, dict) or not given or not (set(given) <= set(known) or (not known and name == "*0")):
        return call
    return call.model_copy(update={"arguments": given, "positional": 0})


_JSON_CONSTANTS = {"true": True, "false": False, "null": None}


class _Constants(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_JSON_CONSTANTS[node.id]) if node.id in _JSON_CONSTANTS else node


def _with_constants(text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.unparse(_Constants().visit(ast.parse(text.strip(), mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
