"""A cascade over a loopback server, in the protocols of OpenAI and Gemini: who is asked, who decides, what it costs."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.decisions.judging import JudgingRules
from agenthard.audit.decisions.policy import default_policy_text
from agenthard.flows.audited_run import read_decisions, read_findings
from agenthard.flows.errors import CommandError
from agenthard.flows.judging.run import run_judging
from agenthard.models.ledger import Ledger, Total
from agenthard.taxonomy.yaml_text import load_own_yaml
from tests.flows.audits import audit_by_steps
from tests.flows.judging.made import AuditSettings, curious, judging, model, panel, verdict, write_benchmark
from tests.loopback import Loopback

pytestmark = pytest.mark.usefixtures("keys")
COUNT = 22


def audit_with(folder: Path, **rules: Any) -> Path:
    """Audit under a policy with these rules for judges."""
    JudgingRules.model_validate(rules)
    policy = folder / "policy.yaml"
    content = {**load_own_yaml(default_policy_text()), "judging": rules}
    policy.write_text(json.dumps(content), encoding="utf-8")
    benchmark = write_benchmark(folder / "library", COUNT)
    audit_by_steps(AuditSettings(source="native", path=str(benchmark), out=str(folder / "run"), policy=str(policy)))
    return folder / "run"


def two_tiers(api: str, url: str, **rules: Any) -> dict[str, Any]:
    strong = {"model": model(api, url, sampling={"max_output_tokens": 2000}), "tier": "second", "investigates": True}
    return panel([{"model": model(api, url)}, strong], rebuttal=True, attempts=1, **rules)


def spent(out: Path) -> dict[str, Total]:
    ledger = Ledger(out / "judge" / "ledger.sqlite")
    try:
        return {str(total.purpose): total for total in ledger.totals(by=("purpose",))}
    finally:
        ledger.close()


@pytest.mark.parametrize("api", ["chat", "responses", "gemini"])
def test_each_stage_asks_decides_and_is_paid_for(api: str, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = curious
    run = audit_with(tmp_path)
    dropped = {decision.task_id for decision in read_decisions(run) if decision.action == "drop"}
    out = tmp_path / "out"
    outcome = run_judging(judging(run, out, two_tiers(api, loopback.url)))
    account = json.loads((out / "judge" / "cascade.json").read_text())
    stages = {row["stage"]: row for row in account["stages"]}
    # Tasks that end in 7, 8 and 9 fail in both tiers; those that end in 1 are flagged, and the defence decides.
    assert account["escalated"] == {"failed": 6, "uncertain": 3}
    assert {name: row["tasks"] for name, row in stages.items()} == {
        "rules": len(dropped), "first tier": 13, "second tier": 0, "proof": 0, "votes on readings": 0, "defence": 3,
        "undecided": 6,
    }  # fmt: skip
    assert sum(row["tasks"] for row in stages.values()) == COUNT == outcome.tasks
    assert stages["defence"]["outcomes"] == {"flawed": 1, "uncertain": 2}
    books = spent(out)
    assert set(books) == {"judge: first tier", "judge: second tier", "judge: defence"}
    for stage in ("first tier", "second tier", "defence"):
        assert stages[stage]["requests"] == books[f"judge: {stage}"].answered
        assert stages[stage]["cost"] == pytest.approx(books[f"judge: {stage}"].cost)
    assert books["judge: first tier"].answered == COUNT
    assert books["judge: defence"].answered == 3
    assert sum(total.sent for total in books.values()) == loopback.counts["received"]
    said = {f.task_ids[0]: f.why for f in read_findings(out) if f.check == "judge"}
    assert "[decided by: defence; the second tier was asked because the first was not certain]" in said["lib/1"]
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["judge"]["cascade"] == account
    assert "| second tier | 0 |" in (out / "judge" / "cascade.md").read_text()


def test_the_rule_decides_who_is_asked(loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = verdict
    run = audit_with(tmp_path, escalation={"when": ["grave"], "sure": 0.5})
    out = tmp_path / "out"
    outcome = run_judging(judging(run, out, two_tiers("chat", loopback.url)))
    account = json.loads((out / "judge" / "cascade.json").read_text())
    assert account["escalated"] == {"grave": 3}
    assert outcome.questions == COUNT + 3


def test_a_budget_stops_the_cascade_and_it_resumes(loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = curious
    run = audit_with(tmp_path)
    content = two_tiers("chat", loopback.url)
    whole = run_judging(judging(run, tmp_path / "whole", content))
    received = loopback.counts["received"]
    stopped = run_judging(judging(run, tmp_path / "out", content, token_budget=250_000, in_flight=1))
    assert "budget" in stopped.stopped
    between = loopback.counts["received"]
    assert received < between < 2 * received
    done = run_judging(judging(run, tmp_path / "out", content))
    stages = [[row.model_dump(exclude={"cached", "cost"}) for row in each.stages] for each in (done, whole)]
    assert stages[0] == stages[1] and done.panels == whole.panels
    assert loopback.counts["received"] == 2 * received


def test_a_rule_that_changes_belongs_to_another_folder(loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = verdict
    run = audit_with(tmp_path)
    content = two_tiers("chat", loopback.url)
    run_judging(judging(run, tmp_path / "out", content))
    policy = tmp_path / "policy.yaml"
    changed = json.loads(policy.read_text()) | {"judging": {"escalation": {"sure": 0.5}}}
    policy.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(CommandError, match="another rule of escalation"):
        run_judging(judging(run, tmp_path / "out", content))


def test_flaws_below_the_threshold_are_counted_and_not_reported(loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = verdict
    # The judge says .9; a wrong flag that costs twelve times a missed flaw asks for .92.
    run = audit_with(tmp_path, reporting={"false_flag_cost": 12})
    outcome = run_judging(judging(run, tmp_path / "out", panel([{"model": model("gemini", loopback.url)}], attempts=1)))
    assert outcome.threshold == pytest.approx(12 / 13)
    assert outcome.below_threshold == 3
    assert [finding for finding in read_findings(tmp_path / "out") if finding.check == "judge"] == []
