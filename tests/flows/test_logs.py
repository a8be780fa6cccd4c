"""Messages as JSON: what each line holds, which variable asks for it, and that no secret is in one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows import logs


def lines(words: list[str], **environment: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "agenthard", *words]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    return [json.loads(line) for line in done.stderr.splitlines()]


def audit(benchmark: Path, out: Path) -> list[str]:
    return ["audit", "native", str(benchmark), "--out", str(out), "--workers", "2"]


def test_every_line_says_when_what_and_where(flawed_demo: Path, tmp_path: Path) -> None:
    found = lines(audit(flawed_demo, tmp_path / "run"), AGENTHARD_LOG="debug,json")
    assert all({"time", "level", "event", "message"} <= line.keys() for line in found)
    assert all(line.keys() <= {"time", "level", "event", "message", *logs.FIELDS} for line in found)
    shards = [line for line in found if line["event"] == "stage-finished" and line["stage"] == "check-shard"]
    plan = json.loads((tmp_path / "run" / "work" / "plan.json").read_text())
    assert sorted(line["shard"] for line in shards) == list(range(len(plan["shard_ends"])))
    assert {line["run"] for line in shards} == {str(tmp_path / "run")}
    assert [line["stage"] for line in found if line["event"] == "stage"][-2:] == [
        *("checking tasks", "concluding and writing the report"),
    ]


def test_options_override_the_variable_and_an_unknown_word_is_named(flawed_demo: Path, tmp_path: Path) -> None:
    assert lines([*audit(flawed_demo, tmp_path / "run"), "-q"], AGENTHARD_LOG="json,debug") == []
    (warning,) = lines([*audit(flawed_demo, tmp_path / "run"), "-q"], AGENTHARD_LOG="json,loud")
    assert (warning["level"], warning["event"]) == ("warning", "message")
    assert warning["message"].startswith("AGENTHARD_LOG: loud is neither json nor one of debug, info")


@pytest.mark.parametrize("as_json", [True, False])
def test_no_secret_is_logged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    values = {
        "OPENAI_API_KEY": 'sk-"FAKE"\\123456',
        "HF_TOKEN": "hf_abcdefgh",
        "SLACK_WEBHOOK_URL": "https://hooks.example/T0/B0/xyz",
        "AGENTHARD_DB_PASSWORD": "correct horse",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SHORT_TOKEN", "a")
    logs.configure("info", as_json=as_json)
    try:
        logs.log.info("%s; postgresql://ann:pa55@db/x; https://example.org/a:b@c", "; ".join(values.values()))
        logs.log.warning("a message", extra={"event": "test", "shard": 3, "unknown": "not written"})
    finally:
        logs.configure("info", as_json=False)
    printed = capsys.readouterr().err
    for text in (*values.values(), "FAKE", "pa55"):
        assert text not in printed
    assert printed.count("[secret]") == 5 and "@db/x; https://example.org/a:b@c" in printed
    if as_json:
        line = json.loads(printed.splitlines()[1])
        assert (line["event"], line["shard"], "unknown" in line) == ("test", 3, False)
