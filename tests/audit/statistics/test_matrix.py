from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike

from agenthard.audit.statistics import DifferentModelsError, MatrixError, ScoreMatrix, require_same_models

Build = Callable[[ArrayLike], ScoreMatrix]


@pytest.mark.parametrize("bad", [np.nan, 1.5, 2, -1, "1"])
def test_a_score_outside_0_to_1_is_refused_by_name(bad: object) -> None:
    with pytest.raises(MatrixError, match=r"undefined because model 'b' has the score .* on task 't2'"):
        ScoreMatrix.from_array([[1, 0], [0, bad]], ["a", "b"], ["t1", "t2"])


def test_ids_that_occur_twice_are_refused() -> None:
    with pytest.raises(MatrixError, match="undefined because 1 model id.* 'a'"):
        ScoreMatrix.from_array([[1], [0]], ["a", "a"], ["t"])
    with pytest.raises(MatrixError, match="undefined because 1 task id.* 't'"):
        ScoreMatrix.from_array([[1, 0]], ["a"], ["t", "t"])


def test_a_shape_that_does_not_fit_is_refused() -> None:
    with pytest.raises(MatrixError, match="not 1 models × 3 tasks"):
        ScoreMatrix.from_array([[1, 0]], ["a"], ["t1", "t2", "t3"])


def test_missing_cells_are_neither_pass_nor_fail(matrix: Build) -> None:
    m = matrix([[1, None, 0], [1, 1, 0]])
    assert m.coverage == (5, 6)
    assert m.lost_runs == {"not_run": 1}
    assert m.complete_tasks().tasks == ("t0", "t2")
    assert m.complete_models().models == ("m1",)
    assert m.scores() == {"m0": 0.5, "m1": 0.5}


def test_several_runs_of_a_cell_give_a_share() -> None:
    passed, runs = np.array([[1, 4]], np.int32), np.array([[4, 4]], np.int32)
    m = ScoreMatrix(("a",), ("t1", "t2"), passed, runs, np.zeros((1, 2), np.int32), np.zeros((1, 2), np.int8))
    assert not m.binary
    assert m.scores() == {"a": (1 / 4 + 1) / 2}


def test_more_passes_than_runs_are_refused() -> None:
    one, zero = np.array([[1]], np.int32), np.array([[0]], np.int32)
    with pytest.raises(MatrixError, match="more passed runs than runs"):
        ScoreMatrix(("a",), ("t",), one, zero, zero, zero.astype(np.int8))


def test_the_arrays_cannot_be_changed(matrix: Build) -> None:
    with pytest.raises(ValueError, match="read-only"):
        matrix([[1, 0]]).passed[0, 0] = 0


def test_keep_and_drop_are_complements_and_refuse_unknown_tasks(matrix: Build) -> None:
    m = matrix([[1, 0, 1], [0, 0, 1]])
    assert m.keep({"t2", "t0"}).tasks == m.drop(["t1"]).tasks == ("t0", "t2")
    assert m.keep({"t2"}).values.tolist() == [[1], [1]]
    for cut in (m.keep, m.drop):
        with pytest.raises(MatrixError, match="'t9'"):
            cut(["t9"])
    with pytest.raises(MatrixError, match="no model 'm9'"):
        m.keep_models(["m9"])


def test_the_split_id_depends_on_the_set_of_tasks_only(matrix: Build) -> None:
    m = matrix([[1, 0, 1], [0, 0, 1]])
    assert m.take([2, 0, 1]).split_id == m.split_id == m.keep_models(["m1"]).split_id
    assert m.take([0, 1]).split_id != m.split_id
    assert len(m.split_id) == 12
    # a name that holds a separator is no pair of names
    assert ScoreMatrix.from_array([[1]], "a", ["x,y"]).split_id != ScoreMatrix.from_array([[1, 1]], "a", "xy").split_id


def test_other_models_are_named() -> None:
    require_same_models(["a", "b"], ["b", "a"])
    with pytest.raises(
        DifferentModelsError, match=r"only the first side has \['a'\], only the second has \['c', 'd'\]"
    ):
        require_same_models(["a", "b"], ["b", "c", "d"])
