"""Rules of a policy by proposal: asked over the loopback server, replayed, accepted, applied by an audit."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.audit.execution.policy.checker import rules_for
from agenthard.audit.execution.policy.proposals import read_accepted, shipped_books
from agenthard.flows.audited_run import read_findings
from agenthard.flows.cli import app
from agenthard.taxonomy import AgentTask, EnvironmentSpec
from tests.audit.execution.policy.conftest import booked, call, make_task
from tests.loopback import Answer, Loopback

POLICY = "The current time is 2024-05-15 15:00:00 EST.\n\nYou may cancel at most one reservation per conversation."
SENTENCE = "You may cancel at most one reservation per conversation."
TABLES = {
    "flights": {},
    "users": {"ada_1": {"reservations": ["R1", "R2"], "payment_methods": {}}},
    "reservations": {name: booked(name, "ada_1", "economy") for name in ("R1", "R2")},
}


def rule(**changes: Any) -> dict[str, Any]:
    values = {
        "id": "one-cancellation",
        "sentences": [SENTENCE],
        "tools": ["cancel_reservation"],
        "applies": "",
        "requires": 'earlier("cancel_reservation") == 0',
        "claim": "the call cancels a second reservation",
        "certain": True,
    }
    return {**values, **changes}


def proposal(*rules: dict[str, Any]) -> str:
    left_out = [{"sentence": "The current time is 2024-05-15 15:00:00 EST.", "because": "it binds no call"}]
    return json.dumps({"rules": list(rules), "left_out": left_out})


def task(number: int, *reservations: str) -> AgentTask:
    calls = [call("cancel_reservation", reservation_id=name) for name in reservations]
    made = make_task("airline", TABLES, calls, said="Cancel.", rules=POLICY)
    tools = ({"name": "cancel_reservation", "effect": "write", "parameters": {"type": "object"}},)
    environment = EnvironmentSpec.model_validate({**made.environment.model_dump(), "tools": tools})
    check = {"kind": "final_state", "scored": True, "pointer": "/ground_truth/turns/0"}
    changed = made.model_copy(update={"id": f"airline/{number}", "native_id": str(number), "environment": environment})
    return AgentTask.model_validate({**changed.model_dump(), "evaluation": {"checks": [check]}})


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    folder = tmp_path / "airline"
    folder.mkdir()
    tasks = [task(0, "R1"), task(1, "R1", "R2")]
    lines = [each.model_dump_json(exclude={"origins"}) for each in tasks]
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def agenthard(*words: object) -> str:
    done = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code in (0, 1), done.output
    return done.stdout


def test_a_model_proposes_a_replay_shows_conflicts_and_an_audit_applies(
    benchmark: Path, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    asked = []

    def reader(question: Any) -> Answer:
        asked.append(question)
        return Answer(text=proposal(rule(), rule(id="made-up", sentences=["Never cancel on a Sunday."])))

    loopback.service.brain = reader
    proposed, accepted = tmp_path / "proposed.json", tmp_path / "rules.json"
    name = f"compatible/loop@{loopback.url}/v1"
    agenthard("policy", "propose", "native", benchmark, "--domain", "airline", "--model", name, "--out", proposed)
    assert SENTENCE in asked[0].said[-1].text and "cancel_reservation" in asked[0].said[-1].text

    told = json.loads(agenthard("policy", "check", "native", benchmark, "--proposals", proposed, "--json"))
    first, second = told["rules"]
    assert (first["kept"], [each["task_id"] for each in first["broken"]]) == (2, ["airline/1"])
    assert second["refused"] == "the policy does not say: Never cancel on a Sunday."
    shown = agenthard("policy", "check", "native", benchmark, "--proposals", proposed)
    assert 'airline/1 ground truth: cancel_reservation({"reservation_id": "R2"})' in shown.replace("\n", " ")

    agenthard("policy", "accept", proposed, "--rule", "one-cancellation", "--by", "Ada", "--out", accepted)
    assert (read_accepted(accepted).accepted_by, len(read_accepted(accepted).rules)) == ("Ada", 1)

    run = tmp_path / "run"
    select = ("--select", "gold-breaks-policy", "--workers", 1, "--out", run, "-q")
    agenthard("audit", "native", benchmark, "--rules", accepted, *select)
    [finding] = read_findings(run)
    assert finding.task_ids == ("airline/1",) and "cancels a second reservation" in finding.claim
    assert SENTENCE in [item.quote for item in finding.evidence]


def test_an_answer_from_elsewhere_and_what_is_refused(benchmark: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    wrong = [rule(id="no-language", requires="open('x')"), rule(id="no-tool", tools=["fly_to_the_moon"])]
    answer.write_text(proposal(*wrong), encoding="utf-8")
    proposed = tmp_path / "proposed.json"
    agenthard(
        *("policy", "propose", "native", benchmark, "--domain", "airline", "--answer", answer),
        *("--reader", "Bea", "--out", proposed),
    )
    assert json.loads(proposed.read_text())["proposed_by"] == "Bea"
    told = json.loads(agenthard("policy", "check", "native", benchmark, "--proposals", proposed, "--json"))
    assert [each["refused"] for each in told["rules"]] == [
        "not of the rule language: open('x')",
        "no tool is called fly_to_the_moon",
    ]
    prompt = agenthard("policy", "prompt", "native", benchmark, "--domain", "airline")
    assert SENTENCE in prompt and "record(" in prompt


def test_the_books_that_ship_can_be_compiled_and_say_who_accepted_them() -> None:
    assert {book.domain: len(book.rules) for book in shipped_books()} == {"banking_knowledge": 7, "telecom": 9}


@pytest.mark.corpora
def test_shipped_rules_apply_to_the_policies_they_were_read_from(corpora: Path) -> None:
    from agenthard.audit.sources.tau.tau2 import Tau2Bench
    from tests.corpora import tasks_of

    for domain, number in (("telecom", 9), ("banking_knowledge", 7)):
        one = tasks_of(Tau2Bench, corpora / "tau2-bench_v1.0.1", (domain,))[0]
        assert len(rules_for(one)) == number
