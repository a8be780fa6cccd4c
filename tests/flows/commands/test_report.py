"""report, compare and leaderboard on real files: a small native benchmark with runs of seven models."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from agenthard.audit.statistics import Undefined
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.cli import app
from agenthard.flows.errors import EXPECTED, error_message
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.taxonomy import GroundTruth, ToolCall
from tests.builders import make_run, make_task
from tests.flows.audits import audit_by_steps
from tests.loopback import Loopback
from tests.models.providers.talking import model_file

TASKS = 40
MODELS = 7


def write_benchmark(folder: Path, flawed: int = 10) -> Path:
    """Write forty tasks; every ``flawed``-th has a string where the schema says integer. Model m0 is the best."""
    folder.mkdir()
    lines = []
    for i in range(TASKS):
        book = f"book-{i}" if i % flawed == 0 else i
        call = ToolCall(name="lend_book", arguments={"book_id": book, "member": f"Member {i}"})
        task = make_task(
            f"lib/{i}",
            subtask="lending" if i % 2 else "paying",
            ground_truth=GroundTruth(semantics="required", turns=((call,),)),
            user={"kind": "scripted", "turns": [[{"role": "user", "content": f"Lend {book} to Member {i}, please."}]]},
        )
        lines.append(task.model_dump_json(exclude={"origins"}))
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rng = np.random.default_rng(0)
    runs = [
        make_run(f"lib/{i}", f"m{m}", None if (i, m) == (7, 2) else bool(rng.random() < (0.95 - 0.12 * m)))
        for m in range(MODELS)
        for i in range(TASKS)
    ]
    runs += [make_run(f"lib/{i}", "half") for i in range(TASKS // 2)]
    (folder / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs), encoding="utf-8")
    return folder


def audited(benchmark: Path, out: Path) -> Path:
    """Audit without a Prefect server: the same functions that the flow calls."""
    settings = AuditSettings(
        source="native", path=str(benchmark), runs=(str(benchmark / "runs.jsonl"),), out=str(out), workers=1
    )
    audit_by_steps(settings)
    return out


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_benchmark(tmp_path_factory.mktemp("library") / "benchmark")


@pytest.fixture(scope="module")
def finished(benchmark: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audited(benchmark, tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def command(*arguments: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return result.stdout


def refused(*arguments: str | Path) -> str:
    """Run a command that must end with one expected error; return its message."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert isinstance(result.exception, EXPECTED), result.output
    return error_message(result.exception)


