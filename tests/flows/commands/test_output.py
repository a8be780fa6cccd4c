"""Control characters in a benchmark and its runs reach neither the terminal nor a Markdown file."""

import io
import json
import re
from pathlib import Path

import pytest

from agenthard.flows.audit_outputs import publish
from agenthard.flows.audit_plan import AuditPlan, AuditSettings
from agenthard.taxonomy import GroundTruth, ToolCall
from agenthard.taxonomy.printable import printable, printable_json
from tests.builders import make_run, make_task
from tests.flows.audits import audit_by_steps
from tests.flows.test_surroundings import call

EVIL = "\x1b[31m\x1b]0;PWN\x07\x9b2J\u202e\r\x7f"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
SHOWN = "\\x1b[31m"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of an audit of a benchmark that is hostile wherever it can be, with findings about it."""
    folder = tmp_path_factory.mktemp("hostile")
    benchmark, out = folder / "benchmark", folder / "run"
    benchmark.mkdir()
    tasks, runs = [], []
    for number in range(12):
        book = f"book {EVIL}" if number % 4 == 0 else number
        tool = "lend_book" if number % 3 else f"lend{EVIL}"
        call = ToolCall(name=tool, arguments={"book_id": book, "member": f"Ada {EVIL}"})
        task = make_task(
            f"lib/{number}{EVIL}",
            user={"kind": "scripted", "turns": [[{"role": "user", "content": f"Lend {book} to Ada {EVIL}."}]]},
            ground_truth=GroundTruth(semantics="required", turns=((call,),)),
        )
        tasks.append(task.model_dump_json(exclude={"origins"}))
        runs += [make_run(task.id, f"model {name}{EVIL}", passed=number % 2 == 0) for name in "ABC"]
    runs.append(make_run(f"absent{EVIL}", "D"))
    (benchmark / "tasks.jsonl").write_text("\n".join([*tasks, f'{{"id": "{EVIL}']) + "\n", encoding="utf-8")
    file = benchmark / "runs.jsonl"
    file.write_text("".join(each.model_dump_json() + "\n" for each in runs), encoding="utf-8")
    settings = AuditSettings(source="native", path=str(benchmark), runs=(str(file),), out=str(out))
    audit_by_steps(settings)
    return out


def test_no_markdown_file_holds_any(run: Path) -> None:
    pages = [path for path in run.rglob("*.md")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in pages}
    assert {name: CONTROL.findall(text) for name, text in texts.items() if CONTROL.search(text)} == {}
    assert SHOWN in texts["summary.md"].replace("\\\\", "\\").replace("\\[", "[")


def test_no_command_prints_any(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = json.loads((run / "findings.json").read_text())["findings"][0]["task_ids"][0]
    folder = str(run.parent / "benchmark")
    shown = 0
    plan = AuditPlan.model_validate_json((run / "work" / "plan.json").read_bytes())
    monkeypatch.setattr("agenthard.flows.audit_flow.run_audit", lambda given: publish(given, plan))  # without a server
    for words in (
        ("audit", "native", folder, "--runs", f"{folder}/runs.jsonl", "--out", str(run), "--workers", "1"),
        ("audit", "native", f"{folder}{EVIL}"),
        ("report", str(run), "--draws", "200", "--resamples", "50"),
        ("leaderboard", str(run), "--draws", "200", "--resamples", "50"),
        ("compare", str(run), str(run)),
        ("repair", str(run), "--out", str(tmp_path / "repaired")),
        ("replay", "native", task, folder),
        ("explain", f"nonsense{EVIL}"),
        ("checks", "--cost", "--run", str(run)),
        ("align", "sample", str(run), "--out", str(tmp_path / "sheet.jsonl")),
        ("judge", "prompt", str(run), task),
    ):
        code, out, err = call(monkeypatch, *words)
        text = out.decode() + err.decode()
        assert CONTROL.findall(text) == [], (words, text)
        assert "Traceback" not in text and "unexpected" not in text, (words, text)
        assert code != 3 or text.startswith(("error: ", "error AH")), (words, text)
        shown += SHOWN in text
    assert shown >= 5, "the hostile text is there, and can be seen"


def test_json_keeps_the_values(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = json.loads((run / "findings.json").read_text())["findings"][0]["task_ids"][0]
    _, out, _ = call(monkeypatch, "judge", "prompt", str(run), task, "--json")
    assert CONTROL.findall(out.decode()) == []
    assert "\x9b2J" in "".join(message["text"] for message in json.loads(out)["request"]["messages"])


@pytest.mark.parametrize("text", ["\x9b", "\u202e", "\x7f", "\U000e0041", "\ud83d", "é 漢 🎉\n\t"])
def test_json_text_has_the_same_value(text: str) -> None:
    written = printable_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    written.encode()
    printable(text).encode()


def test_a_table_shows_what_it_cannot_print(monkeypatch: pytest.MonkeyPatch) -> None:
    from agenthard.flows.commands import output

    stream = io.StringIO()
    monkeypatch.setattr("sys.stdout", stream)
    output.print_table(f"t{EVIL}", ("a", "b"), [(EVIL, "[bold]x")])
    output.console().print(f"{EVIL} [bold]x[/]")
    assert CONTROL.findall(stream.getvalue()) == [] and "[bold]x" in stream.getvalue()
