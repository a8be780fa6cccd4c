"""The docs say what is true: generated pages are current, every id has its section, every command is described."""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from contextlib import chdir, suppress
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.audit.detectors.page import check_pages, pages_of_checks
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.sources.registry import sources
from agenthard.flows import command_table
from agenthard.flows.cli import app
from agenthard.flows.command_table import load_command
from agenthard.taxonomy.categories import load_taxonomy, taxonomy_page

with suppress(ImportError):  # it keeps the standard error that it meets, which must not be that of a test runner
    import_module("mcp.client.stdio")

ROOT = Path(__file__).parents[1]
COMMANDS = {
    f"{family} {name}".strip(): command
    for family, found in ((each, load_command(each)) for each in command_table.COMMANDS)
    for name, command in getattr(found, "commands", {"": found}).items()
}
"""All commands, those of a group as "GROUP NAME"."""
NOT_RUN = (
    "agency agreement",
    "agency tables",
    "align rate",
    "align rated",
    "demo",
    "faults plant",
    "fetch",
    "env create",
    "env remove",
    "env verify",
    "judge batch",
    "policy prompt",
    "policy propose",
    "policy check",
    "policy accept",
    "review",
    "schedule serve",
    "schedule deploy",
)
"""Commands whose example needs the released runs of AgencyBench (`agency tables`, `align rate` and `align rated`, which
tests/flows/agency runs), needs the package index, a provider or a benchmark's checkout (`env verify`,
which tests/audit/execution/tau/test_fidelity.py runs, and `policy`, which tests/flows/test_policy_rules.py runs), has
run already (demo, faults plant), serves until it is stopped (review, which tests/flows/review/web starts), or needs a
Prefect server (tests/flows/scheduling starts one)."""
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_generated_pages_are_current() -> None:
    assert (ROOT / "docs/taxonomy.md").read_text() == taxonomy_page(load_taxonomy(), pages_of_checks(detectors())), (
        "run `make docs`"
    )
    pages = check_pages(detectors())
    assert {path.name: path.read_text() for path in (ROOT / "docs/checks").iterdir()} == pages, "run `make docs`"


def test_checks_and_categories_name_each_other() -> None:
    categories = {category.id: category for category in load_taxonomy().categories}
    for detector in detectors():
        assert detector.id in categories[detector.category].checks, detector.id
        assert len(detector.__doc__ or "") > 200, f"{detector.id} has no documentation worth the name"
    known = {detector.id for detector in detectors()}
    assert [check for c in categories.values() for check in c.checks if check not in known] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_docs(name: str) -> None:
    text = (ROOT / "docs/commands.md").read_text()
    assert text.count(f"\n{'###' if ' ' in name else '##'} {name}\n") == 1


