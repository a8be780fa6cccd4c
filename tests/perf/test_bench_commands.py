"""The comparison of `make bench`; what the commands take is measured by it, not here."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

PERF = Path(__file__).parents[2] / "perf"
BEFORE = {"cpu": 2.0, "mb": 100.0, "unit": 1.0, "disk": 10.0}


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    sys.path.insert(0, str(PERF))
    try:
        import bench_commands
    finally:
        sys.path.remove(str(PERF))
    return bench_commands


def test_every_recorded_figure_belongs_to_a_row(bench: ModuleType) -> None:
    recorded = json.loads(bench.FIGURES.read_text(encoding="utf-8"))
    assert set(recorded) <= {row.name for row in bench.ROWS}
    assert {row.name for row in bench.ROWS if not row.long} <= set(recorded)


@pytest.mark.parametrize(
    ("found", "worse"),
    [
        ({"cpu": 2.3, "mb": 110.0, "unit": 1.0, "disk": 11.0}, []),
        ({"cpu": 2.6, "mb": 100.0, "unit": 1.0, "disk": 10.0}, ["CPU +30%"]),
        ({"cpu": 2.6, "mb": 100.0, "unit": 1.3, "disk": 10.0}, []),  # a slower machine
        ({"cpu": 2.0, "mb": 100.0, "unit": 0.5, "disk": 10.0}, ["CPU +100%"]),  # a faster one
        ({"cpu": 2.0, "mb": 150.0, "unit": 1.0, "disk": 13.0}, ["memory +50%", "disk +30%"]),
        ({"cpu": 2.0, "mb": 100.0, "unit": 1.0}, []),
    ],
)
def test_more_than_a_fifth_is_slower(bench: ModuleType, found: dict[str, float], worse: list[str]) -> None:
    assert bench.grown(found, BEFORE) == worse
    assert bench.grown(found, {}) == []


@pytest.mark.long
def test_a_command_is_measured_by_its_own_process(bench: ModuleType, tmp_path: Path) -> None:
    taken = bench.used(["--version"], tmp_path)
    assert 0 < taken.cpu < 60
    assert taken.mb > 5
    with pytest.raises(SystemExit, match="exit code 64"):
        bench.used(["audit", "native", "nothing-here"], tmp_path)
