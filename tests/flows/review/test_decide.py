"""`agenthard decide` on the audit of the demo benchmark."""

import hashlib
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from agenthard.audit.decisions.verdicts import VerdictError
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.audited_run import read_decisions
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError
from agenthard.flows.report import ReportSettings, make_report
from agenthard.flows.review.decide import DecideSettings, ReviewedRun, decide_run
from agenthard.flows.review.events import Event, ReviewError
from agenthard.flows.review.exchange import write_events
from agenthard.flows.review.store import EventStore
from agenthard.reports.cleaning.inputs import AnalysisSettings
from tests.flows.audits import audit_by_steps
from tests.flows.review.build_events import undo

REJECTED, CONFIRMED = "a38334e9881a", "a92ee6045090"
"""A confirmed finding about parcels/11, and a suspected one about parcels/14."""


def files(run: Path) -> dict[str, str]:
    """Hash of every file but those of work/, of the store, and the list of hashes, which the demo run has none of."""
    found = (path for path in sorted(run.rglob("*")) if path.is_file())
    names = {path.relative_to(run).as_posix(): path for path in found}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in names.items()
        if not name.startswith(("work/", "review.db", "checksums.json"))
    }


def event(run: Path, kind: str, target_id: str, by: str = "ann", **data: Any) -> Event:
    target: Any = "task" if "/" in target_id else "finding"
    return Event(
        id=uuid4(),
        at=datetime(2026, 5, 4, 9, 30, tzinfo=UTC),
        by=by,
        run="demo",
        kind=kind,  # type: ignore[arg-type]
        target=target,
        target_id=target_id,
        content_hash=ReviewedRun(run).contents.get((target, target_id), ""),
        data=data,
    )


def store(run: Path, *events: Event) -> None:
    with EventStore.of_run(run) as opened:
        opened.append(events)


def actions(run: Path) -> dict[str, str]:
    return {decision.task_id: decision.action for decision in read_decisions(run)}


def again(run: Path, **settings: Any) -> Any:
    return decide_run(DecideSettings(run=str(run), **settings))


def test_no_verdicts_give_the_bytes_of_the_audit(demo_run: Path) -> None:
    before = files(demo_run)
    outcome = again(demo_run)
    assert files(demo_run) == before and not outcome.changed and outcome.cleaning is None


def test_verdicts_decide_and_undoing_them_restores_every_byte(demo_run: Path) -> None:
    make_report(ReportSettings(run=str(demo_run), analysis=AnalysisSettings(draws=200, resamples=200)))
    before = files(demo_run)
    given = [
        event(demo_run, "verdict", "library/9", flaw="no", reason="<b>right</b> | `as` it is"),
        event(demo_run, "verdict", "parcels/1", flaw="yes"),
        event(demo_run, "verdict", "parcels/1", "bob", flaw="no"),
        event(demo_run, "finding_verdict", REJECTED, answer="false", reason="accepted by the evaluator"),
        event(demo_run, "finding_verdict", CONFIRMED, "bob", answer="true"),
    ]
    store(demo_run, *given)
    outcome = again(demo_run)
    assert (outcome.verdicts_on_tasks, outcome.verdicts_on_findings, outcome.reviewers) == (2, 2, ("ann", "bob"))
    assert outcome.disputed == ("task parcels/1",) and outcome.cleaning is not None
    changed = {task.task_id: (task.before, task.after) for task in outcome.changed}
    assert changed == {
        "library/9": ("review", "keep"),
        "parcels/1": ("keep", "review"),
        "parcels/11": ("drop", "review"),
        "parcels/14": ("review", "drop"),
    }
    split = json.loads((demo_run / "split/cleaned/manifest.json").read_text())
    assert split["split_id"] == outcome.split_id and "parcels/14" not in split["kept_ids"]
    once = files(demo_run)
    assert {name for name in before if once[name] != before[name]} >= {
        *("findings.json", "results.sarif", "report.html", "summary.md", "tables/decisions.parquet"),
        *("split/cleaned/tasks.jsonl", "report/analysis.json", "report/tables/leaderboards.csv"),
    }
    assert not again(demo_run).changed and files(demo_run) == once
    store(demo_run, *(undo(each, each.by) for each in given))
    outcome = again(demo_run)
    assert len(outcome.changed) == 4 and outcome.verdicts_on_tasks == 0
    assert files(demo_run) == before


