"""The fault campaign on a small scale: every scenario with two kills and one of each other fault."""

from pathlib import Path

import pytest

from perf.faults.campaign import SCENARIOS, run_campaign
from perf.faults.row import Row, table
from tests.loopback.app import KEY


@pytest.mark.long
@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_lost_doubled_or_different(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("COMPATIBLE_API_KEY", KEY)
    rows = list(run_campaign([name], count=2, faults=1, seed=3, place=tmp_path))
    wrong = [row for row in rows if row.wrong]
    assert not wrong, table(wrong) + "\n" + "\n".join(problem for row in wrong for problem in row.problems)
    kills = sum(row.injected for row in rows if row.fault == "SIGKILL")
    assert kills == 2 or any(row.not_run for row in rows if row.store == "PostgreSQL")


def test_a_row_without_faults_or_with_any_difference_is_not_sound() -> None:
    row = Row("audit", "files", "SIGKILL", injected=1)
    row.compare({"a": "1", "b": "2"}, {"a": "1", "b": "2"})
    assert row.sound
    assert not Row("audit", "files", "SIGKILL", compared=1).sound
    row.compare({"a": "1", "b": "2"}, {"a": "1", "c": "2"})
    assert (row.differing, row.sound, row.problems) == (2, False, ["different: b, c"])
    assert "| audit | files | SIGKILL | 1 | 0 | 2 | 0 | 0 | 2 | 0 | 0 | 0 |" in table([row])
