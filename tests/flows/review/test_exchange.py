"""Verdicts as files: what is exported comes back, labels become verdicts, and figures stay those of `align`."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.audit.statistics.result import Estimate
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.cli import app
from agenthard.flows.review.decide import ReviewedRun
from agenthard.flows.review.events import ReviewError
from agenthard.flows.review.exchange import read_events, write_events
from agenthard.flows.review.figures import agreement
from agenthard.flows.review.store import EventStore
from tests.flows.audits import audit_by_steps
from tests.flows.review.build_events import finding_verdict, made, undo, verdict

HOSTILE = '=HYPERLINK("http://x") \n"quoted", <b>&amp;\t\\ “é” \u202e'


def invoke(*words: object) -> str:
    done = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def imported(*words: object) -> dict[str, int]:
    found: dict[str, int] = json.loads(invoke("verdicts", "import", *words, "--json"))
    return found


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["events.jsonl", "events.csv"])
def test_events_come_back_from_a_file(name: str, tmp_path: Path) -> None:
    first = verdict("=lib/1", "yes", by="@ann", reason=HOSTILE)
    events = [first, undo(first, "@ann"), finding_verdict("abc", "false", by="-bob", reason="+1")]
    events.append(made("repair", "lib/1", outcome="accepted", patch=[{"op": "remove", "path": "/a"}]))
    write_events(tmp_path / name, events)
    assert list(read_events(tmp_path / name)) == events


def test_a_spreadsheet_runs_nothing(tmp_path: Path) -> None:
    write_events(tmp_path / "events.csv", [verdict("=1+1", by="@SUM(A1)", reason=HOSTILE)])
    with (tmp_path / "events.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "id,kind\n1,verdict\n", "not a table of events"),
        ("a.csv", "id,seq,at,by,run,kind,target,target_id,content_hash,data\n1,2\n", "another number of columns"),
        ("a.csv", "id,seq,at,by,run,kind,target,target_id,content_hash,data\n1,,,,,,,,,{\n", "a.csv:2: not valid JSON"),
        ("a.jsonl", "{}\n", "a.jsonl:1: id: Field required"),
        ("a.jsonl", "\n[1]\n", "a.jsonl:2: expected a JSON object"),
        ("a.jsonl", "[" * 100_000, "not valid JSON"),
    ],
)
def test_what_is_not_a_file_of_events_is_refused(name: str, text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ReviewError, match=words):
        list(read_events(tmp_path / name))
    with pytest.raises(ReviewError, match="cannot be read"):
        list(read_events(tmp_path / "none.jsonl"))


def test_a_filled_sheet_becomes_verdicts_once(demo_run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    invoke("align", "sample", demo_run, "--out", sheet, "--least", 4, "--share", 0)
    lines = read(sheet)
    for line in lines:
        task = line["task"]
        assert task["environment"]["policy"] and task["environment"]["tools"][0]["parameters"], "a person needs them"
        assert line["content_hash"] == ReviewedRun(demo_run).contents["task", line["task_id"]]
        assert "finding" not in json.dumps(line) and isinstance(task["state"], list)
    lines[0] |= {"annotator": "ann", "flawed": True, "category": "malformed-tool-call", "note": HOSTILE}
    lines[1] |= {"annotator": "ann", "flawed": False}
    lines[2] |= {"annotator": "ann", "cannot_tell": True}
    write(sheet, *lines)
    assert imported(demo_run, sheet) == {"stored": 3, "known": 0, "open": 1}
    assert imported(demo_run, sheet) == {"stored": 0, "known": 3, "open": 1}
    lines[1]["flawed"] = True
    write(sheet, *lines)
    assert imported(demo_run, sheet) == {"stored": 1, "known": 2, "open": 1}
    labels = tmp_path / "labels.jsonl"
    invoke("verdicts", "export", demo_run, "--format", "labels", "--out", labels)
    found = {line["task_id"]: line for line in read(labels)}
    assert [found[line["task_id"]]["flawed"] for line in lines[:3]] == [True, True, None]
    assert found[lines[0]["task_id"]]["note"] == HOSTILE and found[lines[2]["task_id"]]["cannot_tell"]
    assert imported(demo_run, labels) == {"stored": 0, "known": 3, "open": 0}


def test_the_truth_is_what_reviewers_agree_on_or_adjudicated(demo_run: Path, tmp_path: Path) -> None:
    contents = ReviewedRun(demo_run).contents
    say = {
        ("library/1", "ann"): "yes",
        ("library/1", "bob"): "yes",
        ("library/2", "ann"): "yes",
        ("library/2", "bob"): "no",
        ("library/3", "ann"): "no",
        ("library/3", "bob"): "yes",
    }
    events = [verdict(task, flaw, by, contents["task", task]) for (task, by), flaw in say.items()]
    final = made("adjudication", "library/3", "cem", content=contents["task", "library/3"], flaw="yes", reason="read")
    write_events(tmp_path / "events.jsonl", [*events, final])
    assert imported(demo_run, tmp_path / "events.jsonl")["stored"] == 7
    invoke("verdicts", "export", demo_run, "--format", "truth", "--out", tmp_path / "truth.jsonl")
    truth = {line["task_id"]: (line["flawed"], line["annotator"]) for line in read(tmp_path / "truth.jsonl")}
    assert truth == {"library/1": (True, "ann, bob"), "library/2": (None, "ann, bob"), "library/3": (True, "cem")}
    assert "2 of 2 labelled tasks are flawed" in invoke("score", demo_run, "--labels", tmp_path / "truth.jsonl")


def test_a_wrong_line_stores_nothing(demo_run: Path, tmp_path: Path) -> None:
    good, wrong = {"task_id": "library/1", "flawed": True}, {"task_id": "library/1x", "flawed": True}
    file = write(tmp_path / "ann.jsonl", good, wrong)
    for words, match in (
        ([file], r"ann.jsonl:2: the audit has no task 'library/1x'; did you mean 'library/1'\?"),
        ([write(tmp_path / "b.jsonl", good, {"task_id": "library/2"})], r"b.jsonl:2: has no 'flawed'"),
        ([write(tmp_path / "c.jsonl", {"task_id": "library/2", "flawed": "yes"})], "flawed is 'yes', not true or"),
    ):
        done = CliRunner().invoke(app, ["verdicts", "import", str(demo_run), *map(str, words)])
        assert isinstance(done.exception, ReviewError)
        with pytest.raises(ReviewError, match=match):
            raise done.exception
    with EventStore.of_run(demo_run) as store:
        assert store.last() == 0


def test_events_go_from_one_kind_of_store_to_the_other(demo_run: Path, postgresql_url: str, tmp_path: Path) -> None:
    labels = json.loads((demo_run / "work/settings.json").read_text())["path"] + "/labels.jsonl"
    assert imported(demo_run, labels, "--by", "ann")["stored"] == 60
    invoke("verdicts", "export", demo_run, "--out", tmp_path / "events.jsonl")
    file = tmp_path / "events.jsonl"
    assert imported(demo_run, file, "--store", postgresql_url) == {"stored": 60, "known": 0, "open": 0}
    assert imported(demo_run, file, "--store", postgresql_url) == {"stored": 0, "known": 60, "open": 0}
    outcomes = [
        json.loads(invoke("decide", demo_run, *words, "--json")) for words in ([], ["--verdicts", postgresql_url])
    ]
    assert outcomes[0]["split_id"] == outcomes[1]["split_id"] and outcomes[0]["verdicts_on_tasks"] == 60


@pytest.mark.long
@pytest.mark.corpora
def test_labels_imported_as_two_reviewers_give_the_figures_of_align(corpora: Path, tmp_path: Path) -> None:
    """One reviewer calls flawed what later releases fixed, the other only what moves the score."""
    run = tmp_path / "tau2"
    path = str(corpora / "tau2-bench_v0.1.3")
    audit_by_steps(AuditSettings(source="tau2", path=path, domains=("airline",), out=str(run)))
    labels = read(corpora / "labels_dev" / "tau2_airline.jsonl")
    strict = [line | {"flawed": line["flawed"] and line["severity"] == "gt_scoring"} for line in labels]
    first, second = write(tmp_path / "fixed.jsonl", *labels), write(tmp_path / "strict.jsonl", *strict)
    expected = json.loads(invoke("align", "score", run, first, second, "--json"))
    assert imported(run, first, second)["stored"] == 100
    with EventStore.of_run(run) as store:
        state = store.state("tau2", ReviewedRun(run).contents)
    found = agreement(state)
    assert isinstance(found, Estimate)
    assert found.model_dump() == expected["raters"]["between_annotators"][0]["kappa"]
    exported = tmp_path / "labels.jsonl"
    invoke("verdicts", "export", run, "--format", "labels", "--out", exported)
    again = json.loads(invoke("align", "score", run, exported, "--json"))
    assert again["raters"] == expected["raters"] and again["rows"] == expected["rows"]
    shown = [*invoke("align", "score", run, first).splitlines(), *invoke("align", "score", run, exported).splitlines()]
    page = (Path(__file__).parents[3] / "docs/align.md").read_text(encoding="utf-8")
    excerpts = page.partition("An excerpt: ")[2].partition("\n## ")[0].split("```")[1::2]
    lines = [line for excerpt in excerpts for line in excerpt.strip().splitlines()]
    assert len(lines) == 10 and {line.rstrip() for line in shown} >= set(lines)
