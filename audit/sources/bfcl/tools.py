"""Environments, built once per distinct set of tools, and the signatures of the classes, read without running them."""

import ast
import json
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.bfcl.categories import CLASS_DOCS, STATELESS_CLASSES, Category
from agenthard.audit.sources.bfcl.layout import Layout, find_layout, looks_like_bfcl
from agenthard.audit.sources.fetch import fetched
from agenthard.audit.sources.formats.json_records import read_jsonl
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, member, require_shallow
from agenthard.audit.sources.formats.tool_docs import tool
from agenthard.taxonomy.files import read_text
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import EnvironmentSpec, Signature, ToolSpec


def tool_key(doc: Mapping[str, Any], category: Category) -> str:
    """Return what equal documentations in categories of one language have in common."""
    return f"{category.language} {json.dumps(doc)}"


class BfclEnvironments:
    """Builds and keeps tools and environments. Equal documentation gives the same object."""

    def __init__(self, layout: Layout, code: Path | None, quarantine: Quarantine) -> None:
        """Prepare to build.

        Args:
            layout: the files.
            code: folder with the source of the classes, when it is available.
            quarantine: collects unreadable documentation.
        """
        self._layout = layout
        self._quarantine = quarantine
        self._code = code
        self._tools: dict[str, ToolSpec] = {}
        self._environments: dict[object, EnvironmentSpec] = {}
        self._classes: dict[str, tuple[ToolSpec, ...]] = {}
        self._scenarios: dict[str, list[Any]] = {}

    def documented(self, docs: Sequence[Any], category: Category, origin: Origin) -> EnvironmentSpec:
        """Return the environment of a task that carries its own documentation.

        Args:
            docs: the ``function`` field.
            category: category of the task.
            origin: where the field is. A tool that an earlier task documented in the same words keeps its origin.

        Raises:
            MalformedRecordError: when a documentation breaks the format.
        """
        key = (category.language, json.dumps(docs))
        if key not in self._environments:
            tools = [self._tool(doc, category, origin, index) for index, doc in enumerate(docs)]
            self._environments[key] = EnvironmentSpec(tools=tuple(tools))
        return self._environments[key]

    def _tool(self, doc: Any, category: Category, origin: Origin, index: int) -> ToolSpec:
        pointer = join(origin.pointer, index)
        key = tool_key(expect(doc, dict, pointer), category)
        if key not in self._tools:
            place = Origin(file=origin.file, line=origin.line, pointer=pointer)
            self._tools[key] = tool(doc, category.language, place)
        return self._tools[key]

    def has_tools(self, keys: Collection[str]) -> bool:
        """Tell whether all of these tools (:func:`tool_key`) were documented before."""
        return self._tools.keys() >= set(keys)

    def of_classes(self, names: Sequence[str], scenario: str | None = None) -> EnvironmentSpec:
        """Return the environment that offers all methods of some classes.

        Args:
            names: class names, in order.
            scenario: name of the earlier conversations that fill the agent's memory, if any.

        Raises:
            MalformedRecordError: when a class is unknown or its documentation is absent.
        """
        key = (tuple(names), scenario)
        if key not in self._environments:
            tools = tuple(spec for name in names for spec in self._class(name))
            if scenario is None:
                self._environments[key] = EnvironmentSpec(tools=tools)
            else:
                path = self._layout.scenario(scenario)
                state = self._scenario(scenario)
                self._environments[key] = EnvironmentSpec(tools=tools, state=state, state_name=self._layout.name(path))
        return self._environments[key]

    def _class(self, name: str) -> tuple[ToolSpec, ...]:
        if name not in CLASS_DOCS:
            known = ", ".join(sorted(CLASS_DOCS))
            raise MalformedRecordError(
                f"involved_classes names an unknown class {name!r}; known: {known}", "/involved_classes"
            )
        if name not in self._classes:
            path = self._layout.docs(name)
            if not path.is_file():
                reason = f"the documentation of {name} is absent: {self._layout.name(path)}"
                raise MalformedRecordError(reason, "/involved_classes", advice="restore the file")
            signatures = read_signatures(self._code, name, self._layout.root) if self._code else {}
            self._classes[name] = tuple(self._methods(name, signatures))
        return self._classes[name]

    def _methods(self, name: str, signatures: Mapping[str, Signature]) -> list[ToolSpec]:
        path = self._layout.docs(name)
        file = self._layout.name(path)
        specs = []
        for record in read_jsonl(path, file, self._quarantine):
            try:
                require_shallow(record.value)
                spec = tool(
                    record.value,
                    "python",
                    Origin(file=file, line=record.line),
                    group=name,
                    effect="read" if name in STATELESS_CLASSES else "unknown",
                    implementation=signatures.get(member(record.value, "name", str)),
                )
            except MalformedRecordError as error:
                self._quarantine.add(file, str(error), line=record.line, pointer=error.pointer)
            else:
                specs.append(spec)
        return specs

    def _scenario(self, name: str) -> list[Any]:
        if name not in self._scenarios:
            path = self._layout.scenario(name)
            if not path.is_file():
                reason = f"the conversations of the scenario are absent: {self._layout.name(path)}"
                raise MalformedRecordError(reason, "/scenario", advice="restore the file")
            records = read_jsonl(path, self._layout.name(path), self._quarantine)
            self._scenarios[name] = [record.value for record in records]
        return self._scenarios[name]