def test_the_report_says_who_decided_what(demo_run: Path) -> None:
    store(
        demo_run,
        event(demo_run, "verdict", "library/9", flaw="no", reason="<b>right</b> | `as` it is"),
        event(demo_run, "finding_verdict", REJECTED, answer="false", reason="the evaluator accepts it"),
    )
    again(demo_run)
    summary = (demo_run / "summary.md").read_text(encoding="utf-8")
    assert "## Decided by people" in summary and "<b>" not in summary
    page = (demo_run / "report.html").read_text(encoding="utf-8")
    assert "Decided by people" in page and "&lt;b&gt;right" in page and "<b>right" not in page
    found = json.loads((demo_run / "findings.json").read_text(encoding="utf-8"))
    assert found["people"]["tasks"]["library/9"]["answers"][0]["by"] == "ann"
    assert REJECTED not in {each["id"] for each in found["findings"]}
    assert [each["finding"]["id"] for each in found["suppressed"]] == [REJECTED]
    sarif = json.loads((demo_run / "results.sarif").read_text(encoding="utf-8"))
    excused = [each["suppressions"][0] for each in sarif["runs"][0]["results"] if each.get("suppressions")]
    assert excused[0]["justification"] == "not a flaw: ann (2026-05-04: the evaluator accepts it)"
    assert any("ann (2026-05-04" in reason for d in read_decisions(demo_run) for reason in d.reasons)


def test_a_verdict_survives_an_update_while_the_task_is_unchanged(demo_run: Path, tmp_path: Path) -> None:
    benchmark = tmp_path / "updated"
    audited = AuditSettings.model_validate_json((demo_run / "work/settings.json").read_bytes())
    shutil.copytree(audited.path, benchmark)
    lines = (benchmark / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    place = next(n for n, line in enumerate(lines) if json.loads(line)["id"] == "library/9")
    changed = json.loads(lines[place])
    changed["user"]["instruction"] += " Thank you."
    lines[place] = json.dumps(changed)
    (benchmark / "tasks.jsonl").write_text("\n".join([lines[-1], *lines[:-1]]) + "\n", encoding="utf-8")
    later = tmp_path / "later"
    audit_by_steps(AuditSettings(source="native", path=str(benchmark), out=str(later)))
    events = [
        event(demo_run, "verdict", "library/9", flaw="no", reason="fine"),
        event(demo_run, "verdict", "parcels/11", flaw="no", reason="fine too"),
        event(demo_run, "finding_verdict", CONFIRMED, answer="false"),
        event(demo_run, "verdict", "library/9", "bob", flaw="no").model_copy(update={"target_id": "library/99"}),
    ]
    store(demo_run, *events)
    outcome = again(later, verdicts=f"sqlite:///{demo_run}/review.db", reviewed="demo")
    assert (outcome.verdicts_on_tasks, outcome.verdicts_on_findings) == (1, 1)
    assert actions(later)["parcels/11"] == "keep"
    assert [each.partition(":")[0] for each in outcome.stale] == ["task library/9", "task library/99"]
    assert "its content has changed since" in outcome.stale[0] and "not have it any more" in outcome.stale[1]
    assert "stale, not used" in (later / "summary.md").read_text(encoding="utf-8")
    with pytest.raises(ReviewError, match="no events about 'later', only about demo; see --reviewed"):
        again(later, verdicts=f"sqlite:///{demo_run}/review.db")


def test_a_file_of_verdicts_is_read_and_unknown_ids_are_errors(demo_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    good = event(demo_run, "verdict", "library/9", flaw="yes")
    write_events(file, [good])
    command = ["decide", str(demo_run), "--verdicts", str(file)]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0 and "library/9" in shown.output, shown.output
    assert json.loads(CliRunner().invoke(app, [*command, "--json"]).output)["verdicts_on_tasks"] == 1
    write_events(file, [good, good.model_copy(update={"id": uuid4(), "target_id": "library/9l"})])
    with pytest.raises(ReviewError, match=r"no task 'library/9l'; did you mean 'library/9'\?"):
        again(demo_run, verdicts=str(file))
    wrong = event(demo_run, "finding_verdict", CONFIRMED, answer="true").model_copy(
        update={"target_id": "a92ee6045o90"}
    )
    write_events(file, [wrong])
    with pytest.raises(ReviewError, match=f"no finding 'a92ee6045o90'; did you mean '{CONFIRMED}'"):
        again(demo_run, verdicts=str(file))
    file.write_text('{"id": 1}\n[]\n')
    with pytest.raises(ReviewError, match=r"verdicts.jsonl:1: id: UUID input"):
        again(demo_run, verdicts=str(file))


def test_an_override_of_an_unknown_task_is_an_error(demo_run: Path, tmp_path: Path) -> None:
    audited = AuditSettings.model_validate_json((demo_run / "work/settings.json").read_bytes())
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        'version: "1"\nrules: [{action: drop, tier: confirmed}]\n'
        "overrides: {parcels/1l: {action: drop, reason: r, by: ann}}\n"
    )
    with pytest.raises(VerdictError, match=r"no task 'parcels/1l'; did you mean 'parcels/1'\?"):
        audit_by_steps(audited.model_copy(update={"policy": str(policy), "out": str(tmp_path / "out"), "runs": ()}))


def test_what_cannot_be_decided_again_is_refused(demo_run: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no finished audit here"):
        again(tmp_path)
    (demo_run / "work/plan.json").unlink()
    with pytest.raises(CommandError, match=r"work/plan.json is missing"):
        again(demo_run)
