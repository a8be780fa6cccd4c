"""`agenthard run`: the whole loop on four instances, run again, and with one more agent."""

from pathlib import Path

import pytest

from agenthard.flows.run_config import load_config
from agenthard.flows.run_flow import run_pipeline
from tests.flows.evaluation.conftest import attempts, key

CONFIG = """
benchmark: ace
out: loop
generate: {rows: 3, cols: 3, hidden_slots: [1], decoy_budgets: [0], candidates: 6, domains: [course, meal], per_cell: 2}
evaluate: {agents: [AGENTS], trials: 2}
report: {draws: 200, resamples: 200}
"""


@pytest.mark.long
def test_the_whole_loop_again_and_with_another_agent(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG.replace("AGENTS", "solver, random"))
    first = run_pipeline(load_config(path))
    out = tmp_path / "loop" / "evaluation"
    assert first.evaluation.complete and first.evaluation.planned == 16
    assert (first.audit.tasks, first.audit.runs, first.audit.quarantined_runs) == (4, 16, 0)
    assert (Path(first.report.folder) / "report.html").is_file()
    played = {key(row): row["seconds"] for row in attempts(out)}
    again = run_pipeline(load_config(path))
    assert {key(row): row["seconds"] for row in attempts(out)} == played
    assert again.evaluation == first.evaluation and again.audit.findings == first.audit.findings
    path.write_text(CONFIG.replace("AGENTS", "solver, random, slot-filter"))
    more = run_pipeline(load_config(path))
    rows = {key(row): row["seconds"] for row in attempts(out)}
    assert len(rows) == 24 and {name: rows[name] for name in played} == played
    assert more.audit.runs == 24
