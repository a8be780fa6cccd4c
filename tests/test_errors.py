"""Every error has a code of its own and says what to do; the page of the codes is that of the code."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard import errors
from agenthard.errors import BY_CODE, AgentHardError, SourceError
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError, ExitCode, error_message, exit_code
from agenthard.taxonomy.files import UnreadableFileError

ROOT = Path(__file__).parents[1]


def public_errors(kind: type[AgentHardError] = AgentHardError) -> set[type[AgentHardError]]:
    """All subclasses of ours that are imported, except private ones."""
    below = {found for child in kind.__subclasses__() for found in public_errors(child)}
    own = kind.__module__.startswith("agenthard.") and not kind.__name__.startswith("_")
    return below | ({kind} if own else set())


def defined_errors() -> set[str]:
    """Names of the public classes that our modules define and call errors with a code, imported or not."""
    found = set()
    for package in (
        "ace",
        "agency",
        "audit",
        "containment",
        "escape",
        "flows",
        "models",
        "play",
        "reports",
        "taxonomy",
    ):
        for path in (ROOT / package).rglob("*.py"):
            if "solutions" in path.parts:
                continue  # programs that are graded, not ours
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and any('"AH' in ast.unparse(s).replace("'", '"') for s in node.body):
                    found.add(node.name)
    return found


def test_every_error_has_a_code_of_its_own_and_a_remedy() -> None:
    for kind in public_errors():
        assert BY_CODE.get(vars(kind).get("code")) is kind, f"{kind}: give it a code of its own, and add it here"
        assert len(vars(kind).get("remedy", "")) > 20 and kind.__doc__, f"{kind}: say what to do in `remedy`"
    assert defined_errors() <= set(dir(errors))
    assert len(BY_CODE) == len(dir(errors)) - 1


@pytest.mark.parametrize("code", ["AH101", "AH507"])
def test_explain_documents_a_code(code: str) -> None:
    result = CliRunner().invoke(app, ["explain", code])
    assert result.exit_code == 0 and BY_CODE[code].__name__ in result.output and BY_CODE[code].remedy in result.output


def test_one_code_is_explained_without_importing_the_others() -> None:
    script = "import sys; from agenthard.errors import SourceError; print('agenthard.models.errors' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
    with pytest.raises(AttributeError, match="NoSuchError"):
        errors.NoSuchError  # noqa: B018


def test_the_page_is_that_of_the_code() -> None:
    page = CliRunner().invoke(app, ["explain", "errors", "--markdown"]).output
    assert (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8") == page


def test_an_unknown_code_is_refused() -> None:
    assert isinstance(CliRunner().invoke(app, ["explain", "AH999"]).exception, CommandError)


def test_messages_carry_the_code() -> None:
    assert error_message(SourceError("no tasks")) == "error AH101: no tasks"
    assert error_message(UnreadableFileError(Path("a"), "a socket")) == "error AH003: a socket: a"
    assert error_message(FileNotFoundError(2, "No such file", "a")) == "error: No such file: a"
    assert error_message(KeyError("a")).startswith("error: unexpected KeyError: 'a'. This is a defect of AgentHard")


def test_the_call_is_told_apart_from_the_surroundings() -> None:
    for kind in (CommandError, SourceError, UnreadableFileError, BY_CODE["AH201"], BY_CODE["AH802"]):
        assert exit_code(kind) == 64, kind
    for other in (OSError, KeyError, BY_CODE["AH102"], BY_CODE["AH504"], BY_CODE["AH805"], BY_CODE["AH806"]):
        assert exit_code(other) == 3, other


@pytest.mark.parametrize(
    "words",
    [
        ("audit", "--nonsense"),
        ("nonsense",),
        ("findings", ".", "--tier", "sure"),
        ("audit", "native", "no-such-folder"),
        ("audit", "no-such-source", "."),
        ("judge", "run", ".", "--judges", "none.yaml"),
        ("score", ".", "--labels", "none.jsonl"),
        ("leaderboard", "--matrix", "none.csv"),
        ("ace", "verify", "none"),
        ("fetch", "chess"),
        ("explain", "no-such-check"),
    ],
)
def test_a_call_that_has_to_change_ends_with_64(words: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agenthard", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 64, done.stderr
    assert done.stdout == "" and "Errno" not in done.stderr and "Traceback" not in done.stderr


def test_exit_codes_are_explained() -> None:
    shown = CliRunner().invoke(app, ["explain", "exit-codes", "--json"])
    assert sorted(map(int, json.loads(shown.output))) == sorted(ExitCode)
    page = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    assert all(f"\n| {int(code)} | " in page for code in ExitCode)