def test_every_source_has_its_page() -> None:
    assert [name for name in sources() if not (ROOT / f"docs/sources/{name}.md").is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


WALK_STEP = re.compile(
    r"`((?:agenthard|ace|agency|audit|containment|escape|flows|models|play|reports|taxonomy)/[\w/]+\.py)` `(\w+)`"
)
"""How a walk of the architecture page names a function: its file, then its name."""


def _defined(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


@pytest.mark.parametrize("walk", ["task", "verdict"])
def test_the_walks_name_functions_that_exist(walk: str) -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    text = page.partition(f"## The way of one {walk}\n")[2].partition("\n## ")[0]
    steps = re.split(r"\n(?=\d+\. )", text)[1:]
    assert 8 <= len(steps) <= 15
    for number, step in enumerate(steps, 1):
        assert step.startswith(f"{number}. ")
        named = WALK_STEP.findall(step)
        assert named, f"step {number} names no file with a function"
        for file, function in named:
            assert (ROOT / file).is_file(), f"step {number}: there is no {file}"
            assert function in _defined(ROOT / file), f"step {number}: {file} defines no {function}"


def _blocks(page: Path, language: str) -> list[str]:
    return [
        textwrap.dedent(code) for code in re.findall(rf"^ *```{language}\n(.*?)^ *```", page.read_text(), re.S | re.M)
    ]


def test_the_python_tutorial_runs_in_order(tmp_path: Path) -> None:
    code = "\n".join(_blocks(ROOT / "docs/tutorial-python.md", "python"))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


RUNNABLE = [page for page in PAGES if "<!-- run -->" in page.read_text()]


@pytest.mark.long
@pytest.mark.parametrize("page", RUNNABLE, ids=lambda p: p.stem)
def test_the_commands_of_tutorials_run(page: Path, demo_folder: Path, tmp_path: Path) -> None:
    text, folder = page.read_text(), shutil.copytree(demo_folder, tmp_path / "examples")
    for path, content in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", text, re.S):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    commands = re.findall(r"<!-- run -->\n+ *```\n(.*?)\n *```", text, re.S)
    for line in (line.strip() for command in commands for line in command.splitlines()):
        words = shlex.split(line)
        assert words[0] == "agenthard"
        if words[1] != "demo":  # the folder has run it already
            # 1 = defects were found, 2 = some task could not be checked: both are what the page says.
            assert _run(folder, words[1:]) in (0, 1, 2), line


@pytest.mark.long
def test_the_site_builds_without_warnings_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 50
    loaded = re.compile(r"<(?:script|img|iframe)[^>]* src=\"?https?:|<link[^>]*stylesheet[^>]*href=\"?https?:")
    assert [page.name for page in pages if loaded.search(page.read_text())] == []


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in ROOT.glob("docs/**/*.md")}
    assert listed - {"reference/options.md"} == {page for page in pages if not page.startswith("examples/")}


def _example(name: str) -> list[str]:
    """The command line in a command's help, after the word agenthard."""
    callback = COMMANDS[name].callback
    found = re.search(r"Example: `agenthard ([^`]+)`", " ".join((callback.__doc__ or "").split()))
    assert found, f"{name} has no example"
    return shlex.split(found.group(1))


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which some examples have run that others build on, with the example files of the docs."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(ROOT / "docs/examples", folder / "docs/examples")
    assert _run(folder, _example("demo")) == 0
    assert _run(folder, _example("ace generate")) == 0
    assert _run(folder, _example("evaluate")) == 0
    assert _run(folder, _example("escape generate")) == 0
    assert _run(folder, ["evaluate", "escape", "escape-suite", "--agent", "story", "--out", "escape-evaluation"]) == 0
    assert _run(folder, ["agency", "scenarios", "--out", "agency-suite"]) == 0
    shutil.copytree(folder / "agency-suite/research/solutions/reference/research-task1", folder / "work")
    assert _run(folder, _example("agency play")) == 0
    assert _run(folder, _example("faults plant")) == 0
    assert _run(folder, _example("judge export")) == 0
    _answer(folder / "requests.jsonl", folder / "answers.jsonl")
    return folder


def _answer(requests: Path, answers: Path) -> None:
    """Say of every task that it is sound."""
    verdict = {"reasoning": "", "outcome": "not_flawed", "because": "It agrees.", "issues": []}
    asked = [json.loads(line) for line in requests.read_text().splitlines()]
    answers.write_text("".join(json.dumps({"custom_id": a["custom_id"], "answer": verdict}) + "\n" for a in asked))


def test_the_readme_shows_what_is_printed(demo_folder: Path) -> None:
    shown = re.search(r"<!-- session: agenthard ([^>]+) -->\n```\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert shown
    command = [sys.executable, "-m", "agenthard", *shlex.split(shown.group(1))]
    environment = {**os.environ, "PREFECT_HOME": str(demo_folder / "prefect")}
    done = subprocess.run(command, cwd=demo_folder, env=environment, capture_output=True, text=True, check=True)
    printed = {line.rstrip() for line in done.stdout.splitlines()}
    assert [line for line in shown.group(2).splitlines() if line.rstrip() not in printed] == []


def test_the_docs_show_a_whole_prompt(demo_folder: Path) -> None:
    page = (ROOT / "docs/judge-prompt.md").read_text()
    shown = re.search(r"<!-- prompt: agenthard ([^>]+) -->\n+````\n(.*?)````", page, re.S)
    assert shown
    command = [sys.executable, "-m", "agenthard", *shlex.split(shown.group(1))]
    done = subprocess.run(command, cwd=demo_folder, capture_output=True, text=True, check=True)
    assert shown.group(2).rstrip() == "\n".join(line.rstrip() for line in done.stdout.splitlines()).rstrip()


def _run(folder: Path, arguments: list[str]) -> int:
    """Run a command in a folder, in this process: the imports of 150 commands take longer than most of their work."""
    homes = {"PREFECT_HOME": str(folder / "prefect"), "AGENTHARD_HOME": str(folder / "managed")}
    with chdir(folder):
        # Standard input is empty, so that what serves until its client is gone ends at once.
        done = CliRunner().invoke(app, arguments, env=homes)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in NOT_RUN])
def test_every_example_runs(name: str, demo_folder: Path) -> None:
    # 1 = defects were found: the demo benchmark has some, on purpose.
    assert _run(demo_folder, _example(name)) in (0, 1)


def test_the_threat_model_names_tests_that_exist() -> None:
    text = (ROOT / "docs/threat-model.md").read_text()
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", text))
    assert len(named) > 20
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []
    for entry in text.partition("## Entry points")[2].split("\n### ")[1:]:
        assert "*Not protected*" in entry and "*Contained by*" in entry, entry.splitlines()[0]
