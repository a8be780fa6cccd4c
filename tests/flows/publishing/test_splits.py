"""Hard splits, and splits of sources without a harness of their own, in their own format."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.errors import CommandError
from agenthard.flows.publishing.versions import read_publication
from agenthard.flows.report import ReportSettings, make_report
from agenthard.taxonomy.files import write_text
from tests.builders import make_run
from tests.flows.audits import audit_by_steps
from tests.flows.publishing.conftest import lending, published, write_library

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "library"


def removals(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "removals.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.long
def test_a_hard_split_names_its_selection_models_and_what_was_not_selected(tmp_path: Path) -> None:
    folder = write_library(tmp_path / "library", [lending(i, i + 1) for i in range(20)])
    runs = [make_run(f"lib/{i}", f"model-{m}", passed=i % 2 == 0 or m > i // 3) for i in range(20) for m in range(6)]
    write_text(folder / "runs.jsonl", "".join(run.model_dump_json() + "\n" for run in runs))
    settings = AuditSettings(
        source="native", path=str(folder), runs=(str(folder / "runs.jsonl"),), out=str(tmp_path / "run")
    )
    audit_by_steps(settings)
    assert make_report(ReportSettings(run=str(tmp_path / "run"))).hard_split
    made = published(tmp_path / "run", tmp_path / "out", split="hard")
    found = removals(tmp_path / "out")
    not_selected = [row for row in found if row["status"] == "not_selected"]
    assert (
        not_selected
        and made.counts["kept"] + len(not_selected) + sum(row["status"] == "removed" for row in found) == 20
    )
    assert "for the hard split: solved by" in not_selected[0]["reasons"][0]
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "These models selected the split; do not report their scores on it: model-5, model-4" in card
    assert (tmp_path / "out" / "data" / "lending" / "hard-00000-of-00001.parquet").is_file()
    (tmp_path / "run" / "split" / "hard" / "tasks.jsonl").unlink()
    with pytest.raises(CommandError, match="write the split again"):
        published(tmp_path / "run", tmp_path / "out", split="hard")


def test_mapped_rows_are_published_with_their_mapping(tmp_path: Path) -> None:
    audit_by_steps(AuditSettings(source="mapping", path=str(EXAMPLE), out=str(tmp_path / "run")))
    published(tmp_path / "run", tmp_path / "out")
    made = read_publication(tmp_path / "out")
    source = open_source("mapping", tmp_path / "out" / "native")
    assert [task.id for task in source.tasks(Quarantine())] == list(made.tasks)
    assert yaml.safe_load((tmp_path / "out" / "native" / "mapping.yaml").read_text(encoding="utf-8"))


@pytest.mark.corpora
@pytest.mark.long
@pytest.mark.parametrize("source", ["agencybench", "ace"])
def test_other_sources_read_back_what_was_published(source: str, corpora: Path, tmp_path: Path) -> None:
    places = {"agencybench": "agencybench", "ace": "ace_reference/5x5_released/course*.json.gz"}
    [path] = corpora.glob(places[source])
    audit_by_steps(AuditSettings(source=source, path=str(path), out=str(tmp_path / "run")))
    done = published(tmp_path / "run", tmp_path / "out")
    made = read_publication(tmp_path / "out")
    found = {task.id for task in open_source(source, tmp_path / "out" / "native").tasks(Quarantine())}
    assert found == set(made.tasks) and len(found) == done.counts["kept"] > 0
    assert done.inspect  # a rubric, or a grid with a task of its own
