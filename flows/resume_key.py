"""The resume key: a hash of all that a finished shard depends on, so that an audit continues only its own work.

It covers the benchmark, the runs, the options, and the code that reads the benchmark and checks it. What decides and
reports afterwards runs again on every start, so it is not part of the key. Which files that code is made of is read
from the files themselves: the checks, the source and the environments are the roots, and every import and every file
name in them is followed. An edit to a judge or a report leaves the key alone.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from importlib.metadata import version as package_version
from importlib.util import find_spec
from pathlib import Path

from agenthard.audit.detectors import registry as checks
from agenthard.audit.execution import registry as environments
from agenthard.audit.execution.checkout import code_version
from agenthard.audit.execution.policy.checker import GROUP as POLICIES
from agenthard.audit.execution.registry import CHECKOUTS
from agenthard.audit.execution.registry import GROUP as ENVIRONMENTS
from agenthard.audit.plugins import Plugin, installed_plugins, plugins
from agenthard.audit.sources.base import Source, Version, hash_files
from agenthard.audit.sources.fetch import fetched
from agenthard.audit.sources.registry import BUILT_IN as SOURCE_NAMES
from agenthard.audit.sources.registry import GROUP as SOURCES

CHECKING = (
    "agenthard.audit.shards",
    "agenthard.audit.detectors.registry",
    "agenthard.audit.leaderboard",
    "agenthard.audit.sources.formats.runs",
)
"""Modules that every audit uses before anything is decided."""

_TYPES_ONLY = re.compile(r"^if TYPE_CHECKING:\n(?:(?:[ \t].*)?\n)+", re.MULTILINE)
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)|import[ \t]+([^\n#]+))", re.MULTILINE
)
_COMMENT = re.compile(r"#[^\n]*")
_DATA = re.compile(r"""["']([\w./*{}-]+\.(?:py|yaml|yml|json|jsonl|csv|txt|j2))["']""")
_WORD = re.compile(r"""["'](\w+)["']""")
_BY_NAME = re.compile(r"""import_module\((?:["']([\w.]+)["']|f["'](\{__name__\}))""")
_RESOURCES = re.compile(r"""files\(["']([\w.]+)["']\)""")


def run_key(version: Version, *, options: Sequence[str], runs: Sequence[str], checks: str) -> str:
    """Hash all that the results of the checks depend on: the first 16 hexadecimal digits of a SHA-256.

    Args:
        version: Release of the benchmark.
        options: Words that choose tasks and runs.
        runs: Files or folders of runs.
        checks: The part that does not depend on the tasks (`checks_key`).
    """
    total = hashlib.sha256(f"{version.label} {version.content_hash}\n{options}\n{checks}\n".encode())
    for path in map(Path, runs):
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        root = path if path.is_dir() else path.parent
        total.update(f"{hash_files(root, files, 'runs').content_hash if path.exists() else 'absent'}\n".encode())
    return total.hexdigest()[:16]


def checks_key(
    source: type[Source],
    *,
    benchmarks: Collection[str],
    selected: Sequence[str],
    checkout: str | None,
    weak_isolation: bool,
    experimental: bool,
    policy_rules: str | None = None,
) -> str:
    """Hash what the results of the checks depend on besides tasks and runs: a SHA-256.

    Args:
        source: Class that reads the benchmark.
        benchmarks: Benchmarks that the tasks name; their environments execute them.
        selected: Ids of the checks, where the user chose them; empty = all.
        checkout: Folder with the benchmark's own code.
        weak_isolation: Whether benchmark code is executed with weak isolation.
        experimental: Whether experimental checks run.
        policy_rules: File of accepted rules for the agent's policy.
    """
    total = hashlib.sha256(f"{package_version('agenthard')}\n{source.name}\n{list(selected)}\n".encode())
    if checkout:
        total.update(f"checkout {code_version(Path(checkout).resolve())}\n".encode())
    if weak_isolation:
        total.update(b"weak isolation\n")
    if experimental:
        total.update(b"experimental checks\n")
    if policy_rules:
        total.update(f"rules {hashlib.sha256(Path(policy_rules).read_bytes()).hexdigest()}\n".encode())
    total.update(f"installed {[item.version for item in fetched(source.name)]}\n".encode())
    total.update(checking_code(source, benchmarks).encode())
    return total.hexdigest()


def checking_code(source: type[Source], benchmarks: Collection[str]) -> str:
    """Hash the code of all checks, of a source, and of the environments of some benchmarks."""
    names = tuple(sorted({source.name, *benchmarks}))
    return code_hash((*CHECKING, source.__module__, *_registered(names)))


def _registered(benchmarks: tuple[str, ...]) -> Iterator[str]:
    """Yield the modules of the environments of some benchmarks, and of the checks that other packages bring.

    A check that lies in the package of a source, as ACE-Bench's does, counts only for the benchmark of that source.
    """
    for group in (ENVIRONMENTS, CHECKOUTS):
        known = plugins(group, environments.BUILT_IN[group])
        yield from sorted(_module(plugin) for name, plugin in known.items() if name in benchmarks)
    elsewhere = [
        _package(_module(each)) for name, each in plugins(SOURCES, SOURCE_NAMES).items() if name not in benchmarks
    ]
    offered = [*plugins(checks.GROUP, checks.BUILT_IN).values(), *installed_plugins(POLICIES)]
    for module in sorted(map(_module, offered)):
        if not any(module.startswith(f"{package}.") for package in elsewhere):
            yield module


def _module(plugin: Plugin) -> str:
    return plugin.target.partition(":")[0]


def _package(module: str) -> str:
    """Return the package that a module is, or that it lies in, without importing it; "" where there is none."""
    try:
        found = find_spec(module)
    except ImportError:  # the package that should contain it cannot be imported
        return ""
    return (found.parent or "") if found else ""


@lru_cache(maxsize=8)
def code_hash(roots: tuple[str, ...]) -> str:
    """Hash the code that some modules consist of, with everything of their packages that they import or read."""
    total = hashlib.sha256()
    for name, content in sorted(code_files(roots).items()):
        total.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return total.hexdigest()


def code_files(roots: Sequence[str], folders: dict[str, list[str]] | None = None) -> dict[str, bytes]:
    """Read the files that some modules consist of, by package and name: equal wherever they are installed.

    Args:
        roots: Dotted names of modules.
        folders: Folders of packages, by the name of the package; default: where Python finds them.
    """
    finder = _CodeFinder(folders or {name: _folders(name) for name in {root.partition(".")[0] for root in roots}})
    for root in roots:
        finder.add_module(root)
    return finder.files


@cache
def _folders(package: str) -> list[str]:
    found = find_spec(package)
    return list(found.submodule_search_locations or ()) if found else []


class _CodeFinder:
    """Follows imports and names of files from module to module, within some packages.

    The text is searched with regular expressions: syntax trees of some 300 modules would take a second.
    """

    def __init__(self, folders: dict[str, list[str]]) -> None:
        self._folders = folders
        self._found: dict[str, str | None] = {}
        self._entries: dict[str, frozenset[str]] = {}
        self._added: set[str] = set()
        self.files: dict[str, bytes] = {}

    def add_module(self, name: str) -> None:
        """Add a module with all that it imports, and the packages that contain it."""
        parts = name.split(".")
        for length in range(2, len(parts) + 1):  # the package at the top only leads to the others
            module = ".".join(parts[:length])
            path = self._find(module)
            if path is not None:
                self._add_file(path, module if path.endswith("__init__.py") else ".".join(parts[: length - 1]))

    def _add_file(self, path: str, package: str) -> None:
        if path in self._added:
            return
        self._added.add(path)
        content = Path(path).read_bytes()
        self.files[f"{package} {os.path.basename(path)}"] = content
        if not path.endswith(".py"):
            return
        text = content.decode("utf-8")
        for module, names in imports(_TYPES_ONLY.sub("\n", text), package):
            self._follow(module, names, path, package)
        for module, own in _BY_NAME.findall(text):
            if module:
                self._follow(module, (), path, package)
            elif own:  # any module of the package
                self._add_data("*.py", [os.path.dirname(path)], package)
        folder = os.path.dirname(path)
        named = sorted(set(_WORD.findall(text)) & self._listed(folder))  # folders next to the module that it names
        homes = [folder, *map(self._home, _RESOURCES.findall(text)), *(os.path.join(folder, name) for name in named)]
        for name in _DATA.findall(text):
            self._add_data(name, homes, package)

    def _follow(self, module: str, names: Sequence[str], path: str, package: str) -> None:
        if module.partition(".")[0] not in self._folders:
            if f"{module}.py" in self._listed(os.path.dirname(path)):
                # A script that runs by its path imports the files next to it by their bare names.
                self._add_file(os.path.join(os.path.dirname(path), f"{module}.py"), package)
            return
        self.add_module(module)
        for name in names:
            if self._find(f"{module}.{name}") is not None:
                self.add_module(f"{module}.{name}")
            else:
                self._follow_lazy(module, name)

    def _follow_lazy(self, module: str, name: str) -> None:
        """Follow a name that a package loads on first use: it says where from for type checkers alone."""
        path = self._find(module)
        text = self.files.get(f"{module} __init__.py", b"") if path and path.endswith("__init__.py") else b""
        if b"def __getattr__" in text:
            for origin, names in imports(text.decode("utf-8"), module):
                if name in names:
                    self.add_module(origin)

    def _add_data(self, name: str, homes: Sequence[str], package: str) -> None:
        """Add the files of a name, or of a pattern such as ``*.yaml``, in the folders that a module reads."""
        suffix = os.path.splitext(name)[1]
        for home in homes:
            wanted = [e for e in self._listed(home) if e.endswith(suffix)] if set("*{") & set(name) else [name]
            for each in sorted(wanted):
                path = os.path.normpath(os.path.join(home, each))
                if os.path.basename(each) in self._listed(os.path.dirname(path)):
                    self._add_file(path, package)

    def _home(self, package: str) -> str:
        return os.path.dirname(self._find(package) or "")

    def _find(self, module: str) -> str | None:
        if module not in self._found:
            top, *rest = module.split(".")
            places = (os.path.join(folder, *rest) for folder in self._folders.get(top, ()))
            self._found[module] = next(filter(None, map(self._file_of, places)), None)
        return self._found[module]

    def _file_of(self, place: str) -> str | None:
        folder, name = os.path.split(place)
        if f"{name}.py" in self._listed(folder):
            return f"{place}.py"
        return os.path.join(place, "__init__.py") if "__init__.py" in self._listed(place) else None

    def _listed(self, folder: str) -> frozenset[str]:
        if folder not in self._entries:
            try:
                self._entries[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._entries[folder] = frozenset()
        return self._entries[folder]


def imports(text: str, package: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the modules that Python code imports, each with the names it takes from it.

    Args:
        text: The code.
        package: Package that relative imports start from.
    """
    for match in _IMPORT.finditer(text):
        module, names, plain = match.groups()
        if plain is not None:
            for part in plain.split(","):
                yield part.split(" as ")[0].strip(), []
            continue
        if module.startswith("."):
            level = len(module) - len(module.lstrip("."))
            parts = package.split(".")
            module = ".".join([*parts[: len(parts) - level + 1], *filter(None, [module.lstrip(".")])])
        listed = _COMMENT.sub("", names).strip("() \t\n").split(",")
        yield module, [part.split(" as ")[0].strip() for part in listed if part.strip()]
