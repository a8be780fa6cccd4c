"""Where a τ²-bench checkout keeps the tasks, tools, policy and databases of a domain."""

import datetime
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from audit.sources.tau2.python_tools import read_python_tools
from audit.sources.tau_common.records import DomainUnreadable
from audit.sources.tau_common.tool_files import Effect, Tool, load_json, read_tools
from taxonomy.files import read_text
from taxonomy.record import Origin
from taxonomy.task import EnvironmentSpec, ToolSpec

DATA = (("data", "tau2", "domains"), ("tau2", "domains"), ("domains",), ())
"""Where the domains may stand below the folder that was opened."""
CODE = (("src", "tau2", "domains"), ("domains",))
"""Where their Python may stand below the checkout, or below the installed package."""
TASKS, SPLITS = "tasks.json", "split_tasks.json"
VARIANTS = {"telecom-workflow": ("telecom", "tech_support_workflow.md")}
"""Domains that share another's tasks and differ in the second half of the policy."""
NOT_BY_DEFAULT = ("mock", *VARIANTS)
"""Opened only by name: the benchmark's own test domain, and the variants."""
_EFFECTS: dict[str | None, Effect] = {"read": "read", "think": "read", "generic": "read", "write": "write"}


@dataclass(frozen=True)
class Domain:
    """What the tasks of a domain share."""

    environment: EnvironmentSpec
    """Tools, policy and databases."""
    origins: dict[str, Origin] = field(default_factory=dict)
    """Places of its parts, by JSON Pointer into a task."""


