"""The resume key covers the code that an audit uses, and nothing else."""

import ast
import shutil
from pathlib import Path

import pytest

from agenthard.flows import resume_key
from agenthard.flows.resume_key import CHECKING, code_files, code_hash, imports

ROOT = Path(__file__).parents[2]
PACKAGES = ("ace", "audit", "containment", "flows", "models", "reports", "taxonomy")
BFCL = (*CHECKING, "agenthard.audit.sources.bfcl.source", *resume_key._registered(("bfcl",)))
ACE = (*CHECKING, "agenthard.ace.source", *resume_key._registered(("ace",)))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("code")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def files(root: Path, roots: tuple[str, ...]) -> dict[str, bytes]:
    return code_files(roots, {"agenthard": [str(root)]})


def changes(copy: Path, roots: tuple[str, ...], touched: str) -> bool:
    """Tell whether an edit of a file changes what the key covers."""
    path = copy / touched
    before, content = files(copy, roots), path.read_bytes()
    path.write_bytes(content + b"\n# edited\n")
    try:
        return files(copy, roots) != before
    finally:
        path.write_bytes(content)


def any_of(folder: str) -> str:
    """Return a module of a folder: the key must not depend on which."""
    found = sorted(path for path in (ROOT / folder).rglob("*.py") if path.name != "__init__.py")
    return found[len(found) // 2].relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "folder", ["audit/judge", "ace/agents", "audit/faults", "audit/decisions", "reports", "models"]
)
def test_what_a_bfcl_audit_does_not_use_leaves_its_key_alone(copy: Path, folder: str) -> None:
    assert not changes(copy, BFCL, any_of(folder))


@pytest.mark.parametrize(
    "used",
    [
        "audit/detectors/ground_truth/call_schema.py",
        "audit/sources/bfcl/tasks.py",
        "audit/execution/bfcl/script.py",
        "containment/inside/seccomp.py",
        "audit/statistics/intervals.py",
        "taxonomy/task.py",
    ],
)
def test_what_a_bfcl_audit_uses_changes_its_key(copy: Path, used: str) -> None:
    assert changes(copy, BFCL, used)


def test_the_source_decides_whether_ace_counts(copy: Path) -> None:
    assert changes(copy, ACE, "ace/proof/verify.py") and changes(copy, ACE, "ace/domains/course.py")
    assert not any(name.startswith("agenthard.ace") for name in files(copy, BFCL))
    assert not any(name.startswith("agenthard.ace.agents") for name in files(copy, ACE))


def test_names_of_files_and_lazy_names_are_followed(tmp_path: Path) -> None:
    package = tmp_path / "mine"
    (package / "lazy").mkdir(parents=True)
    texts = {
        "__init__.py": "",
        "check.py": "from mine.lazy import used\nRULES = HERE / 'rules.yaml'\nWORKER = 'worker.py'\n",
        "lazy/__init__.py": (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mine.lazy.one import used\n"
            "    from mine.lazy.two import unused\n\n\ndef __getattr__(name): ...\n"
        ),
        "lazy/one.py": "",
        "lazy/two.py": "",
        "rules.yaml": "",
        "worker.py": "import neighbour\n",
        "neighbour.py": "from .lazy import (\n    two,  # a comment\n)\n",
        "other.py": "",
    }
    for name, text in texts.items():
        (package / name).write_text(text)
    found = code_files(("mine.check",), {"mine": [str(package)]})
    names = {"check.py", "rules.yaml", "worker.py", "neighbour.py"}
    assert {name.removeprefix("mine ") for name in found if not name.startswith("mine.lazy")} == names
    assert {name for name in found if name.startswith("mine.lazy")} == {
        f"mine.lazy {name}" for name in ("__init__.py", "one.py", "two.py")
    }
    (package / "neighbour.py").write_text("")
    assert "mine.lazy two.py" not in code_files(("mine.check",), {"mine": [str(package)]})


def test_imports_are_those_that_python_parses() -> None:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            nodes = list(ast.walk(ast.parse(text)))
            expected = {(n.module, a.name) for n in nodes if isinstance(n, ast.ImportFrom) for a in n.names}
            expected |= {(a.name, "") for n in nodes if isinstance(n, ast.Import) for a in n.names}
            found = {(module, name) for module, names in imports(text, "") for name in names or [""]}
            missed = {pair for pair in expected - found if str(pair[0]).startswith("agenthard")}
            assert not missed, path


def test_equal_code_has_an_equal_hash() -> None:
    before = code_hash(BFCL)
    code_hash.cache_clear()
    assert code_hash(BFCL) == before != code_hash(ACE)
