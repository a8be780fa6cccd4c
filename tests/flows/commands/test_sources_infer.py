"""`agenthard sources infer`, and an audit through the mapping it proposes."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner

from agenthard.flows.cli import app

LIBRARY = Path(__file__).parents[3] / "docs/examples/library"


def test_a_proposal_is_written_and_audited(tmp_path: Path) -> None:
    out = tmp_path / "m.yaml"
    proposed = CliRunner().invoke(app, ["sources", "infer", str(LIBRARY), "--out", str(out)])
    assert proposed.exit_code == 0, proposed.output
    assert "3 of 3 rows parse" in proposed.output
    audited = CliRunner().invoke(
        app, ["audit", "mapping", str(out), "--out", str(tmp_path / "run"), "--workers", "1", "--json"]
    )
    assert audited.exit_code in (0, 1), audited.output
    assert json.loads(audited.stdout)["checked"] == 3
    again = CliRunner().invoke(app, ["sources", "infer", str(LIBRARY), "--out", str(out)])
    assert again.exit_code != 0


def test_it_prints_yaml_or_json() -> None:
    printed = CliRunner().invoke(app, ["sources", "infer", str(LIBRARY)])
    assert printed.stdout.startswith("# A mapping proposed")
    facts = json.loads(CliRunner().invoke(app, ["sources", "infer", str(LIBRARY), "--json"]).stdout)
    assert (facts["rows"], facts["parsed"], facts["calls"]) == (3, 3, 3)
    assert facts["mapping"]["user"] == {"turns": "text"}


LEND = {"name": "lend_book", "description": "Lend a book.", "parameters": {"properties": {"book": {"type": "integer"}}}}


def unnamed(path: Path, **more: Any) -> Path:
    """Rows whose columns have names that say nothing."""
    rows = [
        {
            "n": i,
            "aa": f"A note of the librarian about shelf {i * 7}, for the record only.",
            "bb": f"Lend me book {i}.",
            "cc": [{"name": "lend_book", "arguments": {"book": i}}],
            "dd": [LEND],
            **more,
        }
        for i in range(1, 5)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def on_a_terminal(words: list[str], answers: list[str]) -> tuple[int, str]:
    """Run a command whose input and output are a terminal; each answer follows one prompt."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "200", "TERM": "dumb"}
    process = subprocess.Popen(
        [sys.executable, "-m", "agenthard", *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    seen, left = "", list(answers)
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # what Linux says when the other end is closed
            break
        if not part:
            break
        seen += part.decode()
        if left and seen.count("number (1): ") > len(answers) - len(left):
            os.write(ours, f"{left.pop(0)}\n".encode())
    os.close(ours)
    return process.wait(), seen.replace("\r\n", "\n")


def test_on_a_terminal_it_asks_what_it_is_unsure_of(tmp_path: Path) -> None:
    file, out = unnamed(tmp_path / "rows.jsonl"), tmp_path / "m.yaml"
    code, seen = on_a_terminal(
        ["sources", "infer", str(file), "--out", str(out)],
        ["", "", "7", "2", "2"],  # tools, calls, what the user says: not a number, then the second; matching
    )
    assert code == 0, seen
    assert 'Which column holds the expected calls? (ground_truth.calls)\n  1  cc   e.g. [{"name": "lend_book"' in seen
    assert "1  aa   e.g. A note of the librarian" in seen and "2  bb   e.g. Lend me book 1." in seen
    assert "Please select one of the available options" in seen
    mapping = yaml.safe_load(out.read_text())
    assert mapping["user"] == {"turns": "bb"} and mapping["environment"] == {"tools": "dd"}
    assert mapping["ground_truth"] == {"calls": "cc", "matching": "any_order"}
    assert "unsure of" not in seen and "To be looked at" not in out.read_text()
    assert "4 of 4 rows parse: 4 turns of users, 1 tools, 4 expected calls" in seen


def test_without_a_terminal_it_lists_the_questions(tmp_path: Path) -> None:
    file, out = unnamed(tmp_path / "rows.jsonl"), tmp_path / "m.yaml"
    done = CliRunner().invoke(app, ["sources", "infer", str(file), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "number (1)" not in done.output and "user.turns: aa was chosen by content alone" in done.output
    assert yaml.safe_load(out.read_text())["user"] == {"turns": "aa"}
    code, seen = on_a_terminal(["sources", "infer", str(file), "--json"], [])
    assert code == 0 and json.loads(seen)["unsure"], "--json is for programs"


def test_on_a_terminal_it_asks_for_a_part_that_it_did_not_find(tmp_path: Path) -> None:
    file, out = tmp_path / "rows.jsonl", tmp_path / "m.yaml"
    rows = [{"id": i, "w": f"Lend {i}", "right": f"lent {i}"} for i in range(4)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = CliRunner().invoke(app, ["sources", "infer", str(file), "--out", str(out)])
    assert refused.exit_code == 1 and "no column looks like what a user says" in str(refused.exception)
    code, seen = on_a_terminal(["sources", "infer", str(file), "--out", str(out)], ["1", "", ""])
    assert "Which column holds what the user says? (user.turns)\n  1  w   e.g. Lend 0" in seen, seen
    assert yaml.safe_load(out.read_text())["user"] == {"turns": "w"}
    assert code in (0, 2), seen


def test_what_another_source_reads_is_said(tmp_path: Path) -> None:
    from zipfile import ZipFile

    with ZipFile(tmp_path / "log.eval", "w") as log:
        log.writestr("header.json", "{}")
    refused = CliRunner().invoke(app, ["sources", "infer", str(tmp_path)])
    assert "agenthard audit inspect" in str(refused.exception)


def test_the_example_of_the_docs_is_clean(tmp_path: Path) -> None:
    arguments = ["audit", "mapping", str(LIBRARY), "--runs", str(LIBRARY / "results"), "--workers", "1", "--json"]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["checked"] == 3
