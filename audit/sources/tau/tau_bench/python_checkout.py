"""τ-bench as a checkout of the original repository: tasks and tools as Python, read without running it."""

import ast
from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.python_source import literal, parse_source, signature_of
from agenthard.audit.sources.tau.records import UnreadableDomainError, explain
from agenthard.audit.sources.tau.tau_bench.layout import SPLITS, Domain, Layout, NativeTask, effect_of, split_domain
from agenthard.audit.sources.tau.tool_files import Tool, load_json
from agenthard.taxonomy.files import read_text
from agenthard.taxonomy.pointer import join, split
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import EnvironmentSpec, ToolSpec

ENVS = (("tau_bench", "envs"), ("envs",), ())
"""Where the domains can be below the folder that was opened."""
WIKI = "wiki.md"
_TASK_FILES = {"test": ("tasks_test.py", "tasks.py")}


class PythonCheckout(Layout):
    """Reader of the original layout."""

    def domains(self) -> list[str]:
        """Name the folders with a policy and a list of tasks in Python, and their further splits."""
        folders = sorted(path.parent for path in self._envs().glob(f"*/{WIKI}"))
        names = [name for folder in folders for name in (folder.name, *(f"{folder.name}-{s}" for s in SPLITS))]
        return [name for name in names if self._tasks_file(name) is not None]

    def tasks(self, domain: str, quarantine: Quarantine) -> Iterator[NativeTask]:
        """Stream the elements of the list; each is a ``Task(...)`` call or a dict of literals."""
        path = self.files(domain)[0]
        name = self.name(path)
        tree, text = parse_source(path, name)
        for index, node in enumerate(_task_list(tree, name).elts):
            try:
                value = literal(node)
                if not isinstance(value, dict):
                    raise ValueError(f"expected Task(...) or a dict, found {type(value).__name__}")
            except ValueError as error:
                quarantine.add(name, f"task {index}: {error}", line=node.lineno, task_id=f"{domain}/{index}")
                continue
            actions = _elements(_child(node, "actions"))
            segments = tuple(ast.get_source_segment(text, action) or "" for action in actions)
            yield NativeTask(index, node.lineno, value, partial(_place, name, node), segments)

    def count(self, domain: str) -> int:
        """Count the elements of the list."""
        path = self.files(domain)[0]
        return len(_task_list(parse_source(path, self.name(path))[0], self.name(path)).elts)

    def environment(self, domain: str) -> Domain:
        """Read ``tools/*.py``, ``wiki.md`` and ``data/*.json``; the state has one member per data file."""
        folder = self.files(domain)[0].parent
        wiki = folder / WIKI
        try:
            policy = read_text(wiki)
        except (OSError, ValueError) as error:
            raise UnreadableDomainError(self.name(wiki), f"cannot read the policy: {error}") from error
        data = sorted((folder / "data").glob("*.json"))
        environment = EnvironmentSpec(
            tools=tuple(self._tool(domain, path) for path in self._tool_files(folder)),
            policy=policy,
            state={path.stem: load_json(path, self.name(path)) for path in data} or None,
            state_name=self.name(folder / "data") if data else None,
        )
        origins = {"/environment/policy": Origin(file=self.name(wiki))}
        origins |= {join("/environment/state", path.stem): Origin(file=self.name(path)) for path in data}
        return Domain(environment, origins)

    def files(self, domain: str) -> list[Path]:
        """List the task file, policy, tools and data of a domain."""
        tasks = self._tasks_file(domain)
        if tasks is None:
            raise UnreadableDomainError(domain, "no list of tasks in Python")
        folder = tasks.parent
        shared = [*sorted((folder / "tools").glob("*.py")), *sorted((folder / "data").glob("*.json"))]
        return [tasks, folder / WIKI, *shared]

    def write_tasks(self, domain: str, keep: set[int], target: Path) -> None:
        """Write the file with the kept elements as they are, and everything around the list unchanged."""
        path = self.files(domain)[0]
        tree, text = parse_source(path, self.name(path))
        tasks = _task_list(tree, self.name(path))
        lines = text.encode().splitlines(keepends=True)
        starts = list(accumulate(map(len, lines), initial=0))
        data = b"".join(lines)
        begin = starts[tasks.lineno - 1] + tasks.col_offset + 1
        end = starts[(tasks.end_lineno or 1) - 1] + (tasks.end_col_offset or 1) - 1
        kept = [
            data[starts[node.lineno - 1] + node.col_offset : starts[node.end_lineno - 1] + node.end_col_offset]
            for index, node in enumerate(tasks.elts)
            if index in keep and node.end_lineno is not None and node.end_col_offset is not None
        ]
        listed = b"".join(b"\n    " + segment + b"," for segment in kept)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data[:begin] + listed + b"\n" + data[end:])

    def _envs(self) -> Path:
        folders = [self.root.joinpath(*parts) for parts in ENVS]
        return next((folder for folder in folders if any(folder.glob(f"*/{WIKI}"))), self.root)

    def _tasks_file(self, domain: str) -> Path | None:
        name, part = split_domain(domain)
        candidates = (self._envs() / name / file for file in _TASK_FILES.get(part, (f"tasks_{part}.py",)))
        return next((path for path in candidates if path.is_file()), None)

    def _tool_files(self, folder: Path) -> list[Path]:
        """List the tools in the order in which the benchmark offers them: that of ``ALL_TOOLS``."""
        files = {path.stem: path for path in sorted((folder / "tools").glob("*.py")) if path.stem != "__init__"}
        index = folder / "tools" / "__init__.py"
        if not index.is_file():
            return list(files.values())
        tree, _ = parse_source(index, self.name(index))
        modules = {
            alias.name: (node.module or "").rpartition(".")[2]
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        offered = [item.id for item in _elements(_assigned(tree, "ALL_TOOLS")) if isinstance(item, ast.Name)]
        return [files[modules[name]] for name in offered if modules.get(name) in files] or list(files.values())

    def _tool(self, domain: str, path: Path) -> ToolSpec:
        name = self.name(path)
        tree, text = parse_source(path, name)
        methods = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        documented = methods.get("get_info")
        returned = [node for node in ast.walk(documented) if isinstance(node, ast.Return)] if documented else []
        if not returned or returned[0].value is None:
            raise UnreadableDomainError(name, "expected a class whose get_info() returns the tool's description")
        try:
            value = literal(returned[0].value)
            tool = Tool.model_validate(value).function
        except ValidationError as error:
            raise UnreadableDomainError(name, explain(error, value)[1], line=returned[0].lineno) from error
        except ValueError as error:
            raise UnreadableDomainError(name, str(error), line=returned[0].lineno) from error
        invoke = methods.get("invoke")
        return ToolSpec(
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            effect=effect_of(domain, tool.name),
            implementation=signature_of(invoke, text, name, skip=("self", "data")) if invoke else None,
            origin=Origin(file=name, line=returned[0].lineno),
        )


def _task_list(tree: ast.Module, name: str) -> ast.List:
    """Find the list that the module assigns to a name such as TASKS, TASKS_TEST or tasks."""
    for variable in ("tasks", "tasks_test", "tasks_dev", "tasks_train"):
        value = _assigned(tree, variable)
        if isinstance(value, ast.List):
            return value
    raise UnreadableDomainError(name, "expected a list of Task(...) assigned to TASKS, TASKS_TEST or tasks")


def _assigned(tree: ast.Module, variable: str) -> ast.expr | None:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id.lower() == variable.lower() for target in targets):
                return node.value
    return None


def _child(node: ast.AST | None, token: str) -> ast.expr | None:
    """Step from a task into one of its parts by field name or list position."""
    if isinstance(node, ast.Call):
        return next((keyword.value for keyword in node.keywords if keyword.arg == token), None)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == token), None)
    elements = _elements(node)
    return elements[int(token)] if token.isdigit() and int(token) < len(elements) else None


def _elements(node: Any) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else []


def _place(file: str, task: ast.expr, pointer: str) -> Origin:
    """Point at the line of the deepest part of the task that the pointer reaches."""
    node = task
    for token in split(pointer):
        node = _child(node, token) or node
    return Origin(file=file, line=node.lineno)