@pytest.mark.long
def test_what_vectors_of_prompts_cost_is_in_the_report(
    run: Path, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    quick = ("--draws", 200, "--resamples", 20, "-q")
    command("report", run, *quick)
    assert "| $0.00 |" in (run / "report" / "summary.md").read_text(encoding="utf-8")
    model = model_file("chat", loopback, "small")
    price = {"model": model.name, "date": "2026-01", "source": "test", "prompt": 1e6, "completion": 0}
    file = tmp_path / "small.yaml"
    for given, cost in ((None, "unknown"), (price, "$240.00")):
        file.write_text(json.dumps({"name": model.name} | ({"price": given} if given else {})), encoding="utf-8")
        (run / "work" / "embeddings.sqlite").unlink(missing_ok=True)
        (run / "work" / "ledger.sqlite").unlink(missing_ok=True)
        command("report", run, "--embedder", file, *quick)
        # 40 prompts of six words, a dollar each.
        assert f"| {cost} |" in (run / "report" / "summary.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_report_writes_everything_and_the_hard_split(run: Path, benchmark: Path) -> None:
    out = command("report", run, "--draws", 200, "--resamples", 200, "--threshold", 0.7)
    assert "AgentHard checked 40 of 40 tasks" in out and "the null of deleting as many random tasks" in out
    report = run / "report"
    assert {p.name for p in report.iterdir()} == {"report.html", "analysis.json", "summary.md", "tables"}
    analysis = CleaningAnalysis.model_validate_json((report / "analysis.json").read_bytes())
    assert [split.n for split in analysis.splits][:2] == [40, 36]
    assert analysis.provenance.draws == 200 and analysis.provenance.difficulty.threshold == 0.7
    manifest = json.loads((run / "split" / "hard" / "manifest.json").read_text(encoding="utf-8"))
    hard = analysis.splits[2]
    assert manifest["split"] == "hard" and manifest["tasks_id"] == hard.split_id
    assert tuple(manifest["kept_ids"]) == hard.task_ids and manifest["kept"] == hard.n
    assert manifest["rule"]["threshold"] == 0.7
    assert manifest["selection_models"] == [row.model for row in analysis.leaderboards[0].rows]
    assert manifest["minimum_detectable_difference"] == hard.sentence
    assert len(manifest["not_hard"]) + manifest["kept"] + len(manifest["dropped"]) == TASKS
    assert manifest["benchmark"] == json.loads((run / "manifest.json").read_text(encoding="utf-8"))["benchmark"]
    source = {json.loads(line)["id"]: line for line in (benchmark / "tasks.jsonl").read_bytes().splitlines()}
    written = (run / "split" / "hard" / "tasks.jsonl").read_bytes().splitlines()
    assert written == [source[task] for task in manifest["kept_ids"]]


@pytest.mark.long
def test_several_runs_get_a_common_compression(run: Path, benchmark: Path, tmp_path: Path) -> None:
    other = audited(write_benchmark(tmp_path / "other", flawed=4), tmp_path / "other-run")
    options = ("--draws", 200, "--resamples", 20, "--threshold", 0.7)
    out = json.loads(command("report", run, other, *options, "--json"))
    first, second = (each["stages"] for each in out["reports"])
    assert (first["initial"], first["rules"], second["initial"], second["rules"]) == (40, 36, 40, 30)
    rules = out["compression"][0]
    assert (rules["stage"], rules["kept"], rules["tasks"], rules["ran"]) == ("rules", 66, 80, 2)
    assert (rules["pooled"]["value"], rules["macro"]["value"]) == pytest.approx((14 / 80, 14 / 80))
    text = command("report", run, other, *options)
    assert "rule-based filtering" in text and "66 of 80" in text and "17.5 %" in text
    assert "--benchmark names the folder of one benchmark" in refused("report", run, other, "--benchmark", benchmark)


@pytest.mark.long
def test_the_hard_split_by_information_says_its_price(run: Path) -> None:
    options = ("--hard-by", "information", "--abilities", 0.25, 0.75, "--keep", 0.5, "--draws", 200)
    out = json.loads(command("report", run, *options, "--json"))
    analysis = CleaningAnalysis.model_validate_json((run / "report" / "analysis.json").read_bytes())
    assert not isinstance(analysis.hard, Undefined)
    assert analysis.hard.rule.by == "information" and analysis.hard.rule.abilities == (0.25, 0.75)
    manifest = json.loads((run / "split" / "hard" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["rule"]["by"] == "information" and manifest["rule"]["keep"] == 0.5
    assert {task["verdict"] for task in manifest["not_hard"]} <= {"less_informative", "all_fail"}
    assert manifest["kept"] <= 20, "half of 36 issue-cleaned tasks, and what categories need"
    assert isinstance(analysis.unseen, Undefined), "six models are too few"
    assert out["price"] == [f"What the hard split does for models that did not select it is {analysis.unseen.reason}."]
    summary = (run / "report" / "summary.md").read_text(encoding="utf-8")
    assert (
        "What the hard split does for models that did not select it" in summary or "that did not select it" in summary
    )


def test_a_range_of_abilities_that_falls_is_refused(run: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(run), "--hard-by", "information", "--abilities", "0.9", "0.1"])
    assert result.exit_code != 0 and "two rising shares" in result.output


@pytest.mark.long
def test_a_report_repeats_byte_for_byte(run: Path) -> None:
    def files() -> dict[str, bytes]:
        folders = (run / "report", run / "split" / "hard")
        found = [p for folder in folders for p in folder.rglob("*") if p.is_file() and p.suffix != ".html"]
        return {p.relative_to(run).as_posix(): p.read_bytes() for p in found}

    command("report", run, "--draws", 200, "--resamples", 100)
    first = files()
    command("report", run, "--draws", 200, "--resamples", 100)
    assert files() == first


@pytest.mark.long
def test_a_benchmark_that_is_gone_or_changed_costs_only_the_split(run: Path, tmp_path: Path) -> None:
    other = write_benchmark(tmp_path / "other", flawed=20)
    out = json.loads(command("report", run, "--benchmark", other, "--draws", 200, "--json", code=2))
    assert out["hard_split"] is None and "was audited; give the audited release" in out["no_hard_split"]
    assert (run / "report" / "report.html").is_file() and not (run / "split" / "hard").exists()
    gone = json.loads(command("report", run, "--benchmark", tmp_path / "none", "--draws", 200, "--json", code=2))
    assert "cannot be read" in gone["no_hard_split"]
    (run / "work" / "settings.json").unlink()
    unknown = json.loads(command("report", run, "--draws", 200, "--json", code=2))
    assert "does not tell where the benchmark is" in unknown["no_hard_split"]


def test_report_counts_new_findings_against_an_earlier_run(run: Path, finished: Path) -> None:
    command("report", run, "--baseline", finished, "--draws", 200, "--resamples", 100)
    analysis = json.loads((run / "report" / "analysis.json").read_text(encoding="utf-8"))
    assert analysis["headline"]["new"] == 0


def test_compare_names_what_is_new_and_fails_on_new_defects(finished: Path, tmp_path: Path) -> None:
    later = audited(write_benchmark(tmp_path / "later", flawed=8), tmp_path / "second")
    found = json.loads(command("compare", finished, later, "--draws", 200, "--json", code=1))
    new = [change["task_ids"] for change in found["findings"]["new"] if change["check"] == "call-schema"]
    fixed = [change["task_ids"] for change in found["findings"]["fixed"] if change["check"] == "call-schema"]
    # Flawed were 0, 10, 20, 30; now 0, 8, 16, 24, 32.
    assert sorted(new) == [["lib/16"], ["lib/24"], ["lib/32"], ["lib/8"]]
    assert sorted(fixed) == [["lib/10"], ["lib/20"], ["lib/30"]]
    assert {change["cause"] for change in found["findings"]["new"]} == {"task"}
    assert sorted(found["tasks"]["changed"]) == sorted(f"lib/{i}" for i in (8, 10, 16, 20, 24, 30, 32))
    assert found["boards"]["scores"]["of"] == TASKS - 7
    text = command("compare", finished, later, "--draws", 200, code=1)
    assert "New findings" in text and "Issue-cleaned splits" in text
    assert "0 new findings" in command("compare", finished, finished, "--draws", 200)


def write_table(path: Path, rows: dict[str, str]) -> Path:
    width = len(next(iter(rows.values())))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["model", *(f"t{i}" for i in range(width))])
        writer.writerows([model, *marks] for model, marks in rows.items())
    return path


def test_compare_reads_two_tables(tmp_path: Path) -> None:
    first = write_table(tmp_path / "old.csv", {"a": "111100", "b": "110000"})
    second = write_table(tmp_path / "new.csv", {"a": "111100", "b": "110111"})
    found = json.loads(command("compare", first, second, "--draws", 200, "--json"))
    assert [(flip["task_id"], flip["gained"], flip["lost"]) for flip in found["flips"]] == [
        ("t3", 1, 0),
        ("t4", 1, 0),
        ("t5", 1, 0),
    ]
    assert [move["later_rank"] for move in found["moves"]] == [2, 1]
    assert "second − first, paired" in command("compare", first, second, "--draws", 200)
    third = write_table(tmp_path / "third.csv", {"a": "111100", "c": "110111"})
    assert "--common-models" in refused("compare", first, third)
    assert json.loads(command("compare", first, third, "--common-models", "--draws", 200, "--json"))["models"]


def test_leaderboard_ranks_a_table_and_drops_tasks(tmp_path: Path) -> None:
    table = write_table(tmp_path / "scores.csv", {"a": "1111000011", "b": "1110000000", "c": "1000000000"})
    board = json.loads(command("leaderboard", "--matrix", table, "--draws", 200, "--json"))
    assert [(row["model"], row["rank"], row["passed"]) for row in board["leaderboards"][0]["rows"]] == [
        ("a", 1, 6),
        ("b", 2, 3),
        ("c", 3, 1),
    ]
    assert board["stability"] is None
    drop = tmp_path / "drop.txt"
    drop.write_text("# flawed\nt3\n\nt8\nt9\n", encoding="utf-8")
    text = command("leaderboard", "--matrix", table, "--drop", drop, "--draws", 200)
    assert "7 of 10 tasks" in text and "compared with deleting as many random tasks" in text
    assert "ranks supported" in text and "tied sets" in text


def test_user_mistakes_are_one_message(tmp_path: Path, finished: Path) -> None:
    table = write_table(tmp_path / "scores.csv", {"a": "10", "b": "01"})
    (tmp_path / "drop.txt").write_text("t7\n", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("# nothing\n", encoding="utf-8")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "half.csv").write_text("model,t0,t1\na,1,\nb,,1\n", encoding="utf-8")
    for arguments, part in (
        (("report", tmp_path / "none"), "no finished audit here"),
        (("report", finished, "--experiment", "x"), "no experiment 'x'"),
        (("compare", table, finished), "one is a folder and one is a file"),
        (("compare", table, tmp_path / "none.csv"), "nothing at this path"),
        (("leaderboard", "--matrix", tmp_path / "broken.json"), "broken.json"),
        (("leaderboard", "--matrix", tmp_path / "half.csv"), "no model has scores on"),
        (("leaderboard", "--matrix", table, "--drop", tmp_path / "drop.txt"), "the first is 't7'"),
        (("leaderboard", "--matrix", table, "--drop", tmp_path / "empty.txt"), "no task id in it"),
    ):
        assert part in refused(*arguments), arguments
