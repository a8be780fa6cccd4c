"""``agenthard align`` on real files: a small native benchmark whose every tenth task is flawed."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from agenthard.audit.judge.aggregate.panel import PanelVerdict
from agenthard.audit.judge.verdict import CheckedVerdict
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError
from tests.flows.commands.test_report import TASKS, audited, write_benchmark

FLAWED = {f"lib/{i}" for i in range(0, TASKS, 10)}


def invoke(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["align", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("align")
    return audited(write_benchmark(folder / "benchmark"), folder / "run")


@pytest.fixture
def judged(run: Path, tmp_path: Path) -> Path:
    """The audit with a judge that flags the tasks 0 and 1, cannot decide on 2, and fails on 10."""
    folder = Path(shutil.copytree(run, tmp_path / "judged"))
    outcomes = {f"lib/{i}": ("flawed", 0.9) if i < 2 else ("not_flawed", 0.1) for i in range(TASKS)}
    outcomes |= {"lib/2": ("uncertain", 0.5), "lib/10": ("error", None)}  # type: ignore[dict-item]
    (folder / "judge").mkdir()
    panels = [
        PanelVerdict.model_validate(
            {
                "task_id": task,
                "outcome": outcome,
                "probability": chance,
                "answered": int(outcome != "error"),
                "asked": 1,
            }
        )
        for task, (outcome, chance) in outcomes.items()
    ]
    verdicts = [
        CheckedVerdict(task_id=panel.task_id, judge="j", sample=sample, outcome="flawed" if sample else "not_flawed")
        for panel in panels
        for sample in (0, 1)
    ]
    for name, rows in (("panels", panels), ("verdicts", verdicts)):
        text = "".join(f"{row.model_dump_json()}\n" for row in rows)  # type: ignore[attr-defined]
        (folder / "judge" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    questions = pa.Table.from_pylist([{"task_id": panel.task_id, "prompt_version": "v1"} for panel in panels])
    pq.write_table(questions, folder / "judge" / "questions.parquet")
    return folder


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    rows = [{"task_id": f"lib/{i}", "flawed": f"lib/{i}" in FLAWED} for i in range(TASKS)]
    return write(tmp_path / "labels.jsonl", rows)


def test_a_sheet_is_filled_in_and_scored_for_the_whole_benchmark(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    shown = invoke("sample", run, "--out", sheet, "--least", "12", "--seed", "4")
    assert "sheet.key.json" in shown
    lines = read(sheet)
    assert len(lines) == 12
    assert FLAWED <= {line["task_id"] for line in lines}
    text = sheet.read_text(encoding="utf-8")
    assert "Lend" in text
    # The sheet is blind: nothing in it names a check, a decision or a stratum.
    assert not any(word in text for word in ("call-schema", "flagged", "drop", "review", "weight"))
    for line in lines:
        line |= {"flawed": line["task_id"] in FLAWED, "annotator": "ann", "category": "Malformed tool calls"}
    write(sheet, lines[1:])
    found = json.loads(invoke("score", run, sheet, "--key", tmp_path / "sheet.key.json", "--json"))
    assert found["weighted"]
    assert (found["labels"]["tasks"], found["labels"]["unlabelled"]) == (11, 1)
    # Four of forty tasks are flawed, whichever of the sampled tasks was left unlabelled.
    assert found["prevalence"]["value"] == pytest.approx(0.1)
    assert found["rows"][0]["precision"]["value"] == found["rows"][0]["recall"]["value"] == 1
    with pytest.raises(CommandError, match="may hold labels"):
        invoke("sample", run, "--out", sheet)


def test_a_sample_by_pass_rate_has_weights_of_its_strata(run: Path, tmp_path: Path) -> None:
    key = json.loads(invoke("sample", run, "--out", tmp_path / "s.jsonl", "--by-score", "pass-rate", "--json"))
    assert (key["design"], key["drawn_by"]) == ("by_score", "pass rate")
    assert sum(task["weight"] for task in key["tasks"]) == pytest.approx(TASKS)
    assert key["not_asked"] == 0
    with pytest.raises(CommandError, match="no task has a probability"):
        invoke("sample", run, "--out", tmp_path / "t.jsonl", "--by-score", "probability")


def test_a_judge_is_compared_with_lint_and_baselines(judged: Path, run: Path, labels: Path, tmp_path: Path) -> None:
    look = tmp_path / "look.jsonl"
    command = ("score", judged, labels, "--previous", run, "--also", run)
    found = json.loads(invoke(*command, "--second-look", look, "--json"))
    rows = {row["name"]: row for row in found["rows"]}
    judge = rows["judge"]
    assert (judge["answered"], judge["labelled"], judge["undecided"], judge["errors"]) == (38, 40, 1, 1)
    assert (judge["true_positives"], judge["false_positives"], judge["false_negatives"]) == (1, 1, 2)
    assert rows["judge, undecided flagged"]["false_positives"] == 2
    assert rows["lint only: dropped or review"]["kind"] == "baseline"
    assert rows["previous run"]["recall"]["value"] == 1
    assert {"j #1", "j #2", "run (also 1)", "flag all", "flag none"} <= rows.keys()
    assert [row["name"] for row in found["robustness"]["rows"]] == ["judge", "j #1", "j #2", "run (also 1)"]
    lines = read(look)
    assert {line["task_id"] for line in lines} == {"lib/1", "lib/20", "lib/30"}
    for line in lines:
        positive = line["error"] == "false positive"
        line |= {"confirmed_later": positive or None, "mode": "missing context" if positive else "ambiguity"}
    write(look, lines)
    shown = invoke(*command[:2], labels, look)
    assert "Looked again at 1 of 1 flag that the first labels call wrong; 1 found right" in shown
    assert "1 of 1 false positive explained; 2 of 2 false negatives explained" in shown
    assert "| judge | judge | 38 of 40 (1 undecided, 1 error) |" in invoke(*command, "--markdown")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--prevalence", "1"), "--prevalence must be strictly"),
        (("--truth", "wrong"), "boolean field 'wrong'"),
        (("--key", "labels.jsonl"), "align sample"),
    ],
)
def test_bad_input_is_named(
    options: tuple[str, str], message: str, run: Path, labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(labels.parent)
    with pytest.raises(CommandError, match=message):
        invoke("score", run, labels, *options)


def test_what_a_judge_was_not_asked_about_is_not_sampled(judged: Path, tmp_path: Path) -> None:
    panels = judged / "judge" / "panels.jsonl"
    panels.write_text("".join(panels.read_text().splitlines(keepends=True)[:20]), encoding="utf-8")
    key = json.loads(invoke("sample", judged, "--out", tmp_path / "s.jsonl", "--least", "8", "--json"))
    assert key["not_asked"] == TASKS - 20
    # Of 20 tasks 2 have no verdict, so one of eight labels; 2 of the others are flagged.
    assert {s["name"]: (s["population"], s["sampled"]) for s in key["strata"]} == {
        "flagged": (2, 2), "unflagged": (16, 5), "no verdict": (2, 1),
    }  # fmt: skip
    by_chance = json.loads(
        invoke("sample", judged, "--out", tmp_path / "p.jsonl", "--by-score", "probability", "--json")
    )
    assert by_chance["drawn_by"] == "probability of a flaw"
    assert len(by_chance["tasks"]) == 20


def test_damaged_verdicts_are_named(judged: Path, labels: Path) -> None:
    with (judged / "judge" / "panels.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"task_id": "lib/3"}\n')
    with pytest.raises(CommandError, match=f"panels.jsonl, line {TASKS + 1}: at outcome"):
        invoke("score", judged, labels)


def test_a_mapping_gives_words_a_meaning(run: Path, tmp_path: Path) -> None:
    given = write(tmp_path / "own.jsonl", [{"task_id": t, "flawed": True, "category": "Typo"} for t in sorted(FLAWED)])
    assert json.loads(invoke("score", run, given, "--json"))["labels"]["unknown_categories"] == {"Typo": 4}
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text("Typo: malformed-tool-call\n", encoding="utf-8")
    found = json.loads(invoke("score", run, given, "--categories", mapping, "--json"))
    assert found["labels"]["unknown_categories"] == {}
    assert {row["name"]: row["recall"]["value"] for row in found["kinds"]["rows"]}["malformed-tool-call"] == 1


def test_drift_has_an_exit_code(judged: Path, labels: Path, tmp_path: Path) -> None:
    later = Path(shutil.copytree(judged, tmp_path / "later"))
    assert "no drift: 0 of 38" in invoke("drift", later, judged, "--frozen", labels)
    panels = later / "judge" / "panels.jsonl"
    panels.write_text(panels.read_text().replace("not_flawed", "flawed"), encoding="utf-8")
    shown = invoke("drift", later, judged, "--frozen", labels, code=1)
    assert "drift: 36 of 38 verdicts flipped, and they go one way" in shown
    ids = tmp_path / "ids.txt"
    ids.write_text("lib/0\nlib/1\n", encoding="utf-8")
    assert "0 of 2 verdicts flipped" in invoke("drift", later, judged, "--frozen", ids)
    ids.write_text("nix\n", encoding="utf-8")
    invoke("drift", later, judged, "--frozen", ids, code=2)


def test_a_plan_is_printed() -> None:
    shown = invoke("plan", "--tasks", "278", "--half-width", "0.1")
    assert "10% of the tasks, at least 30" in shown
    with pytest.raises(CommandError, match="contradict each other"):
        invoke("plan", "--tasks", "278", "--precision", "0.1", "--prevalence", "0.5")
