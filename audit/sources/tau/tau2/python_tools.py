"""Tools of τ²-bench read from ``tools.py`` and ``user_tools.py``: methods with the decorator ``@is_tool(...)``.

A method with ``@is_discoverable_tool(...)`` is a tool that is not shown at first: the agent has to read about it and
unlock it, or give it to the user. It is read like any other and belongs to the group ``discoverable``.
"""

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, PydanticUserError, create_model

from agenthard.audit.sources.formats.python_types import TypeReader
from agenthard.audit.sources.tau.python_source import parse_source, signature_of
from agenthard.audit.sources.tau.records import UnreadableDomainError
from agenthard.audit.sources.tau.tool_files import Effect
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import ToolSpec

DISCOVERABLE = "discoverable"
"""Group of the tools that have to be unlocked, or given, before they can be called."""
_DECORATORS = {"is_tool": None, "is_discoverable_tool": DISCOVERABLE}


@dataclass(frozen=True)
class _Kind:
    """What the decorator of a tool declares."""

    effect: Effect
    group: str | None


@dataclass(frozen=True)
class Docstring:
    """The parts of a docstring that the benchmark turns into a tool."""

    description: str
    """First line, and after an empty line the rest of the text before the sections."""
    arguments: dict[str, str] = field(default_factory=dict)
    """Description of each argument."""
    returns: str | None = None
    """Description of what is returned, without the type before the first colon."""


def read_python_tools(files: Sequence[Path], names: Sequence[str], of_user: bool | None = None) -> tuple[ToolSpec, ...]:
    """Read the tools of a Python file as the benchmark would describe them to a model.

    Args:
        files: the file with the tools, then the files with the types they use.
        names: their names in messages, relative to the checkout.
        of_user: in a file with both, which are wanted: those of classes named ``...UserTools``, or those of the others.

    Raises:
        UnreadableDomainError: when a file or the schema of one tool cannot be read.
    """
    parsed = [parse_source(path, name) for path, name in zip(files, names, strict=True)]
    types = TypeReader([tree for tree, _ in reversed(parsed)])
    tree, text = parsed[0]
    return tuple(_tool(method, kind, types, text, names[0]) for method, kind in _tool_methods(tree, of_user))


def _tool_methods(tree: ast.Module, of_user: bool | None) -> Iterator[tuple[ast.FunctionDef, _Kind]]:
    for item in tree.body:
        if not isinstance(item, ast.ClassDef) or of_user not in (None, item.name.endswith("UserTools")):
            continue
        for method in item.body:
            kinds = map(_kind, method.decorator_list) if isinstance(method, ast.FunctionDef) else ()
            kind = next((kind for kind in kinds if kind), None)
            if kind is not None and isinstance(method, ast.FunctionDef):
                yield method, kind


def _kind(decorator: ast.expr) -> _Kind | None:
    """Read ``@is_tool(ToolType.X, mutates_state=...)``; None for another decorator.

    A tool writes when its type is WRITE and it is not marked as changing nothing. One of another type that is said to
    change something may do so outside the databases, such as unlocking a tool.
    """
    name = getattr(decorator.func, "id", "") if isinstance(decorator, ast.Call) else ""
    if not isinstance(decorator, ast.Call) or name not in _DECORATORS:
        return None
    keywords = {keyword.arg: keyword.value for keyword in decorator.keywords}
    given = decorator.args[0] if decorator.args else keywords.get("tool_type")
    said = keywords.get("mutates_state")
    changes = said.value if isinstance(said, ast.Constant) else None
    effect: Effect = "unknown" if changes else "read"
    if isinstance(given, ast.Attribute) and given.attr == "WRITE" and changes is not False:
        effect = "write"
    return _Kind(effect, _DECORATORS[name])


def _tool(method: ast.FunctionDef, kind: _Kind, types: TypeReader, text: str, file: str) -> ToolSpec:
    documented = parse_docstring(ast.get_docstring(method, clean=False))
    try:
        parameters = _schema("parameters", _parameters(method, documented, types))
        returns = _returns(method, documented, types)
    except (PydanticUserError, NameError, SyntaxError, TypeError, ValueError, RecursionError) as error:
        raise UnreadableDomainError(
            file, f"cannot describe the tool {method.name}: {error}", line=method.lineno
        ) from error
    return ToolSpec(
        name=method.name,
        description=documented.description or method.name,
        parameters=parameters,
        returns=returns,
        effect="unknown" if kind.group is None and kind.effect == "write" and _names_another(method) else kind.effect,
        group=kind.group,
        implementation=signature_of(method, text, file, skip=("self",)),
        origin=Origin(file=file, line=method.lineno),
    )


