"""Tools of τ²-bench read from ``tools.py`` and ``user_tools.py``: methods with the decorator ``@is_tool(...)``."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, PydanticUserError, create_model

from audit.sources.tau2.docstrings import Docstring, parse_docstring
from audit.sources.tau2.python_types import TypeReader
from audit.sources.tau_common.python_source import parse_source, signature_of
from audit.sources.tau_common.records import DomainUnreadable
from audit.sources.tau_common.tool_files import Effect
from taxonomy.record import Origin
from taxonomy.task import ToolSpec


def read_python_tools(files: Sequence[Path], names: Sequence[str]) -> tuple[ToolSpec, ...]:
    """Read the tools of a Python file as the benchmark would describe them to a model.

    Args:
        files: the file with the tools, then the files with the types they use.
        names: their names in messages, relative to the checkout.

    Raises:
        DomainUnreadable: when a file or the schema of one tool cannot be read.
    """
    parsed = [parse_source(path, name) for path, name in zip(files, names, strict=True)]
    types = TypeReader([tree for tree, _ in reversed(parsed)])
    tree, text = parsed[0]
    return tuple(_tool(method, effect, types, text, names[0]) for method, effect in _tool_methods(tree))


def _tool_methods(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, Effect]]:
    for item in tree.body:
        for method in item.body if isinstance(item, ast.ClassDef) else []:
            if isinstance(method, ast.FunctionDef):
                kinds = [kind for kind in map(_tool_type, method.decorator_list) if kind]
                if kinds:
                    yield method, "write" if kinds[0] == "WRITE" else "read"


def _tool_type(decorator: ast.expr) -> str | None:
    """Return READ, WRITE, THINK or GENERIC for ``@is_tool(ToolType.X)``, READ without an argument, else None."""
    if not isinstance(decorator, ast.Call) or getattr(decorator.func, "id", "") != "is_tool":
        return None
    given = [*decorator.args, *(keyword.value for keyword in decorator.keywords)]
    return given[0].attr if given and isinstance(given[0], ast.Attribute) else "READ"


def _tool(method: ast.FunctionDef, effect: Effect, types: TypeReader, text: str, file: str) -> ToolSpec:
    documented = parse_docstring(ast.get_docstring(method, clean=False))
    try:
        parameters = _schema("parameters", _parameters(method, documented, types))
        returns = _returns(method, documented, types)
    except (PydanticUserError, NameError, SyntaxError, TypeError, ValueError, RecursionError) as error:
        raise DomainUnreadable(file, f"cannot describe the tool {method.name}: {error}", line=method.lineno) from error
    return ToolSpec(
        name=method.name,
        description=documented.description or method.name,
        parameters=parameters,
        returns=returns,
        effect=effect,
        implementation=signature_of(method, text, file, skip=("self",)),
        origin=Origin(file=file, line=method.lineno),
    )


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
