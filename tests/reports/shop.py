"""A small benchmark written by hand, with its files, its findings and its runs."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.policy import decide, default_policy_text, load_policy
from agenthard.audit.detectors.base import DecidingKind
from agenthard.audit.execution.shown_replay import ShownReplay, ShownStep
from agenthard.audit.leaderboard import leaderboard
from agenthard.audit.sources.base import Quarantined, Version
from agenthard.reports.result import AuditResult, CheckInfo
from agenthard.taxonomy.categories import builtin_taxonomy
from agenthard.taxonomy.finding import Coverage, Evidence, Finding, Severity, Status, Tier
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    ToolSpec,
    UserSpec,
)
from agenthard.taxonomy.trajectory import Trajectory

ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
POLICY = (
    "# Rules of the shop\n\nGreet the customer.\n\nAn order that was handed to the carrier cannot be cancelled.\n"
    "A refund goes to the card that paid.\n\nNever reveal another customer's address.\n"
)
QUESTIONS = (
    "I am Ada Moor. Please cancel order W17, it was sent yesterday.",
    "Hello! How many blue mugs did I buy in May? Answer with the number only.",
    f"Send the invoice to {ATTACK} please.",
    "Change the colour of my lamp to green and keep the delivery date.",
    "Refund order W44 to my gift card.",
)

CHECKS = (
    CheckInfo(
        id="gold-against-policy",
        title="A gold call that the policy forbids",
        version="1",
        category="incorrect-tool-call",
        severity=Severity.AFFECTS_SCORE,
        tier=Tier.CONFIRMED,
        why="A run that follows the policy fails.",
        doc="A gold call does what a sentence of the policy forbids.\n\nFlagged: cancel an order that was sent.",
    ),
    CheckInfo(
        id="lenient-substring",
        title="A required output that almost any reply contains",
        version="2",
        category="too-lenient",
        severity=Severity.MAY_AFFECT_SCORE,
        tier=Tier.SUSPECTED,
        doc="A required output of one character.",
    ),
    CheckInfo(
        id="tool-doc-contradiction",
        title="A tool whose documentation contradicts its schema",
        version="1",
        category="misleading-tool-design",
        severity=Severity.COSMETIC,
        tier=Tier.CONFIRMED,
        doc="The description names a type that the schema does not allow.",
    ),
    CheckInfo(
        id="all-models-fail",
        title="A task that every model fails",
        version="1",
        category="suspicious-score-pattern",
        severity=Severity.MAY_AFFECT_SCORE,
        tier=Tier.SIGNAL,
        doc="No model of five passed.",
    ),
)


DECIDING: dict[str, DecidingKind] = {"gold-against-policy": "execution"}


def changed(result: AuditResult, **changes: Any) -> AuditResult:
    """Replace parts of a result and decide again."""
    values = {**{k: v for k, v in vars(result).items() if k in AuditResult.__dataclass_fields__}, **changes}
    ids = [task.id for task in values["tasks"]]
    if not isinstance(values["coverage"], CoverageTable):
        values["coverage"] = CoverageTable.of(values["coverage"])
    values["decisions"] = list(decide(load_policy(), ids, values["findings"], values["coverage"], DECIDING))
    return AuditResult(**values)


def build_shop(root: Path) -> AuditResult:
    """Five tasks, four findings, two quarantined records and the runs of two models, with the files in ``root``."""
    tasks = _tasks(root)
    findings = _findings()
    coverage = CoverageTable.of(_coverage(tasks, findings))
    runs = list(shop_runs())
    return AuditResult(
        source="shop",
        title="Corner Shop",
        version=Version(label="v2", content_hash="00ff00ff00ff00ff", files=3),
        root=root,
        tasks=tasks,
        quarantined=(
            Quarantined(file="tasks.json", line=31, pointer="/5", reason=f"not UTF-8 {ATTACK}", task_id="shop/5"),
            Quarantined(file="runs.jsonl", line=9, reason="names a task that is not there", kind="run"),
        ),
        findings=findings,
        coverage=coverage,
        decisions=list(decide(load_policy(), [t.id for t in tasks], findings, coverage, DECIDING)),
        checks=CHECKS,
        taxonomy=builtin_taxonomy(),
        policy=default_policy_text(),
        models=leaderboard(runs),
        cited_runs={run.id: run for run in runs[:1]},
        software={"agenthard": "0.1.0"},
        seed=7,
        settings={"domains": "all"},
    )


def _tasks(root: Path) -> list[AgentTask]:
    (root / "policy.md").write_text(POLICY, encoding="utf-8")
    documents = [{"id": i, "instruction": text, "actions": [_gold(i)]} for i, text in enumerate(QUESTIONS)]
    (root / "tasks.json").write_text(json.dumps(documents, indent=2), encoding="utf-8")
    cancel = {"name": "cancel_order", "description": "Cancels an order. order_id is a whole number."}
    (root / "tools #1.json").write_text(json.dumps([cancel], indent=2), encoding="utf-8")
    tool = ToolSpec(
        **cancel,
        parameters={"type": "object", "properties": {"order_id": {"type": "string"}}},
        origin=Origin(file="tools #1.json", pointer="/0"),
    )
    hostile = ToolSpec(name=f"mail{ATTACK}", description="Sends mail.")
    environment = EnvironmentSpec(tools=(tool, hostile), policy=POLICY, state={"orders": {"W17": "sent"}})
    return [_task(i, environment) for i in range(len(QUESTIONS))]


def _gold(index: int) -> dict[str, Any]:
    return {"name": "cancel_order", "kwargs": {"order_id": f"W{17 + index}"}}


def _task(index: int, environment: EnvironmentSpec) -> AgentTask:
    return AgentTask(
        id=f"shop/{index}",
        native_id=str(index),
        benchmark="shop",
        subtask="shop",
        user=UserSpec(kind="simulated", instruction=QUESTIONS[index]),
        environment=environment,
        initial_state={"basket": ["mug"]},
        evaluation=EvaluationSpec(checks=(Check(kind="output_substring", scored=True, expected="4"),)),
        ground_truth=GroundTruth(
            semantics="required",
            turns=((ToolCall(name="cancel_order", arguments=_gold(index)["kwargs"]),),),
            outputs=("4",) if index == 1 else (),
        ),
        traits=frozenset({"redundant_calls_free"}),
        metadata={"difficulty": "easy"},
        origins={
            "": Origin(file="tasks.json", pointer=f"/{index}"),
            "/environment/policy": Origin(file="policy.md"),
            "/user/instruction": Origin(file="tasks.json", pointer=f"/{index}/instruction"),
            "/ground_truth/turns/0": Origin(file="tasks.json", pointer=f"/{index}/actions"),
        },
    )


def _findings() -> tuple[Finding, ...]:
    def finding(check: CheckInfo, identity: str, **parts: Any) -> Finding:
        usual = {"category": check.category, "severity": check.severity, "tier": check.tier, "why": check.why}
        return Finding(id=identity, check=check.id, check_version=check.version, **{**usual, **parts})

    return (
        finding(
            CHECKS[0],
            "aaaaaaaaaaa0",
            claim="The gold cancels order W17, which was sent; the policy forbids that.",
            fix="Expect a refusal: remove the call.",
            task_ids=("shop/0",),
            evidence=(
                Evidence(
                    task_id="shop/0",
                    pointer="/environment/policy",
                    quote="An order that was handed to the carrier cannot be cancelled.",
                    note="the rule",
                ),
                Evidence(
                    task_id="shop/0",
                    pointer="/ground_truth/turns/0/0/arguments/order_id",
                    quote="W17",
                    note="the gold call",
                ),
            ),
            patch=({"op": "remove", "path": "/ground_truth/turns/0/0"},),
        ),
        finding(
            CHECKS[1],
            "bbbbbbbbbbb1",
            claim="The required output “4” stands in most replies.",
            fix="Require “4 mugs”.",
            task_ids=("shop/1",),
            evidence=(Evidence(task_id="shop/1", pointer="/ground_truth/outputs/0", quote="4"),),
        ),
        finding(
            CHECKS[2],
            "ccccccccccc2",
            claim=f"cancel_order says order_id is a whole number, its schema a string. {ATTACK}",
            task_ids=tuple(f"shop/{i}" for i in range(4)),
            also_in=("shop/4",),
            evidence=(
                Evidence(
                    task_id="shop/0", pointer="/environment/tools/0/description", quote="order_id is a whole number"
                ),
                Evidence(
                    task_id="shop/0",
                    pointer="/environment/tools/0/parameters/properties/order_id/type",
                    quote="string",
                ),
                Evidence(task_id="shop/2", pointer="/user/instruction", quote=ATTACK, note=ATTACK),
                Evidence(task_id="shop/0", pointer="/environment/tools/1/name", quote=f"mail{ATTACK}"),
            ),
        ),
        finding(
            CHECKS[3],
            "ddddddddddd3",
            claim="Each of 2 models failed this task.",
            task_ids=("shop/4",),
            evidence=(
                Evidence(
                    task_id="shop/4", trajectory_id="run-0", pointer="/messages/1/content", quote="I have refunded it"
                ),
            ),
            measures={"models": 2, "rate": 0.0},
        ),
    )


def _coverage(tasks: Iterable[AgentTask], findings: Iterable[Finding]) -> Iterable[Coverage]:
    flagged = {(task_id, finding.check) for finding in findings for task_id in finding.task_ids}
    for task in tasks:
        for check in CHECKS:
            status, reason = Status.CLEAN, ""
            if (task.id, check.id) in flagged:
                status = Status.FLAGGED
            elif check.id == "lenient-substring":
                status, reason = Status.NOT_CHECKED, "no required output"
            elif check.id == "gold-against-policy" and task.id == "shop/3":
                status, reason = Status.ERROR, "ValueError: the date is not a date"
            yield Coverage(task_id=task.id, check=check.id, status=status, reason=reason)


def shop_runs() -> Iterable[Trajectory]:
    """The runs of the shop: one model that failed once, and one with an infrastructure error."""
    messages = (
        Message(role="user", content=QUESTIONS[4]),
        Message(role="assistant", content="Done! I have refunded it to your gift card. \ud800"),
    )
    yield Trajectory(
        id="run-0",
        task_id="shop/4",
        model=f"model-a {ATTACK}",
        score=0.0,
        passed=False,
        messages=messages,
        usage={"steps": 3},
        origin=Origin(file="runs.jsonl", line=4),
    )
    for i in range(4):
        model = f"model-a {ATTACK}"
        yield Trajectory(id=f"run-{i + 1}", task_id=f"shop/{i}", model=model, passed=i != 0, score=float(i != 0))
    for i in range(5):
        broken = i == 3
        yield Trajectory(
            id=f"other-{i}",
            task_id=f"shop/{i}",
            model="model-b",
            status="infrastructure_error" if broken else "ok",
            status_reason="time-out" if broken else "",
            passed=None if broken else i < 2,
        )


def shop_replay(task_id: str) -> ShownReplay:
    """A replay with a long response, a failure and a hostile text."""
    steps = (
        ShownStep(turn=0, call='get_order {"order_id": "W17"}', response="x" * 40, more=1234),
        ShownStep(turn=1, call="cancel_order {}", response=f"Error: {ATTACK}", failed=True, changed=True),
    )
    return ShownReplay(task_id=task_id, environment="shop 1", steps=steps, more=2)
