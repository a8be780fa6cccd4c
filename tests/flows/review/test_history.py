"""Findings over several runs of the demo benchmark."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.audit.judge.aggregate.findings import JudgeCheck
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError
from agenthard.flows.review.decide import DecideSettings, ReviewedRun, decide_run
from agenthard.flows.review.history import changes_between, finding_history
from agenthard.flows.review.store import EventStore
from agenthard.reports.comparison.audits import load_side
from tests.flows.review.build_events import finding_verdict

FIXED, KEPT = "a38334e9881a", "5980e3eba98a"
"""A wrong type in the gold call of parcels/11, and a contradiction in a tool's documentation."""


def test_the_history_of_a_finding(demo_run: Path, later: Path) -> None:
    content = ReviewedRun(demo_run).contents["finding", KEPT]
    with EventStore.of_run(demo_run) as store:
        store.append([finding_verdict(KEPT, "true", "bob", content)])
    first, second = finding_history([demo_run, later], FIXED)
    assert first.change is None and first.tier == "confirmed" and first.decisions == {"drop": 1}
    assert second.tier is None and second.change is not None
    assert (second.change.change, second.change.cause) == ("fixed", "task")
    kept = finding_history([demo_run, later], KEPT)
    assert kept[1].change is not None and kept[1].change.change == "persisted"
    assert kept[0].said == ("bob: true (2026-05-04)",)
    back = finding_history([later, demo_run], FIXED)
    assert back[1].change is not None and back[1].change.change == "new"
    with pytest.raises(CommandError, match="no finding 'nope'"):
        finding_history([demo_run], "nope")
    shown = CliRunner().invoke(app, ["queue", "history", FIXED, str(demo_run), str(later)])
    assert shown.exit_code == 0 and "fixed (task)" in shown.output
    as_json = CliRunner().invoke(app, ["queue", "history", FIXED, str(demo_run), str(later), "--json"])
    assert [row["tasks"] for row in json.loads(as_json.output)] == [1, 0]


def test_a_finding_that_people_rejected_is_not_fixed(demo_run: Path, tmp_path: Path) -> None:
    shutil.copytree(demo_run, tmp_path / "before")
    content = ReviewedRun(demo_run).contents["finding", FIXED]
    with EventStore.of_run(demo_run) as store:
        store.append([finding_verdict(FIXED, "false", "bob", content)])
    decide_run(DecideSettings(run=str(demo_run)))
    changes = changes_between(load_side(tmp_path / "before"), load_side(demo_run))
    assert changes[FIXED].change == "suppressed" and "bob" in changes[FIXED].differences[0]
    assert changes[KEPT].change == "persisted"


def test_a_judge_that_changes_its_mind_is_drift(demo_run: Path, later: Path) -> None:
    side, changed = load_side(demo_run), load_side(later)
    first = next(each for each in side.audit.findings if each.task_ids == ("parcels/14",))
    said = first.model_copy(update={"id": "f" * 12, "check": JudgeCheck.id})
    judged = replace(side, audit=replace(side.audit, findings=[*side.audit.findings, said]))
    assert changes_between(side, judged)[said.id].cause == "judge"
    about_changed = said.model_copy(update={"task_ids": ("parcels/11",)})
    judged = replace(changed, audit=replace(changed.audit, findings=[*changed.audit.findings, about_changed]))
    assert changes_between(side, judged)[said.id].cause == "task"
