"""One form for any table of episodes: verdicts, attempts, and what was wrong with it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from agenthard.ace.declared import ACE
from agenthard.reports.evaluation import EvaluationError, read_episodes
from agenthard.reports.evaluation.episodes import normalised
from tests.reports.evaluation.frames import episodes


def test_verdicts_follow_the_status() -> None:
    table = normalised(
        episodes(
            {"task_id": "t1", "passed": True},
            {"task_id": "t2", "passed": False},
            {"task_id": "t3", "passed": None},
            {"task_id": "t4", "passed": None, "status": "agent_error"},
            {"task_id": "t5", "passed": None, "status": "infrastructure_error"},
            {"task_id": "t6", "passed": True, "status": "judge_error"},
        ),
        ACE,
    )
    verdicts = table.final["verdict"].tolist()
    assert verdicts[:2] == [1.0, 0.0] and verdicts[3] == 0.0, "an agent that broke its own episode has failed"
    assert np.isnan([verdicts[i] for i in (2, 4, 5)]).all()
    assert table.notes == (
        "1 attempt that the infrastructure or the judge broke, with a verdict: it is not used (of 6 rows)",
    )


def test_first_and_final_attempts() -> None:
    table = normalised(
        episodes(
            {"attempt": 2, "passed": True},
            {"attempt": 0, "passed": None, "status": "infrastructure_error"},
            {"attempt": 1, "passed": None, "status": "infrastructure_error"},
            {"attempt": 0, "trial": 1, "passed": False},
        ),
        ACE,
    )
    assert table.first["attempt"].tolist() == [0, 0] and table.final["attempt"].tolist() == [2, 0]


def test_what_is_wrong_is_noted_and_the_rest_goes_on() -> None:
    table = normalised(
        episodes(
            {"task_id": "t1", "status": "unheard of"},
            {"task_id": "t1", "passed": False},
            {"task_id": "t2", "passed": "maybe", "turns": float("inf"), "trial": None},
            {"task_id": None},
            {"task_id": "t3", "failure_rate": None, "turns": "many"},
        ),
        ACE,
    )
    assert table.final["task_id"].tolist() == ["t1", "t2", "t3"]
    assert table.final["verdict"].tolist()[0] == 1.0, "the first of two rows for one attempt counts"
    assert len(table.notes) == 7 and all("of 5 rows" in note for note in table.notes)
    said = " ".join(table.notes)
    for words in ("neither true nor false", "without an agent or a task", "status that is not known"):
        assert f"1 row {'with a ' if words.startswith('status') else ''}".strip() in said and words in said
    assert "another row tells of" in said and "without trial: read as 0" in said and "2 rows with a turns" in said


def test_columns_that_are_absent_are_unknown() -> None:
    slim = pd.DataFrame(
        {"agent": ["a"], "task_id": ["t"], "trial": [0], "attempt": [0], "status": ["ok"], "passed": [True]}
    )
    table = normalised(slim, ACE)
    assert table.final["verdict"].tolist() == [1.0] and table.final["turns"].isna().all()
    assert table.failure_rates == (0.0,) and table.notes == ()
    with pytest.raises(EvaluationError, match="no column agent, passed: nothing can be counted"):
        normalised(slim.drop(columns=["agent", "passed"]), ACE)


def test_types_that_parquet_gives_back(tmp_path: Path) -> None:
    frame = episodes({"passed": True}, {"task_id": "t2", "passed": None, "status": "judge_error"})
    frame["passed"] = frame["passed"].astype("boolean")
    frame["turns"] = pd.array([3, None], dtype="Int64")
    frame.to_parquet(tmp_path / "episodes.parquet")
    table = normalised(read_episodes(tmp_path / "episodes.parquet"), ACE)
    assert table.final["verdict"].tolist()[0] == 1.0 and np.isnan(table.final["verdict"].tolist()[1])
    assert table.final["turns"].tolist()[0] == 3.0
    with pytest.raises(EvaluationError, match="no such file"):
        read_episodes(tmp_path / "absent.parquet")
    (tmp_path / "broken.parquet").write_text("no parquet")
    with pytest.raises(EvaluationError, match="no table of episodes can be read"):
        read_episodes(tmp_path / "broken.parquet")