def _names_another(method: ast.FunctionDef) -> bool:
    """Tell whether a tool calls, gives or unlocks the tool that an argument names; its effect is that tool's."""
    return any(argument.arg.endswith("tool_name") for argument in method.args.args)


def _schema(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    model: type[BaseModel] = create_model(name, **fields)
    return model.model_json_schema()


def _returns(method: ast.FunctionDef, documented: Docstring, types: TypeReader) -> dict[str, Any] | None:
    """Return the schema of the annotated response with the definitions it refers to."""
    if method.returns is None:
        return None
    default = Field(description=documented.returns) if documented.returns else ...
    schema = _schema("returns", {"returns": (types.resolve(method.returns), default)})
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {**definitions, **schema["properties"]["returns"]}


def _parameters(method: ast.FunctionDef, documented: Docstring, types: TypeReader) -> dict[str, Any]:
    """Return the fields of the arguments' model; a parameter without a default is required."""
    positional = [*method.args.posonlyargs, *method.args.args][1:]
    without = len(positional) - len(method.args.defaults)
    defaults: list[ast.expr | None] = [*[None] * without, *method.args.defaults]
    given = [*zip(positional, defaults, strict=True)]
    given += zip(method.args.kwonlyargs, method.args.kw_defaults, strict=True)
    fields: dict[str, Any] = {}
    for argument, default in given:
        kind = Any if argument.annotation is None else types.resolve(argument.annotation)
        value = ... if default is None else types.default(default)
        description = documented.arguments.get(argument.arg)
        fields[argument.arg] = (kind, Field(value, description=description) if description else value)
    return fields


_ARGUMENTS = ("Args", "Arguments", "Parameters", "Params")
_OTHERS = ("Returns", "Yields", "Raises", "Except", "Exceptions", "Example", "Examples", "Attributes")
_SECTION = re.compile(rf"^({'|'.join((*_ARGUMENTS, *_OTHERS))}):")


def parse_docstring(text: str | None) -> Docstring:
    r"""Split a docstring.

    >>> parse_docstring("Do it.\nNow.\n\nArgs:\n    a: The a,\n        such as 1.\n\nReturns:\n    The b.")
    Docstring(description='Do it.\n\nNow.', arguments={'a': 'The a,\nsuch as 1.'}, returns='The b.')
    """
    sections: dict[str, list[str]] = {"": []}
    current = ""
    for line in inspect.cleandoc(text or "").splitlines():
        heading = _SECTION.match(line)
        if heading:
            current = heading.group(1)
            rest = line[heading.end() :].strip()
            sections[current] = [rest] if rest else []
        else:
            sections[current].append(line)
    first, _, rest = "\n".join(sections[""]).strip().partition("\n")
    described = "\n\n".join(part for part in (first, rest.strip()) if part)
    lines = next((sections[name] for name in _ARGUMENTS if name in sections), [])
    returned = inspect.cleandoc("\n".join(sections.get("Returns", []))).strip()
    kind, colon, after = returned.partition(":")
    return Docstring(described, _arguments(lines), (after.strip() if colon else kind) or None)


def _arguments(lines: list[str]) -> dict[str, str]:
    """Read ``name (type): text`` entries; deeper lines continue the entry before."""
    body = inspect.cleandoc("\n".join(lines)).splitlines()
    entries: dict[str, list[str]] = {}
    for line in body:
        entry = re.match(r"^(\w+)\s*(?:\([^)]*\))?:\s*(.*)$", line)
        if entry:
            entries[entry.group(1)] = [entry.group(2)]
        elif entries:
            entries[next(reversed(entries))].append(line)
    return {name: f"{text[0]}\n{inspect.cleandoc(chr(10).join(text[1:]))}".strip() for name, text in entries.items()}
