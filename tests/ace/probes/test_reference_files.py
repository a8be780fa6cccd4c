"""What gives answers away in the released files; the battery has to find it by itself."""

from pathlib import Path

import numpy as np
import pytest

from agenthard.ace.probes import candidates_of
from agenthard.ace.reference_format import read
from agenthard.audit.probes import ProbeReport, Scene, read_scene, run_battery
from agenthard.audit.probes.plausible import consistency_probes
from agenthard.audit.probes.table import Table

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def released(corpora: Path) -> list[Scene]:
    files = sorted((corpora / "ace_reference" / "5x5_released").glob("*.json.gz"))
    instances = [instance for file in files for instance in read(file).instances]
    return [read_scene(candidates_of(one), one.id, one.puzzle.instruction) for one in instances]


@pytest.fixture(scope="module")
def report(released: list[Scene]) -> ProbeReport:
    return run_battery(released)


@pytest.mark.long
def test_the_sizes_are_those_of_the_files(report: ProbeReport) -> None:
    assert (report.scenes, report.choices, report.contested, report.truth_breaks_rules) == (210, 1638, 516, 0)


@pytest.mark.parametrize("probe", ["number in name:lowest", "pool:lowest"])
def test_names_and_pool_order_give_every_answer_away(report: ProbeReport, probe: str) -> None:
    found = {(r.id, r.scope): r for r in report.results}
    for scope in ("all", "survivors"):
        assert found[probe, scope].rate == 1.0 and found[probe, scope].verdict == "gives away"


def test_made_up_values_give_decoys_away(report: ProbeReport) -> None:
    traits = {shortcut.trait for shortcut in report.give_aways()}
    assert {"consistency", "range"} <= traits


def test_what_is_shuffled_well_is_at_chance(report: ProbeReport) -> None:
    assert [r.id for r in report.results if r.family in ("order", "ids") and r.found] == []


def test_only_decoys_contradict_their_names(released: list[Scene]) -> None:
    table = Table.build(released)
    [probe] = consistency_probes(table)
    wrong = np.asarray(probe.score) < 0
    assert int(wrong.sum()) == int((wrong & table.allowed & ~table.truth).sum()) == 49


def test_look_ahead_finds_most_truths(report: ProbeReport) -> None:
    overall = {row.way: row.accuracy for row in report.look_ahead if not row.group}
    assert 0.83 <= overall["mean"] <= 0.88 and overall["probability"] > 0.95
