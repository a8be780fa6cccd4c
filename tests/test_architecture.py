"""The rules of the house: who imports whom, no cycles, and a command line that answers at once."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "taxonomy": {"taxonomy"},
    "models": {"models", "taxonomy"},
    "containment": {"containment", "taxonomy"},
    "audit": {"audit", "containment", "models", "taxonomy"},
    "reports": {"reports", "audit", "taxonomy"},
    "play": {"play", "models", "taxonomy"},
    "ace": {"ace", "audit", "containment", "models", "play", "taxonomy"},
    "agency": {"agency", "audit", "containment", "models", "play", "taxonomy"},
    "escape": {"escape", "audit", "containment", "models", "play", "taxonomy"},
    "flows": {"flows", "reports", "audit", "ace", "agency", "containment", "escape", "models", "play", "taxonomy"},
}
HEAVY = ("prefect", "pandas", "sklearn", "scipy", "openai", "google.genai", "torch", "pyarrow", "altair", "vl_convert")


def modules(package: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        if "solutions" in path.parts:  # programs that are graded, some of them broken on purpose
            continue
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        yield f"agenthard.{name}", path


def package_of(module: str) -> str | None:
    root, _, rest = module.partition(".")
    return rest.split(".")[0] if root == "agenthard" else None


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements that can run: those in functions too, and not those for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from statements(child)


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that import statements among some nodes name."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@cache
def imports(path: Path, *, types: bool = True) -> set[str]:
    """Names that a module imports, in functions too; `types` says whether imports for type checkers count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return names_in(ast.walk(tree) if types else statements(tree))


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_go_downward_only(package: str) -> None:
    allowed = MAY_IMPORT[package]
    wrong = [
        f"{name} imports {target}"
        for name, path in modules(package)
        for target in imports(path)
        if package_of(target) in MAY_IMPORT and package_of(target) not in allowed
    ]
    assert wrong == []


def cycle_in(graph: Mapping[str, Set[str]]) -> str | None:
    """Return the first cycle of a graph, in words."""
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> str | None:
        if name in trail:
            return " -> ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for target in sorted(graph[name]):
                if found := visit(target, (*trail, name)):
                    return found
            done.add(name)
        return None

    return next(filter(None, (visit(name, ()) for name in graph)), None)


def test_no_import_cycle() -> None:
    known = {name: path for package in MAY_IMPORT for name, path in modules(package)}
    # A package's __init__ gathers its own modules; that is not a cycle between concepts.
    graph = {
        name: {
            other for other in imports(path, types=False) & known.keys() - {name} if not name.startswith(f"{other}.")
        }
        for name, path in known.items()
    }
    assert cycle_in(graph) is None


def on_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements that run when a module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from on_import(child)


def test_every_module_can_be_the_first_that_is_imported() -> None:
    """A module is imported after the packages that hold it, so what their __init__ gathers must not need the module."""
    known = {name: path for package in MAY_IMPORT for name, path in modules(package)}
    graph = {}
    for name, path in known.items():
        named = names_in(on_import(ast.parse(path.read_text(encoding="utf-8")))) & known.keys()
        holders = {holder for target in named for holder in known if target.startswith(f"{holder}.")}
        graph[name] = {other for other in named | holders if other != name and not name.startswith(f"{other}.")}
    assert cycle_in(graph) is None


def test_the_figures_of_an_evaluation_can_be_imported_first() -> None:
    command = [sys.executable, "-P", "-c", "import agenthard.reports.figures.evaluation.heat"]
    subprocess.run(command, check=True)


CALL = """
import sys
from agenthard.flows.cli import main
try:
    main()
finally:
    print("imported:", [name for name in {names!r} if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        (("--help",), (*HEAVY, "pydantic", "numpy", "agenthard.flows.commands.audit")),
        (("audit", "--help"), (*HEAVY, "pydantic", "numpy", "agenthard.flows.commands.report")),
        (("checks",), ("prefect", "pandas", "sklearn", "openai", "google.genai", "torch", "altair", "vl_convert")),
    ],
)
def test_a_command_imports_nothing_heavy_that_it_does_not_use(words: tuple[str, ...], absent: tuple[str, ...]) -> None:
    command = [sys.executable, "-P", "-c", CALL.format(names=absent), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported: []"


def test_our_code_is_imported_by_its_installed_name_only() -> None:
    packages = (*MAY_IMPORT, "tests", "perf")
    wrong = [
        f"{path.relative_to(ROOT)} imports {target}"
        for package in packages
        for _, path in modules(package)
        for target in imports(path)
        if target.split(".")[0] in MAY_IMPORT
    ]
    assert wrong == []


ELSEWHERE = {
    "agenthard.agency": "agencybench",
    "agenthard.audit.execution.bfcl": "bfcl",
    "agenthard.audit.execution.tau": "tau",
    "agenthard.flows.commands.sources": "mapping",
}
"""Who uses a source by its module: measures and environments of the same benchmark, and `agenthard sources infer`."""


def test_sources_do_not_import_each_other() -> None:
    prefix = "agenthard.audit.sources."
    folder = ROOT / "audit" / "sources"
    sources = {path.stem for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"}
    sources -= {"__init__", "__pycache__", "templates", "base", "formats", "registry", "fetch", "skeleton", "unread"}
    wrong = []
    for package in MAY_IMPORT:
        for name, path in modules(package):
            own = name.removeprefix(prefix).split(".")[0] if name.startswith(prefix) else None
            allowed = {own, *(source for user, source in ELSEWHERE.items() if f"{name}.".startswith(f"{user}."))}
            for target in imports(path):
                source = target.removeprefix(prefix).split(".")[0]
                if target.startswith(prefix) and source in sources - allowed:
                    wrong.append(f"{name} imports {target}")
    assert wrong == []
