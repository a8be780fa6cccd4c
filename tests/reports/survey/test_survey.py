"""What a survey of finished audits counts, and what it says is missing."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from agenthard.audit.statistics import Estimate, Undefined, wilson
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.kit.load import RunTablesError
from agenthard.reports.survey.page import headline, write_survey
from agenthard.reports.survey.record import Survey
from agenthard.reports.survey.survey import SurveyError, survey
from tests.reports.survey.library import ATTACK

FEW = AnalysisSettings(draws=200, resamples=200)


@pytest.fixture(scope="module")
def found(audits: Mapping[str, Path]) -> Survey:
    return survey(list(audits.values()), FEW)


def test_flagged_tasks_are_k_of_n_with_wilsons_interval(found: Survey) -> None:
    first = found.benchmarks[0]
    low, high = wilson(2, 12)
    assert (first.flagged.k, first.flagged.n) == (2, 12), "tasks 0 and 5 have a text where the schema says integer"
    assert isinstance(first.flagged.share, Estimate)
    assert (first.flagged.share.low, first.flagged.share.high) == pytest.approx((low, high))
    rows = {row.category: row for row in first.categories}
    assert sum(row.flagged.k for row in rows.values()) == 2
    [flawed] = [row for row in rows.values() if row.flagged.k]
    assert flawed.component == "ground_truth" and flawed.flagged.n == 12 and flawed.confirmed == 2


def test_a_category_that_no_check_looked_for_is_not_free_of_flaws(found: Survey) -> None:
    unlooked = [row for row in found.benchmarks[2].categories if not row.flagged.n]
    assert unlooked and all(isinstance(row.flagged.share, Undefined) and row.checks == 0 for row in unlooked)


def test_an_audit_without_runs_says_so(found: Survey) -> None:
    bare = found.benchmarks[2]
    assert bare.run == "bare" and "no recorded model runs" in bare.unseen.sentences
    assert isinstance(bare.points, Undefined) and "no runs of models were given" in bare.points.reason
    assert "no runs of models were given" in bare.board and bare.stability == ""
    assert "1 of them had no recorded model runs" in headline(found)


def test_what_was_not_looked_at_is_counted(found: Survey) -> None:
    unseen = found.benchmarks[3].unseen
    assert unseen.not_asked == ("call-schema",) and "1 check not asked to run" in unseen.sentences
    assert unseen.read == unseen.there == unseen.checked == 12
    idle = found.benchmarks[2].unseen.idle
    assert "all-fail" in idle and f"{len(idle)} of {found.benchmarks[2].unseen.checks} checks could run on no task" in (
        found.benchmarks[2].unseen.sentences
    )


def test_another_policy_and_other_checks_are_not_comparable(found: Survey) -> None:
    assert [each.run for each in found.benchmarks if each.differences] == ["other"]
    said = " ".join(found.benchmarks[3].differences)
    assert "policy kept here, 3 there" in said and "1 check asked to run there only (call-schema)" in said
    assert found.reference == "first" and "1 was made differently" in headline(found)


def test_history_counts_new_persisted_and_fixed(audits: Mapping[str, Path]) -> None:
    [history] = survey([audits["first"], audits["second"]], FEW).histories
    assert "as the runs were given" in history.order
    first, second = history.versions
    assert first.change is None and second.change is not None
    change = second.change
    assert (change.new, change.persisted, change.fixed, change.flipped, change.unchecked) == (1, 1, 1, 0, 0)
    assert (change.same, change.changed, change.gone, change.added) == (10, 2, 0, 0), "tasks 0 and 7 changed"
    assert change.causes == {"task": 1} and change.not_comparable == ()


def test_a_history_over_other_checks_says_so(audits: Mapping[str, Path]) -> None:
    [history] = survey([audits["first"], audits["other"]], FEW).histories
    change = history.versions[1].change
    assert change is not None and change.fixed == 0 and change.unchecked == 2, "not checked never reads as fixed"
    assert any("policy kept here" in words for words in change.not_comparable)


def test_points_of_the_models_are_on_the_flawed_tasks(found: Survey) -> None:
    points = found.benchmarks[0].points
    assert not isinstance(points, Undefined)
    rows = {row.model: row for row in points}
    assert set(rows) == {"ada", "bob <b>", ATTACK}
    ada = rows["ada"]
    assert ada.score == pytest.approx(8 / 12) and ada.dropped == 2
    assert ada.won.least == ada.won.most == pytest.approx(2 / 12), "it passes tasks 0 and 5"
    assert ada.without == type(ada.won)(least=6 / 10, most=6 / 10)
    assert isinstance(ada.rank_before, Estimate) and ada.rank_before.value == 1
    assert ada.rank_before.low is not None and ada.rank_after is not None


def test_equal_input_gives_equal_bytes(audits: Mapping[str, Path], tmp_path: Path) -> None:
    runs = [audits["first"], audits["bare"]]
    for name in ("a", "b"):
        write_survey(survey(runs, FEW), tmp_path / name / "index.html")
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) == 7
    assert all((tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes() for file in files)
    assert Survey.model_validate_json((tmp_path / "a" / "survey.json").read_bytes()) == survey(runs, FEW)


def test_tables_have_the_figures_and_the_meaning_of_every_column(found: Survey, tmp_path: Path) -> None:
    write_survey(found, tmp_path / "page.html")
    models = pq.read_table(tmp_path / "tables" / "models.parquet")
    assert all(field.metadata[b"description"] for field in models.schema)
    [ada] = [row for row in models.to_pylist() if row["model"] == "ada" and row["run"] == "first"]
    assert ada["won_least"] == pytest.approx(2 / 12) and ada["share_most"] == pytest.approx(2 / 8)
    benchmarks = pq.read_table(tmp_path / "tables" / "benchmarks.parquet").to_pylist()
    assert [(row["what"], row["k"], row["n"]) for row in benchmarks[:2]] == [("flagged", 2, 12), ("dropped", 2, 12)]


def test_runs_that_a_reader_could_not_tell_apart_are_refused(audits: Mapping[str, Path], tmp_path: Path) -> None:
    with pytest.raises(SurveyError, match="the same name, 'first'"):
        survey([audits["first"], audits["first"]])
    with pytest.raises(SurveyError, match="no run folder"):
        survey([])
    with pytest.raises(RunTablesError, match="no finished audit here"):
        survey([tmp_path])


def test_a_manifest_of_another_layout_is_refused(audits: Mapping[str, Path], tmp_path: Path) -> None:
    run = Path(shutil.copytree(audits["bare"], tmp_path / "old"))
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    del manifest["outcome"]["tasks_there"]
    (run / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(RunTablesError, match="old: manifest.json has no 'tasks_there'; audit again"):
        survey([run])


def test_anchors_are_those_of_the_release_and_distinct(found: Survey, audits: Mapping[str, Path]) -> None:
    assert [each.anchor for each in found.benchmarks] == [
        f"native-{found.benchmarks[0].audit.benchmark}-{run}" for run in ("first", "second", "bare", "other")
    ]
    alone = survey([audits["first"]], FEW).benchmarks[0]
    assert alone.anchor == f"native-{alone.audit.benchmark}", "one audit of a release has the anchor of the release"