MAX_SOURCE_BYTES = 2 * 1024 * 1024
"""A larger source file is not parsed."""


@dataclass(frozen=True)
class Code:
    """The source of the classes."""

    folder: Path
    """Folder of the source files."""
    release: str | None
    """Version of the fetched package it came from; None when it is next to the data."""


def find_code(layout: Layout) -> Code | None:
    """Find the source of the classes: next to the data, else in a fetched environment of the same release.

    An environment is of the same release when every documentation file of ``layout`` is there with the same bytes.
    """
    local = layout.code()
    if local is not None:
        return Code(local, None)
    docs = sorted((layout.data / "multi_turn_func_doc").glob("*.json"))
    for environment in fetched("bfcl"):
        if not looks_like_bfcl(environment.data):
            continue
        other = find_layout(environment.data)
        twins = [(doc, other.data / doc.parent.name / doc.name) for doc in docs]
        folder = other.code()
        if folder and twins and other.version == layout.version and all(_same(*twin) for twin in twins):
            return Code(folder, environment.version)
    return None


def _same(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()


def package_root(code: Path) -> Path:
    """Return the folder that holds the package with the source files in ``code``."""
    return code.parents[3]


def read_signatures(code: Path, class_name: str, root: Path) -> Mapping[str, Signature]:
    """Read the public, undecorated methods of a class.

    Args:
        code: folder of the source files.
        class_name: name of the class.
        root: folder to which the file name in the origin is relative, if it contains the code; otherwise it is
            relative to the package's folder.

    Returns:
        The signatures by method name; empty when the class or its file cannot be read.
    """
    path = code / f"{CLASS_DOCS[class_name]}.py"
    try:
        text = read_text(path, MAX_SOURCE_BYTES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines = text.splitlines()
    base = root if code.is_relative_to(root) else package_root(code)
    file = path.relative_to(base).as_posix()
    return {
        method.name: _signature(method, lines, file)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == class_name
        for method in node.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_") and not method.decorator_list
    }


def _signature(method: ast.FunctionDef, lines: list[str], file: str) -> Signature:
    given = [arg.arg for arg in (*method.args.posonlyargs, *method.args.args)][1:]
    required = given[: len(given) - len(method.args.defaults)]
    keyword_only = [arg.arg for arg in method.args.kwonlyargs]
    required += [name for name, default in zip(keyword_only, method.args.kw_defaults, strict=True) if default is None]
    header = lines[method.lineno - 1 : max(method.lineno, method.body[0].lineno - 1)]
    while not header[-1].strip() or header[-1].lstrip().startswith("#"):
        header.pop()
    return Signature(
        parameters=tuple(given + keyword_only),
        required=tuple(required),
        extra_keywords=method.args.kwarg is not None,
        source="\n".join(header).strip(),
        origin=Origin(file=file, line=method.lineno),
    )
