"""Messages on standard error: progress where there is no terminal, levels, JSON."""

import io
import json
import threading

import pytest
from rich.console import Console
from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.flows.logs import configure, log
from agenthard.flows.progress import current, show_progress


@pytest.fixture(autouse=True)
def usual_messages() -> None:
    configure(as_json=False)


def lines_of(job: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Show progress without a terminal until a line has been written."""
    written = threading.Event()
    emit = log.handlers[0].emit

    def emitted(record: object) -> None:
        emit(record)  # type: ignore[arg-type]
        written.set()

    log.handlers[0].emit = emitted  # type: ignore[method-assign, assignment]
    with show_progress(Console(file=io.StringIO()), interval=0.001):
        current().start(job, total=4_441)
        current().advance(1_200)
        assert written.wait(60)
    return capsys.readouterr().err


def test_without_a_terminal_lines_say_how_far_a_job_is(capsys: pytest.CaptureFixture[str]) -> None:
    said = lines_of("checking tasks", capsys)
    assert said.splitlines()[-1].startswith("checking tasks: 1,200 of 4,441, ")


def test_lines_can_be_json(capsys: pytest.CaptureFixture[str]) -> None:
    configure(as_json=True)
    message = json.loads(lines_of("checking tasks", capsys).splitlines()[-1])
    assert message["level"] == "info" and message["message"].startswith("checking tasks: 1,200 of 4,441")
    assert message["time"].endswith("+00:00")


def test_hostile_text_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    log.warning("task \x1b[2J")
    assert capsys.readouterr().err == "task \\x1b[2J\n"


@pytest.mark.parametrize("words", [("-q", "explain", "none"), ("explain", "none", "-q")])
def test_quiet_works_before_and_after_the_name_of_a_command(words: tuple[str, ...]) -> None:
    CliRunner().invoke(app, list(words))
    assert log.getEffectiveLevel() == 30
    CliRunner().invoke(app, ["explain", "none"])
    assert log.getEffectiveLevel() == 20, "the next call starts with the usual level"


def test_levels() -> None:
    CliRunner().invoke(app, ["checks", "--log-level", "error", "--log-json"])
    assert log.getEffectiveLevel() == 40
    assert json.loads(log.handlers[0].format(log.makeRecord("a", 40, "", 0, "b", (), None)))["message"] == "b"
    assert CliRunner().invoke(app, ["checks", "--log-level", "loud"]).exit_code == 64
