"""Leaderboards of tables with missing cells, partial credit and weights."""

from agenthard.audit.statistics import Estimate, ScoreMatrix, Undefined, matrix_from_rows
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.missing import missing_cells
from agenthard.reports.cleaning.models import analyse_matrix

SETTINGS = AnalysisSettings(draws=200, resamples=100)
ROWS = {"a": "11111111111111100001", "b": "11111001010101100110", "c": "01001000010001000010"}


def table(holes: dict[str, int]) -> ScoreMatrix:
    values = [[None if holes.get(m) == i else int(x) for i, x in enumerate(row)] for m, row in ROWS.items()]
    return ScoreMatrix.from_array(values, list(ROWS), [f"t{i}" for i in range(20)])


def test_one_empty_cell_costs_a_task_and_no_model() -> None:
    found = analyse_matrix(table({"a": 19}), (), SETTINGS)
    board = found.leaderboards[0]
    assert [(row.model, row.tasks) for row in board.rows] == [("a", 19), ("b", 19), ("c", 19)]
    assert found.runs.comparable == ("a", "b", "c")
    assert not isinstance(board.differences, Undefined)
    by_pair = {(pair.first, pair.second): pair.difference.n for pair in board.differences}
    assert by_pair["a", "b"] == 19 and by_pair["b", "c"] == 20
    (part,) = found.missing
    assert not isinstance(part.found, Undefined)
    assert [cells[:2] for cells in missing_cells(part.found)] == [("a", "19/20")]
    assert "only the bounds hold" in part.sentence


def test_where_no_task_is_complete_scores_are_modelled() -> None:
    rows = [
        {"model": f"{m}{k}", "task": f"t{i}", "score": None if i == (k + 7 * j) % 20 else int(x)}
        for j, (m, row) in enumerate(ROWS.items())
        for k in range(7)
        for i, x in enumerate(row)
    ]
    found = analyse_matrix(matrix_from_rows(rows), (), SETTINGS)
    board = found.leaderboards[0]
    assert board.complete == 0 and [row.rank for row in board.rows] == list(range(1, 22))
    assert board.rows[0].model.startswith("a") and isinstance(board.rows[0].score, Estimate)
    assert "mixed logit" in board.rows[0].score.method and "no task has a verdict for every model" in board.method
    assert not isinstance(board.tied_sets, Undefined)


def test_partial_credit_and_weights_have_a_board() -> None:
    rows = [
        {"model": m, "task": f"t{i}", "score": min(1.0, 0.1 * ((i * k) % 7 + k)), "weight": 1 + i % 3}
        for k, m in enumerate("abc", 1)
        for i in range(15)
    ]
    found = analyse_matrix(matrix_from_rows(rows), ["t3", "t4"], SETTINGS)
    board = found.leaderboards[0]
    first = board.rows[0]
    own = [row for row in rows if row["model"] == first.model]
    weight = sum(float(row["weight"]) for row in own)
    score = sum(float(row["score"]) * float(row["weight"]) for row in own) / weight
    assert isinstance(first.score, Estimate) and abs(first.score.value - score) < 1e-12
    assert "weighted" in board.method and "paired t tests" in board.method
    assert found.stability is not None and not found.missing
