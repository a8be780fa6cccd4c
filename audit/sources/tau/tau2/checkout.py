"""Where a τ²-bench checkout keeps the tasks, tools, policy and databases of a domain."""

import datetime
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from agenthard.audit.sources.tau.records import UnreadableDomainError
from agenthard.audit.sources.tau.tau2 import knowledge
from agenthard.audit.sources.tau.tau2.python_tools import read_python_tools
from agenthard.audit.sources.tau.tool_files import Effect, Tool, load_json, read_tools
from agenthard.taxonomy.files import read_text
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import EnvironmentSpec, ToolSpec

DATA = (("data", "tau2", "domains"), ("tau2", "domains"), ("domains",), ())
"""Where the domains can be below the folder that was opened."""
CODE = (("src", "tau2", "domains"), ("domains",))
"""Where their Python can be below the checkout, or below the installed package."""
TASKS, SPLITS = "tasks.json", "split_tasks.json"
SINGLE = "tasks/task_*.json"
"""Where a domain keeps each task in its own file; a ``tasks.json`` next to them is then not what runs."""
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
        self.data = next((folder for folder in candidates if _task_folders(folder)), root)
        whole = self.data.resolve()
        inside = whole.parts[-3:] == DATA[0]
        self.base = whole.parents[2] if inside else root
        self.data = whole if inside else self.data

    @cached_property
    def domains(self) -> list[str]:
        """Names of all domains that can be opened; empty when this is not a checkout."""
        plain = [folder.name for folder in _task_folders(self.data) if self._has_policy(folder)]
        return plain + [name for name, (base, file) in VARIANTS.items() if (self.data / base / file).is_file()]

    def task_files(self, domain: str) -> list[Path]:
        """Return the files with the domain's tasks: its list, or one file per task."""
        folder = self.folder(domain)
        return sorted(folder.glob(SINGLE)) or [folder / TASKS]

    def listed(self, file: Path) -> bool:
        """Tell whether a file of tasks holds a list; else it is one task."""
        return file.name == TASKS

    def default_split(self, domain: str) -> frozenset[str] | None:
        """Return the ids of the split ``base`` that the benchmark runs by default; None without splits.

        Raises:
            UnreadableDomainError: when the file of splits is malformed.
        """
        path = self.folder(domain) / SPLITS
        if not path.is_file():
            return None
        splits = load_json(path, self.name(path))
        base = splits.get("base") if isinstance(splits, dict) else None
        if not isinstance(base, list):
            raise UnreadableDomainError(self.name(path), "expected an object with a list of task ids named 'base'")
        return frozenset(str(item) for item in base)

    def environment(self, domain: str) -> Domain:
        """Read tools, policy and databases.

        Raises:
            UnreadableDomainError: when one of them is malformed, or a domain has no tools.
        """
        policies, policy = self._policy_files(domain), self._policy(domain)
        tools = self._tools(domain, "tools", policy)
        if not tools:
            expected = "tools.json next to the tasks, or tools.py below src/tau2/domains"
            raise UnreadableDomainError(self.name(self.folder(domain)), f"no tools; expected {expected}")
        states = self._states(domain)
        environment = EnvironmentSpec(
            tools=tools,
            user_tools=self._tools(domain, "user_tools", policy),
            policy=policy,
            state=self.state(domain),
            state_name=", ".join(self.name(path) for path in states.values()) or None,
        )
        origins = {"/environment/policy": Origin(file=self.name(policies[0]))}
        for key, path in states.items():
            pointer = "/environment/state" if len(states) == 1 else f"/environment/state/{key}"
            origins[pointer] = Origin(file=self.name(path))
        if knowledge.document_files(self.folder(domain)):
            documents = self.folder(domain) / knowledge.DOCUMENTS
            origins["/environment/state/documents"] = Origin(file=self.name(documents))
        return Domain(environment, origins)

    def state(self, domain: str) -> Any:
        """Read the databases; documents that the agent's tools search become one more table.

        Raises:
            UnreadableDomainError: when one of them is malformed.
        """
        state = _combine({name: self._load(path) for name, path in self._states(domain).items()})
        folder = self.folder(domain)
        documents = knowledge.read_documents(folder, self.name(folder))
        return {**(state or {}), "documents": documents} if documents else state

    def files(self, domain: str) -> list[Path]:
        """List the files that a domain is read from, the tasks first."""
        folder = self.folder(domain)
        policies = sorted((folder / knowledge.PROMPTS).rglob("*.md")) if self._prompts(domain) else []
        policies = policies or self._policy_texts(domain)
        read = [*self.task_files(domain), *policies, *self._states(domain).values()]
        read += [folder / SPLITS] if (folder / SPLITS).is_file() else []
        read += knowledge.document_files(folder)
        for kind in ("tools", "user_tools"):
            exported = folder / f"{kind}.json"
            read += [exported] if exported.is_file() else self._code(domain, kind)
        retrieval = [self._find_file(domain, name) for name in (knowledge.RETRIEVAL, knowledge.MIXINS)]
        read += [path for path in retrieval if path is not None and self._prompts(domain)]
        return list(dict.fromkeys(read))

    def name(self, path: Path) -> str:
        """Name a file relative to the checkout."""
        return path.relative_to(self.base).as_posix()

    def folder(self, domain: str) -> Path:
        """Return the folder of a domain's data."""
        return self.data / VARIANTS.get(domain, (domain, ""))[0]

    def _has_policy(self, folder: Path) -> bool:
        return bool(self._policy_texts(folder.name)) or (folder / knowledge.PROMPTS).is_dir()

    def _policy_texts(self, domain: str) -> list[Path]:
        folder = self.folder(domain)
        second = VARIANTS.get(domain, ("", "tech_support_manual.md"))[1]
        for names in (["policy.md"], ["main_policy.md", second]):
            paths = [folder / name for name in names]
            if all(path.is_file() for path in paths):
                return paths
        return []

    def _policy_files(self, domain: str) -> list[Path]:
        """List the files of the policy; of a composed prompt, its template and components."""
        if not self._prompts(domain):
            return self._policy_texts(domain)
        return knowledge.prompt_files(self.folder(domain), self._template(domain))

    def _policy(self, domain: str) -> str:
        if not self._prompts(domain):
            return _compose([self._text(path) for path in self._policy_texts(domain)])
        folder = self.folder(domain)
        return knowledge.compose_prompt(folder, self._template(domain), self.name(folder))

    def _prompts(self, domain: str) -> bool:
        """Tell whether a domain has prompts instead of a policy."""
        return not self._policy_texts(domain) and (self.folder(domain) / knowledge.PROMPTS).is_dir()

    def _template(self, domain: str) -> str:
        code = self._find_file(domain, knowledge.RETRIEVAL)
        if code is None:
            folder = self.name(self.folder(domain))
            expected = f"{knowledge.RETRIEVAL} below src/tau2/domains, which names the default"
            raise UnreadableDomainError(folder, f"prompts, and nothing tells which one; expected {expected}")
        return knowledge.default_template(code, self.name(code))

    def _states(self, domain: str) -> dict[str, Path]:
        """Return the databases by owner, named as in the tasks' ``env_type``: assistant, user."""
        found = {}
        for owner, stem in (("assistant", "db"), ("user", "user_db")):
            paths = (self.folder(domain) / f"{stem}{suffix}" for suffix in (".json", ".toml"))
            path = next((path for path in paths if path.is_file()), None)
            if path is not None:
                found[owner] = path
        return found

    def _tools(self, domain: str, kind: str, policy: str) -> tuple[ToolSpec, ...]:
        """Read the tools of the agent or of the user; of those that search documents the ones that the prompt names."""
        exported = self.folder(domain) / f"{kind}.json"
        if exported.is_file():
            return read_tools(exported, self.name(exported), _effect)
        code = self._code(domain, kind)
        both = bool(code) and code[0].name == "tools.py"
        of_user = kind == "user_tools" if both else None
        tools = read_python_tools(code, [self.name(path) for path in code], of_user) if code else ()
        searching = self._find_file(domain, knowledge.MIXINS) if kind == "tools" and self._prompts(domain) else None
        if searching is not None:
            read = read_python_tools([searching], [self.name(searching)])
            tools += tuple(tool for tool in read if knowledge.named_in(policy, tool.name))
        return tools

    def _code(self, domain: str, kind: str) -> list[Path]:
        """List the Python file of the tools, then the files with the types that it uses."""
        found = self._find_file(domain, f"{kind}.py") or self._find_file(domain, "tools.py")
        if found is None:
            return []
        models = [found.with_name(file) for file in ("data_model.py", "user_data_model.py")]
        return [found, *(path for path in models if path.is_file())]

    def _find_file(self, domain: str, file: str) -> Path | None:
        """Return a file of the folder with a domain's Python, if it exists."""
        name = VARIANTS.get(domain, (domain, ""))[0]
        paths = (self.base.joinpath(*parts, name, file) for parts in CODE)
        return next((path for path in paths if path.is_file()), None)

    def _text(self, path: Path) -> str:
        try:
            return read_text(path)
        except (OSError, ValueError) as error:
            raise UnreadableDomainError(self.name(path), f"cannot read the policy: {error}") from error

    def _load(self, path: Path) -> Any:
        if path.suffix == ".json":
            return load_json(path, self.name(path))
        try:
            return _plain(tomllib.loads(self._text(path)))
        except (ValueError, RecursionError) as error:
            raise UnreadableDomainError(self.name(path), f"cannot read the file as TOML: {error}") from error


def _task_folders(data: Path) -> list[Path]:
    """List the folders of domains that hold tasks."""
    lists = {path.parent for path in data.glob(f"*/{TASKS}")}
    return sorted(lists | {path.parent.parent for path in data.glob(f"*/{SINGLE}")})


def _effect(tool: Tool) -> Effect:
    return _EFFECTS.get(tool.x_tool_type, "unknown")


def _compose(texts: list[str]) -> str:
    """Compose the policy as the benchmark does: telecom's two files are wrapped in tags."""
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