class Checkout:
    """Finds and reads the files that all tasks of a domain share."""

    def __init__(self, root: Path) -> None:
        """Open a checkout, or one of its folders ``data``, ``data/tau2``, ``data/tau2/domains``."""
        candidates = (root.joinpath(*parts) for parts in DATA)
        self.data = next((folder for folder in candidates if any(folder.glob(f"*/{TASKS}"))), root)
        whole = self.data.resolve()
        inside = whole.parts[-3:] == DATA[0]
        self.base = whole.parents[2] if inside else root
        self.data = whole if inside else self.data

    @cached_property
    def domains(self) -> list[str]:
        """Names of all domains that can be opened; empty when this is no checkout."""
        folders = [path.parent for path in sorted(self.data.glob(f"*/{TASKS}"))]
        plain = [folder.name for folder in folders if self._policy_files(folder.name)]
        return plain + [name for name, (base, file) in VARIANTS.items() if (self.data / base / file).is_file()]

    def tasks_file(self, domain: str) -> Path:
        """Return the path of the domain's list of tasks."""
        return self._folder(domain) / TASKS

    def default_split(self, domain: str) -> frozenset[str] | None:
        """Return the ids of the split ``base`` that the benchmark runs by default; None where there are no splits.

        Raises:
            DomainUnreadable: when the file of splits is malformed.
        """
        path = self._folder(domain) / SPLITS
        if not path.is_file():
            return None
        splits = load_json(path, self.name(path))
        base = splits.get("base") if isinstance(splits, dict) else None
        if not isinstance(base, list):
            raise DomainUnreadable(self.name(path), "expected an object with a list of task ids named 'base'")
        return frozenset(str(item) for item in base)

    def environment(self, domain: str) -> Domain:
        """Read tools, policy and databases.

        Raises:
            DomainUnreadable: when one of them is malformed, or a domain has no tools at all.
        """
        policies = self._policy_files(domain)
        tools = self._tools(domain, "tools")
        if not tools:
            expected = "tools.json beside the tasks, or tools.py below src/tau2/domains"
            raise DomainUnreadable(self.name(self._folder(domain)), f"no tools; expected {expected}")
        states = self._states(domain)
        environment = EnvironmentSpec(
            tools=tools,
            user_tools=self._tools(domain, "user_tools"),
            policy=_compose([self._text(path) for path in policies]),
            state=_combine({name: self._load(path) for name, path in states.items()}),
            state_name=", ".join(self.name(path) for path in states.values()) or None,
        )
        origins = {"/environment/policy": Origin(file=self.name(policies[0]))}
        for key, path in states.items():
            pointer = "/environment/state" if len(states) == 1 else f"/environment/state/{key}"
            origins[pointer] = Origin(file=self.name(path))
        return Domain(environment, origins)

    def files(self, domain: str) -> list[Path]:
        """List the files that a domain is read from, the tasks first."""
        folder = self._folder(domain)
        read = [self.tasks_file(domain), *self._policy_files(domain), *self._states(domain).values()]
        read += [folder / SPLITS] if (folder / SPLITS).is_file() else []
        for kind in ("tools", "user_tools"):
            exported = folder / f"{kind}.json"
            read += [exported] if exported.is_file() else self._code(domain, kind)
        return list(dict.fromkeys(read))

    def name(self, path: Path) -> str:
        """Name a file relative to the checkout."""
        return path.relative_to(self.base).as_posix()

    def _folder(self, domain: str) -> Path:
        return self.data / VARIANTS.get(domain, (domain, ""))[0]

    def _policy_files(self, domain: str) -> list[Path]:
        folder = self._folder(domain)
        second = VARIANTS.get(domain, ("", "tech_support_manual.md"))[1]
        for names in (["policy.md"], ["main_policy.md", second]):
            paths = [folder / name for name in names]
            if all(path.is_file() for path in paths):
                return paths
        return []

    def _states(self, domain: str) -> dict[str, Path]:
        """Return the databases by owner, named as in the tasks' ``env_type``: assistant, user."""
        found = {}
        for owner, stem in (("assistant", "db"), ("user", "user_db")):
            paths = (self._folder(domain) / f"{stem}{suffix}" for suffix in (".json", ".toml"))
            path = next((path for path in paths if path.is_file()), None)
            if path is not None:
                found[owner] = path
        return found

    def _tools(self, domain: str, kind: str) -> tuple[ToolSpec, ...]:
        exported = self._folder(domain) / f"{kind}.json"
        if exported.is_file():
            return read_tools(exported, self.name(exported), _effect)
        code = self._code(domain, kind)
        return read_python_tools(code, [self.name(path) for path in code]) if code else ()

    def _code(self, domain: str, kind: str) -> list[Path]:
        """List the Python file of the tools, then the files with the types that it uses."""
        name = VARIANTS.get(domain, (domain, ""))[0]
        folders = [self.base.joinpath(*parts, name) for parts in CODE]
        folder = next((folder for folder in folders if (folder / f"{kind}.py").is_file()), None)
        if folder is None:
            return []
        models = [folder / file for file in ("data_model.py", "user_data_model.py") if (folder / file).is_file()]
        return [folder / f"{kind}.py", *models]

    def _text(self, path: Path) -> str:
        try:
            return read_text(path)
        except (OSError, ValueError) as error:
            raise DomainUnreadable(self.name(path), f"cannot read the policy: {error}") from error

    def _load(self, path: Path) -> Any:
        if path.suffix == ".json":
            return load_json(path, self.name(path))
        try:
            return _plain(tomllib.loads(self._text(path)))
        except (ValueError, RecursionError) as error:
            raise DomainUnreadable(self.name(path), f"cannot read the file as TOML: {error}") from error


def _effect(tool: Tool) -> Effect:
    return _EFFECTS.get(tool.x_tool_type, "unknown")


def _compose(texts: list[str]) -> str:
    """Put the policy together as the benchmark does: telecom's two files are wrapped in tags."""
    if len(texts) == 1:
        return texts[0]
    main, support = texts
    return f"<main_policy>\n{main}\n</main_policy>\n<tech_support_policy>\n{support}\n</tech_support_policy>"


def _combine(states: dict[str, Any]) -> Any:
    """Return the only database itself, two of them by owner."""
    return next(iter(states.values()), None) if len(states) < 2 else states


def _plain(value: Any) -> Any:
    """Turn the dates of TOML into text, which is how the benchmark's JSON writes them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value
