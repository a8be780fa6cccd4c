"""``agenthard paper`` on a real audit: files, numbering, comparisons, labels, and what it refuses."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import agenthard as ah
from agenthard.reports.paper.record import Paper
from tests.flows.commands.test_report import audited, command, refused, write_benchmark

QUICK = ("--draws", 200, "--resamples", 20)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    return audited(write_benchmark(folder / "benchmark"), folder / "run")


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.long
def test_every_table_and_figure_is_written(finished: Path, tmp_path: Path) -> None:
    text = command("paper", finished, "--out", tmp_path, *QUICK)
    assert "comparisons with figures that the paper printed: 7 met" in text, "Table 9 follows from printed scores"
    stages = rows(tmp_path, "stages-run")
    assert [row["stage"] for row in stages] == [
        *("initial", "rule-based filtering", "execution of ground truth and evaluator", "LLM judge"),
        "difficulty curation",
    ]
    assert [row["tasks"] for row in stages[:2]] == ["40", "36"]
    assert float(stages[1]["separability_arena_hard"]) >= 0
    assert stages[3]["why_not"].startswith("not run: no model has judged the tasks")
    assert {row["size"] for row in rows(tmp_path, "anchors")} == {"25"}
    errors = {row["method"]: float(row["mean_error"]) for row in rows(tmp_path, "anchor-errors")}
    assert set(errors) == {"anchors", "p-IRT", "gp-IRT", "mean of 25 random tasks"}
    assert len(rows(tmp_path, "prompts")) == 40
    shares = [float(row["share_of_flagged_parts"] or 0) for row in rows(tmp_path, "components")]
    assert sum(shares) == pytest.approx(1)
    assert (tmp_path / "tables" / "stages-run.md").read_text(encoding="utf-8").startswith("## ")
    for figure in (tmp_path / "figures").iterdir():
        drawing = figure.read_text(encoding="utf-8")
        assert "var(--" not in drawing and ElementTree.fromstring(drawing).tag == "{http://www.w3.org/2000/svg}svg"
    assert {"run-agreement.svg", "run-prompts.svg", "run-components-by-task.svg"} <= {
        path.name for path in (tmp_path / "figures").iterdir()
    }
    assert "Published figures next to ours" in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_equal_runs_give_equal_bytes(finished: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        command("paper", finished, "--out", tmp_path / name, *QUICK)
    files = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert len(files) > 20
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes(), path


@pytest.mark.long
def test_labels_of_people_fill_their_tables(finished: Path, tmp_path: Path) -> None:
    labels = [
        {"task_id": f"lib/{i}", "flawed": i % 10 == 0 or i == 1, "mode": "ambiguity" if i == 1 else ""}
        for i in range(20)
    ]
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(label) + "\n" for label in labels), encoding="utf-8")
    score = tmp_path / "score.json"
    score.write_text(command("align", "score", finished, file, "--json"), encoding="utf-8")
    out = command("paper", finished, "--alignment", score, "--out", tmp_path / "paper", "--json", *QUICK)
    paper = Paper.model_validate_json(out)
    table = next(each for each in paper.tables if each.name == "alignment")
    assert table.rows[0]["precision"] == 1 and table.rows[0]["recall"] == pytest.approx(2 / 3)
    precision = next(row for row in paper.comparisons if row.published.id == "precision")
    assert precision.met == "differs" and "other labels" in precision.why
    modes = next(each for each in paper.tables if each.name == "failure-modes")
    assert {"false negative": 1.0}.items() <= {
        row["error"]: row["share"] for row in modes.rows if row["mode"] == "ambiguity"
    }.items()
    # Flagged and labelled 0 and 10; task 1 is labelled and not flagged; nothing was looked at again.
    found = next(each for each in paper.tables if each.paper == "Figure 3")
    assert [row["tasks"] for row in found.rows] == [0, 0, 0, 1]
    for figure in ("failure-modes", "disagreements"):
        assert (tmp_path / "paper" / "figures" / f"labels-{figure}.svg").is_file()


def test_what_cannot_be_used_is_named(finished: Path, tmp_path: Path) -> None:
    assert "no finished audit here" in refused("paper", tmp_path / "none", "--out", tmp_path / "out")
    (tmp_path / "score.json").write_text("{}", encoding="utf-8")
    assert "not what `agenthard align score --json` prints" in refused(
        "paper", finished, "--alignment", tmp_path / "score.json", "--out", tmp_path / "out"
    )
    assert "unknown embedder 'word2vec'" in refused(
        "paper", finished, "--embedder", "word2vec", "--out", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_python_makes_the_same_tables(finished: Path, tmp_path: Path) -> None:
    found = ah.paper([finished])
    assert found == ah.paper([finished], tmp_path)
    assert Paper.model_validate_json((tmp_path / "paper.json").read_bytes()).tables[0].rows[0]["tasks"] == 40
