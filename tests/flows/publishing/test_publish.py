"""The published folder: what is in it, what it says, and what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.native import Native
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError, RunFolderError
from agenthard.flows.publishing.records import PublishSettings
from agenthard.flows.publishing.versions import read_publication
from agenthard.flows.repair import RepairSettings, repair_run
from agenthard.reports.comparison.audits import task_contents
from tests.flows.publishing.conftest import Audit, contents, lending, library, published


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "removals.jsonl").read_text(encoding="utf-8").splitlines()]


def header_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    return found


def test_settings_are_json() -> None:
    settings = PublishSettings(run="run", split="hard", push="me/it")
    assert PublishSettings.model_validate(json.loads(settings.model_dump_json())) == settings


def test_the_folder_holds_tables_native_files_card_removals_and_manifest(demo_run: Path, tmp_path: Path) -> None:
    made = published(demo_run, tmp_path / "out")
    names = set(contents(tmp_path / "out"))
    assert {
        *("README.md", "CHANGELOG.md", "croissant.json", "removals.jsonl", "manifest.json", "inspect_task.py"),
        *("native/tasks.jsonl", "native/environments.jsonl"),
        *("data/library/clean-00000-of-00001.parquet", "data/parcels/clean-00000-of-00001.parquet"),
        *("data/removals/removed-00000-of-00001.parquet", "data/environments/clean-00000-of-00001.parquet"),
    } <= names
    manifest = read_publication(tmp_path / "out")
    assert {file.path for file in manifest.files} == names - {"manifest.json"}
    assert list(manifest.tasks) == [task.id for task in Native(tmp_path / "out" / "native").tasks(Quarantine())]
    assert made.counts == {
        **{"total": 60, "kept": 55, "removed": 5, "under_review": 6},
        **{"unchecked": 3, "unreadable": 0, "not_read": 0},
    }


def test_native_lines_are_those_of_the_benchmark_byte_for_byte(demo_run: Path, tmp_path: Path) -> None:
    published(demo_run, tmp_path / "out")
    before = (demo_run.parent / "flawed" / "tasks.jsonl").read_bytes().splitlines()
    kept = (tmp_path / "out" / "native" / "tasks.jsonl").read_bytes().splitlines()
    assert len(kept) == 55 and set(kept) < set(before)


def test_the_first_screen_of_the_card_states_the_unchecked_share(demo_run: Path, tmp_path: Path) -> None:
    published(demo_run, tmp_path / "out")
    screen = (tmp_path / "out" / "README.md").read_text(encoding="utf-8").split("\n## ")[0]
    assert "| **in the split, unchecked** (no deciding check could run) | 3 of 55 |" in screen
    assert "| in the split | 55 of 60 |" in screen and "| removed | 5 of 60 |" in screen
    assert "Do not compare with." in screen


def test_removals_quote_the_benchmark_with_file_and_line_and_name_who_decided(demo_run: Path, tmp_path: Path) -> None:
    published(demo_run, tmp_path / "out")
    by_task = {row["task_id"]: row for row in rows(tmp_path / "out")}
    assert [row["status"] for row in by_task.values()] == ["removed"] * 5 + ["under_review"] * 6 + ["unchecked"] * 3
    removed = by_task["parcels/11"]
    assert removed["decided_by"] == [{"kind": "check", "name": removed["decided_by"][0]["name"], "said": ""}]
    assert removed["decided_by"][0]["name"].startswith("call-schema ")
    quote = removed["findings"][0]["evidence"][0]
    line = (demo_run.parent / "flawed" / quote["file"]).read_text(encoding="utf-8").splitlines()[quote["line"] - 1]
    assert quote["file"] == "tasks.jsonl" and quote["text"] in line


def test_a_person_who_decided_is_named_with_what_they_said(audit: Audit, tmp_path: Path) -> None:
    run = audit(library())
    task = json.loads((run / "split" / "cleaned" / "manifest.json").read_bytes())["kept_ids"][0]
    events = tmp_path / "events.jsonl"
    event = {"at": "2026-03-04T10:00:00Z", "by": "ada", "run": run.name, "kind": "verdict", "target": "task"}
    event |= {"id": "0190a000-0000-7000-8000-000000000001", "target_id": task}
    event |= {"content_hash": task_contents(run)[task]}
    event |= {"data": {"flaw": "yes", "reason": "no such book"}}
    events.write_text(json.dumps(event) + "\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["decide", str(run), "--verdicts", str(events)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    made = published(run, tmp_path / "out")
    assert made.counts["kept"] == 3
    [row] = [row for row in rows(tmp_path / "out") if row["task_id"] == task]
    [person] = [each for each in row["decided_by"] if each["kind"] == "person"]
    assert person["name"] == "ada" and "2026-03-04" in person["said"] and "no such book" in person["said"]
    assert "People: ada." in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_the_repaired_split_has_the_changed_tasks_and_says_who_changed_them(audit: Audit, tmp_path: Path) -> None:
    run = audit(library())
    repair_run(RepairSettings(run=str(run), out=str(run / "repair")), lambda what, steps: None)
    made = published(run, tmp_path / "out", split="repaired")
    native = {task.id: task for task in Native(tmp_path / "out" / "native").tasks(Quarantine())}
    assert "lib/4" in native and made.counts["kept"] == len(native) == 5
    [call] = native["lib/4"].ground_truth.turns[0]
    assert call.arguments["book_id"] == 5
    [row] = [row for row in rows(tmp_path / "out") if row["status"] == "repaired"]
    assert row["task_id"] == "lib/4" and row["reasons"][0].startswith("repaired: call-schema")
    import pyarrow.parquet as pq

    [table] = [
        row
        for row in pq.read_table(tmp_path / "out/data/lending/repaired-00000-of-00001.parquet").to_pylist()
        if row["id"] == "lib/4"
    ]
    assert table["decision"] == "repair" and '"book_id":5' in table["ground_truth"].replace(" ", "")


def test_licence_and_citation_of_the_source_are_carried_over(audit: Audit, tmp_path: Path) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    licence = Path(__file__).parents[3] / "LICENSE"
    shutil.copyfile(licence, folder / "LICENSE")
    (folder / "CITATION.cff").write_text("title: The Library\n<script>alert(1)</script>\n", encoding="utf-8")
    out = tmp_path / "out"
    assert published(audit(library()), out).licence == "mit"
    assert header_of(out)["license"] == "mit"
    assert (out / "source" / "LICENSE").read_bytes() == licence.read_bytes()
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "    title: The Library\n    <script>" in card  # an indented block: nothing in it is markup
    assert json.loads((out / "croissant.json").read_bytes())["citeAs"].startswith("title: The Library")


def test_what_the_release_does_not_state_is_unknown(demo_run: Path, tmp_path: Path) -> None:
    assert published(demo_run, tmp_path / "out").licence == "unknown"
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "unknown: not found in the release" in card and header_of(tmp_path / "out")["license"] == "unknown"


def test_a_licence_text_that_is_not_known_is_other(audit: Audit, tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "LICENSE").write_text("Ask us first.", encoding="utf-8")
    assert published(audit(library()), tmp_path / "out").licence == "other"
    assert header_of(tmp_path / "out")["license_link"] == "source/LICENSE"


def test_hostile_names_become_no_markup_and_no_path(audit: Audit, tmp_path: Path) -> None:
    hostile = "../../x: y\n---\n<img src=x onerror=alert(1)> | [a](b)"
    tasks = [lending(i, i + 1, subtask=hostile) for i in range(3)]
    out = tmp_path / "out"
    published(audit([*tasks, lending(3, "four", subtask=hostile)]), out, name=hostile)
    card = (out / "README.md").read_text(encoding="utf-8")
    body = card.split("---\n", 2)[2]
    assert "<img" not in body.replace("\\<img", "")
    header = header_of(out)
    assert [config["config_name"] for config in header["configs"]][1] == "x-y-img-src-x-onerror-alert-1-a-b"
    assert all(path.resolve().is_relative_to(out.resolve()) for path in out.rglob("*"))


def test_two_runs_of_the_same_release_publish_the_same_bytes(audit: Audit, tmp_path: Path) -> None:
    published(audit(library()), tmp_path / "one")
    published(audit(library()), tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_an_empty_split_is_published_as_such(audit: Audit, tmp_path: Path) -> None:
    made = published(audit([lending(0, "one")]), tmp_path / "out")
    assert made.counts["kept"] == 0 and made.inspect == "it has no task"
    assert not (tmp_path / "out" / "data" / "lending").exists()


def damage_findings(run: Path) -> None:
    (run / "findings.json").write_text('{"findings": [{"id"', encoding="utf-8")


def damage_decisions(run: Path) -> None:
    path = run / "tables" / "decisions.parquet"
    path.write_bytes(path.read_bytes()[:100])


def damage_split(run: Path) -> None:
    path = run / "split" / "cleaned" / "tasks.jsonl"
    path.write_bytes(path.read_bytes().replace(b"book", b"bock", 1))


def lose_split_file(run: Path) -> None:
    (run / "split" / "cleaned" / "tasks.jsonl").unlink()


def damage_manifest(run: Path) -> None:
    (run / "split" / "cleaned" / "manifest.json").write_text("{}", encoding="utf-8")


def change_manifest(run: Path) -> None:
    path = run / "split" / "cleaned" / "manifest.json"
    manifest = json.loads(path.read_bytes())
    path.write_text(json.dumps({**manifest, "kept_ids": manifest["kept_ids"][1:]}), encoding="utf-8")


def lose_manifest(run: Path) -> None:
    (run / "manifest.json").unlink()


def change_benchmark(run: Path) -> None:
    path = run.parent / "library" / "tasks.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_findings, "the run folder is damaged"),
        (damage_decisions, "the run folder is damaged"),
        (damage_split, "damaged or edited"),
        (lose_split_file, "missing, and the split's manifest names it"),
        (damage_manifest, r"damaged \(split: Field required\)"),
        (change_manifest, "does not follow from the decisions of the audit"),
        (lose_manifest, "no finished audit here"),
        (change_benchmark, "the benchmark has changed since the audit"),
    ],
)
def test_what_is_damaged_or_has_changed_is_refused(damage: Any, message: str, audit: Audit, tmp_path: Path) -> None:
    run = audit(library())
    damage(run)
    with pytest.raises(CommandError, match=message):
        published(run, tmp_path / "out")
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".out*"))


@pytest.mark.parametrize(("split", "command"), [("hard", "agenthard report"), ("repaired", "agenthard repair")])
def test_a_split_that_is_not_there_names_the_command_that_writes_it(
    split: str, command: str, audit: Audit, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match=f"no {split} split is here; `{command}` writes it"):
        published(audit(library()), tmp_path / "out", split=split)


def test_a_folder_with_other_content_is_not_overwritten(audit: Audit, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(RunFolderError, match="not empty and holds no publication"):
        published(audit(library()), tmp_path / "out")
    assert (tmp_path / "out" / "thesis.txt").read_text() == "years of work"


def test_the_command_prints_a_summary_and_json(audit: Audit, tmp_path: Path) -> None:
    run, out = audit(library()), tmp_path / "out"
    done = CliRunner().invoke(app, ["publish", str(run), "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0 and "native-clean 1.0.0 (first)" in done.stdout and "4 of 6 tasks" in done.stdout
    again = CliRunner().invoke(app, ["publish", str(run), "--out", str(out), "--json"], catch_exceptions=False)
    assert json.loads(again.stdout)["changed"] is False
    assert CliRunner().invoke(app, ["publish"]).exit_code != 0
