"""Rebuilds the types of a benchmark's Python files from their syntax trees, so that pydantic can write their schemas.

Only pydantic models, enums, aliases and the usual typing forms are rebuilt; anything else becomes Any. No line of the
files is executed.
"""

import ast
from collections.abc import Iterable
from enum import Enum
from typing import Any, Literal, Optional, Union

from pydantic import BaseModel, ConfigDict, Field, create_model

_PLAIN: dict[str, Any] = {
    "str": str, "int": int, "float": float, "bool": bool, "dict": dict, "Dict": dict, "list": list, "List": list,
    "tuple": tuple, "Tuple": tuple, "None": None, "Any": Any,
}  # fmt: skip


class TypeReader:
    """Resolves annotations against the classes and aliases of some modules."""

    def __init__(self, modules: Iterable[ast.Module]) -> None:
        """Collect the definitions; those of later modules take precedence."""
        self._definitions: dict[str, ast.ClassDef | ast.expr] = {}
        for module in modules:
            for node in module.body:
                if isinstance(node, ast.ClassDef):
                    self._definitions[node.name] = node
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    self._definitions[node.targets[0].id] = node.value
        self._built: dict[str, Any] = {}

    def resolve(self, node: ast.expr | None) -> Any:
        """Return the type that an annotation names.

        Raises:
            RecursionError: when aliases or models refer to each other in too long a circle.
        """
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.resolve(ast.parse(node.value, mode="eval").body)
        if isinstance(node, ast.Constant) and node.value is None:
            return None
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.Attribute):
            return self._named(node.attr)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return Union[self.resolve(node.left), self.resolve(node.right)]  # noqa: UP007  built at run time
        if isinstance(node, ast.Subscript):
            return self._subscripted(node)
        return Any

    def default(self, node: ast.expr) -> Any:
        """Return the value of a default: a literal, a member of a known enum, or a ``Field(...)``."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Field":
            return self._field(node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self._named(node.value.id)
            return getattr(owner, node.attr, None) if isinstance(owner, type) and issubclass(owner, Enum) else None
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            return None

    def _named(self, name: str) -> Any:
        if name in self._built:
            return self._built[name]
        definition = self._definitions.get(name)
        if definition is None:
            return _PLAIN.get(name, Any)
        self._built[name] = Any
        built = self._class(definition) if isinstance(definition, ast.ClassDef) else self.resolve(definition)
        self._built[name] = built
        return built

    def _subscripted(self, node: ast.Subscript) -> Any:
        name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Literal":
            values = tuple(part.value for part in parts if isinstance(part, ast.Constant))
            return Literal[values] if values else Any
        if name == "Annotated":
            return self.resolve(parts[0])
        types = [Ellipsis if isinstance(p, ast.Constant) and p.value is ... else self.resolve(p) for p in parts]
        if name == "Optional":
            return Optional[types[0]]  # noqa: UP007, UP045  built at run time
        if name == "Union":
            return Union[tuple(types)]  # noqa: UP007  built at run time
        container = _PLAIN.get(name)
        return container[tuple(types)] if container in (dict, list, tuple) else Any

    def _class(self, node: ast.ClassDef) -> Any:
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        if "Enum" in bases:
            members = {
                item.targets[0].id: self.default(item.value)
                for item in node.body
                if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name)
            }
            return _enum(node, members) if members else Any
        fields: dict[str, Any] = {}
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                fields[item.target.id] = self._annotated(item.annotation, item.value)
        parents = [self._named(base) for base in bases]
        models = tuple(parent for parent in parents if isinstance(parent, type) and issubclass(parent, BaseModel))
        strict = ConfigDict(extra="forbid") if "BaseModelNoExtra" in bases else None
        doc = ast.get_docstring(node)
        if models:
            return create_model(node.name, __base__=models, __doc__=doc, **fields)
        return create_model(node.name, __config__=strict, __doc__=doc, **fields)

    def _annotated(self, annotation: ast.expr, value: ast.expr | None) -> tuple[Any, Any]:
        """Return type and default of a field, whose Field(...) may be in ``Annotated`` or the value."""
        default: Any = ... if value is None else self.default(value)
        if value is None and isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
            calls = [item for item in annotation.slice.elts if isinstance(item, ast.Call)]
            default = self.default(calls[0]) if calls else default
        return self.resolve(annotation), default

    def _field(self, node: ast.Call) -> Any:
        given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        options: dict[str, Any] = {"default": self.default(node.args[0])} if node.args else {}
        for name in ("description", "default"):
            if name in given:
                options[name] = self.default(given[name])
        if "default_factory" in given:
            options["default_factory"] = lambda: None
        return Field(**options)


def _enum(node: ast.ClassDef, members: dict[str, Any]) -> Any:
    built = Enum(node.name, members, type=str)  # type: ignore[misc]
    built.__doc__ = ast.get_docstring(node)
    return built
