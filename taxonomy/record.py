"""The base of every record: frozen, strict about unknown fields, documented field by field."""

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler


class Record(BaseModel):
    """A frozen pydantic model; an unknown field is an error, and field docstrings become the JSON Schema."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> Any:
        """Describe the fields. They are read when they are asked for: of all records they take 0.1 s at each start."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, doc in field_docs(cls).items():
            if name in properties:
                properties[name].setdefault("description", doc)
        return schema


@cache
def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings of a model's fields by name, those of its bases included, as the source has them."""
    docs = dict[str, str]()
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base not in (BaseModel, Record):
            docs |= _own_field_docs(base)
    return docs


def _own_field_docs(model: type[BaseModel]) -> dict[str, str]:
    definition = _classes(sys.modules[model.__module__]).get(model.__qualname__)
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairwise(definition.body if definition else ())
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }


@cache
def _classes(module: ModuleType) -> dict[str, ast.ClassDef]:
    """Return the classes of a module by qualified name, as its source defines them; none where that is missing."""
    try:
        level: list[tuple[str, ast.AST]] = [("", ast.parse(inspect.getsource(module)))]
    except (OSError, TypeError, SyntaxError):
        return {}
    found = dict[str, ast.ClassDef]()
    while level:
        name, node = level.pop()
        if isinstance(node, ast.ClassDef):
            found[name] = node
        inside = f"{name}.<locals>" if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else name
        for child in getattr(node, "body", ()):
            if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                level.append((f"{inside}.{child.name}".lstrip("."), child))
    return found


class Origin(Record):
    """Where a part of a record comes from in the benchmark's own files."""

    file: str
    """Path relative to the benchmark's root folder, with forward slashes."""
    line: int | None = None
    """1-based line of the document in a JSON Lines file; None when the whole file is one document."""
    pointer: str = ""
    """JSON Pointer (RFC 6901) inside that document."""
