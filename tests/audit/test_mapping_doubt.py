"""What hits most tasks of a mapped benchmark at once is reported as a wrong mapping, never as flaws of the tasks."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import agenthard as ah
from agenthard.audit.sources.base import SourceError
from agenthard.flows.cli import app
from agenthard.taxonomy.finding import Tier
from tests.audit.sources.mapping.layouts import nested_dialogue


def mapped(folder: Path, **changes: object) -> Path:
    """Write the nested dialogue with a mapping that takes the system prompt for the user's words."""
    nested_dialogue(folder)
    mapping = {
        "benchmark": "cases",
        "files": "cases.jsonl",
        "id": "case.uid",
        "user": {"turns": "dialogue.system"},
        "environment": {"tools": "toolbox.functions"},
        "ground_truth": {"calls": "expected_calls"},
        **changes,
    }
    (folder / "mapping.yaml").write_text(yaml.safe_dump(mapping))
    return folder


def test_a_system_prompt_as_the_user_confirms_nothing(tmp_path: Path) -> None:
    result = ah.audit(ah.open_source("mapping", mapped(tmp_path)))
    assert [doubt.partition(" tasks.")[0] for doubt in result.mapping_doubts] == [
        "conflicting-gold finds flaws in 21 of 21"
    ]
    assert {finding.tier for finding in result.findings} <= {Tier.SUSPECTED, Tier.SIGNAL}
    assert {decision.action for decision in result.decisions} == {"review"}
    assert "this looks like a wrong mapping: conflicting-gold" in repr(result)


def test_the_command_says_so_and_ends_with_an_exit_code(tmp_path: Path) -> None:
    folder, out = mapped(tmp_path / "data"), tmp_path / "run"
    done = CliRunner().invoke(app, ["audit", "mapping", str(folder), "--out", str(out), "--workers", "1"])
    assert done.exit_code == 2, done.output
    assert "this looks like a wrong mapping: conflicting-gold finds flaws in 21 of 21 tasks" in done.output
    assert "0 confirmed" in done.output
    assert (out / "summary.md").read_text().splitlines()[2].startswith("This looks like a wrong mapping")
    assert json.loads((out / "findings.json").read_text())["mapping_doubts"]
    assert ah.AuditResult.read(out).mapping_doubts


def test_a_person_can_vouch_for_a_mapping(tmp_path: Path) -> None:
    result = ah.audit(ah.open_source("mapping", mapped(tmp_path, verified=True)))
    assert result.mapping_doubts == ()
    assert any(finding.tier is Tier.CONFIRMED and len(finding.task_ids) == 21 for finding in result.findings)


def test_flaws_of_a_minority_stay_confirmed(tmp_path: Path) -> None:
    folder = mapped(tmp_path, user={"turns": "dialogue.exchanges"})
    result = ah.audit(ah.open_source("mapping", folder))
    confirmed = {task for f in result.findings if f.tier is Tier.CONFIRMED for task in f.task_ids}
    assert (result.mapping_doubts, confirmed) == ((), {"p1", "p2", "p3", "p4", "p5"})


def test_when_nothing_is_readable_the_first_reasons_are_told(tmp_path: Path) -> None:
    folder = mapped(tmp_path, user={"turns": "dialogue.exchanges[].utterence"})
    with pytest.raises(
        SourceError, match=r"no task could be read, 21 records were refused:\n.*cases.jsonl:1 /dialogue"
    ):
        ah.audit(ah.open_source("mapping", folder))


def test_the_console_tells_why_records_were_quarantined(tmp_path: Path) -> None:
    folder = mapped(tmp_path / "data", user={"turns": "dialogue.exchanges"})
    with (folder / "cases.jsonl").open("a") as stream:
        stream.write('{"case": {"uid": "broken"}, "dialogue": {"exchanges": []}, "expected_calls": ""}\n')
    done = CliRunner().invoke(app, ["audit", "mapping", str(folder), "--out", str(tmp_path / "run"), "--workers", "1"])
    assert "quarantined: 1 record, cases.jsonl:22" in done.output
