import gzip
from pathlib import Path

import pandas as pd
import pytest

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.runs import is_matrix, read_matrix


def read(path: Path) -> tuple[dict[tuple[str, str, int], bool | None], Quarantine]:
    quarantine = Quarantine()
    runs = list(read_matrix(path, quarantine))
    assert len({run.id for run in runs}) == len(runs)
    return {(run.model, run.task_id, run.trial): run.passed for run in runs}, quarantine


def test_wide_tables_plain_and_gzip(tmp_path: Path) -> None:
    text = "model,t1,t2,t3\nA,1,0,\nB,0.5,nan,1.0\n"
    (tmp_path / "m.csv").write_text(text)
    (tmp_path / "m.csv.gz").write_bytes(gzip.compress(text.encode()))
    expected = {("A", "t1", 0): True, ("A", "t2", 0): False, ("B", "t1", 0): False, ("B", "t3", 0): True}
    for name in ("m.csv", "m.csv.gz"):
        assert is_matrix(tmp_path / name)
        found, quarantine = read(tmp_path / name)
        assert found == expected
        assert quarantine.items == []


def test_long_tables_and_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"model": ["A", "A", "B"], "task_id": ["t1", "t1", "t2"], "score": [1, 0, None], "trial": [0, 1, 0]}
    )
    frame.to_csv(tmp_path / "m.csv", index=False)
    frame.to_parquet(tmp_path / "m.parquet")
    for name in ("m.csv", "m.parquet"):
        found, _ = read(tmp_path / name)
        assert found == {("A", "t1", 0): True, ("A", "t1", 1): False}


def test_cells_that_are_no_scores_are_quarantined_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("model,t1,t2\nA,yes,1\nB,2,0\nC,1\n")
    found, quarantine = read(tmp_path / "m.csv")
    assert found == {("A", "t2", 0): True, ("B", "t2", 0): False}
    assert [(q.line, q.pointer) for q in quarantine.items] == [(2, "/t1"), (3, "/t1"), (4, "")]


@pytest.mark.parametrize("text", ["", "model\nA\n", "model,t1,t1\nA,1,0\n"])
def test_other_tables_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(SourceError, match="not a score table"):
        list(read_matrix(tmp_path / "m.csv", Quarantine()))


@pytest.mark.long
@pytest.mark.corpora
def test_the_real_bfcl_matrices_are_read_whole(corpora: Path) -> None:
    file = corpora / "bfcl_v1_results" / "bfcl_v1_results_2024-08-11.csv.gz"
    found, quarantine = read(file)
    assert len({model for model, _, _ in found}) == 71
    assert len(found) == 71 * 1700
    assert quarantine.items == []
