"""Published results: three shapes of files, counts behind means, and what does not fit."""

from pathlib import Path

import pytest

from agenthard.ace.declared import ACE
from agenthard.audit.statistics import Estimate
from agenthard.audit.statistics.intervals import wilson
from agenthard.reports.evaluation import About, EvaluationError, analyse, read_published
from agenthard.reports.evaluation.published import merged
from tests.reports.evaluation.frames import episodes, verdicts


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


INSTANCES = """model,instance_id,domain,hidden_slots,branch_budget,score
m,c1,course,1,0,1
m,c2,course,1,2,0
m,f1,meal,1,0,1
m,f1,meal,1,0,1
m,f2,meal,one,0,1
n,c1,course,1,0,2
"""


def test_results_per_instance(tmp_path: Path) -> None:
    found = read_published(written(tmp_path, "per.csv", INSTANCES), ACE)
    (model,) = found.models
    assert (found.kind, model.passed, model.n) == ("per-instance", 2, 3)
    assert [(d.domain, d.passed, d.n) for d in model.domains] == [("course", 1, 2), ("meal", 1, 1)]
    assert [(c.levels["hidden_slots"], c.levels["decoy_budget"], c.passed, c.n) for c in model.cells] == [
        (1, 0, 2, 2),
        (1, 2, 0, 1),
    ]
    assert [problem.split(":")[0] for problem in found.problems] == ["line 5", "line 6", "line 7"]
    assert "a second time" in found.problems[0] and "score of 0 or 1" in found.problems[2]


def test_means_per_domain_are_counts(tmp_path: Path) -> None:
    # 51/54 = .944444, 44/54 = .814815; .95·54 = 51.3 is no whole number, so that model is left out.
    text = "model,course,meal,overall\nm,0.944444,0.814815,0.879630\nw,0.950000,0.5,0.7\no,0.5,0.5,0.6\n"
    found = read_published(written(tmp_path, "means.csv", text), ACE)
    assert [(m.model, m.passed, m.n) for m in found.models] == [("m", 95, 108), ("o", 54, 108)]
    assert [d.passed for d in found.models[0].domains] == [51, 44]
    wrong, other = found.problems
    assert wrong == "line 3: w left out: no k of 54 gives course = '0.950000' with 6 decimals"
    assert other == "line 4: o: overall is 0.6, its domains give 0.500000"


def test_means_of_few_digits_are_not_guessed(tmp_path: Path) -> None:
    found = read_published(written(tmp_path, "means.csv", "model,course\nm,0.5\n"), ACE)
    assert found.models == () and "several k of 54 give" in found.problems[0]
    assert (
        read_published(written(tmp_path, "means.csv", "model,course\nm,0.5\n"), ACE, instances_per_domain=4)
        .models[0]
        .passed
        == 2
    )


def test_successes_per_cell(tmp_path: Path) -> None:
    text = "model,hidden_slots,branch_budget,successes_of_6\nm,1,0,6\nm,1,2,3\nm,1,2,4\nm,5,0,7\n"
    found = read_published(written(tmp_path, "cells.csv", text), ACE)
    assert (found.kind, found.models[0].passed, found.models[0].n) == ("cells", 9, 12)
    assert "twice" in found.problems[0] and "from 0 to 6" in found.problems[1]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "model\nm\n", "model,score\nm,1\n"])
def test_other_files_are_refused_with_the_shapes_there_are(tmp_path: Path, text: str) -> None:
    with pytest.raises(EvaluationError, match="other.csv: its columns .* successes_of_N"):
        read_published(written(tmp_path, "other.csv", text), ACE)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="absent.csv: no published results"):
        read_published(tmp_path / "absent.csv", ACE)
    (tmp_path / "bytes.csv").write_bytes(b"model,\xff\xfe\n")
    with pytest.raises(EvaluationError, match="no published results"):
        read_published(tmp_path / "bytes.csv", ACE)


def test_equal_counts_are_one_model_and_others_stay_apart(tmp_path: Path) -> None:
    means = read_published(
        written(tmp_path, "means.csv", "model,course,meal\nm,0.5,1\nn,0.5,0.5\n"), ACE, instances_per_domain=2
    )
    cells = read_published(
        written(tmp_path, "cells.csv", "model,hidden_slots,branch_budget,successes_of_4\nm,1,0,3\nn,1,0,1\n"), ACE
    )
    both = merged([means, cells])
    assert [(m.model, m.passed, m.n, m.sources) for m in both] == [
        ("m", 3, 4, ("means.csv", "cells.csv")),
        ("n", 2, 4, ("means.csv",)),
        ("n", 1, 4, ("cells.csv",)),
    ]
    assert both[0].domains and both[0].cells


def test_published_models_are_listed_without_a_rank(tmp_path: Path) -> None:
    found = analyse(
        episodes(*verdicts("a", "10")),
        About(),
        [read_published(written(tmp_path, "per.csv", INSTANCES), ACE)],
        declared=ACE,
    )
    assert [row.agent for row in found.board] == ["a"] and found.pairs == ()
    (row,) = found.published
    assert isinstance(row.score, Estimate) and (row.score.low, row.score.high) == wilson(2, 3)
    assert [(grid.agent, grid.published) for grid in found.heat_maps] == [("a", False), ("m", True)]
    assert [d.domain for d in found.domains if d.published] == ["course", "meal"]


@pytest.mark.corpora
def test_the_papers_results(corpora: Path) -> None:
    # Table 2 of the ACE paper: 13 models, each domain k/54; GLM-4.7-FP8 solves 152 of 324 in both files.
    folder = corpora / "ace_reference" / "real"
    files = [read_published(path, ACE) for path in sorted(folder.glob("*.csv"))]
    assert [(f.kind, len(f.models), f.problems) for f in files] == [
        ("per-instance", 1, ()),
        ("domain-means", 13, ()),
        ("cells", 3, ()),
    ]
    models = {m.model: m for m in merged(files)}
    assert len(models) == 13 and all(m.n == 324 for m in models.values())
    glm = models["GLM-4.7-FP8"]
    assert glm.passed == 152 and len(glm.sources) == 2 and len(glm.cells) == 54 and len(glm.domains) == 6
    best = next(iter(merged(files)))
    assert best.model == "Qwen3.5-397B-A17B" and best.passed == 275 and round(best.passed / 324, 4) == 0.8488
