"""Ten layouts of one benchmark go through ``infer`` and an audit without a person editing anything."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import agenthard as ah
from agenthard.audit.sources.mapping.infer import Proposal, infer
from agenthard.audit.sources.mapping.infer.proposal import as_yaml
from agenthard.taxonomy.finding import Status, Tier
from tests.audit.sources.mapping.layouts import CASES, LAYOUTS

EXPECTED_CHECKS = {
    "unknown tool": ("call-schema",),
    "wrong type": ("call-schema",),
    "missing required argument": ("call-schema",),
    "same task, other gold": ("conflicting-gold",),
    "value not in the prompt": ("ungrounded-argument",),
}


@dataclass(frozen=True)
class Audited:
    """A layout after ``infer`` and an audit."""

    proposal: Proposal
    result: ah.AuditResult
    tasks: tuple[ah.AgentTask, ...]


@cache
def audited(name: str) -> Audited:
    with TemporaryDirectory() as folder:
        proposal = infer(LAYOUTS[name](Path(folder) / name))
        mapping = Path(folder) / "mapping-of-it.yaml"
        mapping.write_text(as_yaml(proposal, mapping.parent))
        result = ah.audit(ah.open_source("mapping", mapping))
        return Audited(proposal, result, tuple(result.tasks))


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_proposal_reads_what_was_written(name: str) -> None:
    found = audited(name)
    assert found.proposal.understood.problems == []
    assert len(found.tasks) == len(CASES)
    for task, case in zip(found.tasks, CASES, strict=True):
        said = " ".join(text for _, text in task.user_texts())
        assert case.ask in said
        assert "You take orders" not in said
        calls = [(call.name.removeprefix("restaurant."), call.arguments) for _, call in task.gold_calls()]
        assert calls == list(case.calls)
        tools = {tool.name.removeprefix("restaurant."): tool.parameters for tool in task.environment.tools}
        assert set(tools) == {"order_food", "book_table"}
        assert sorted(tools["order_food"]["required"]) == ["count", "dish"]


@pytest.mark.parametrize("name", LAYOUTS)
def test_planted_flaws_are_found_and_nothing_else_is_confirmed(name: str) -> None:
    found = audited(name)
    assert found.result.mapping_doubts == ()
    planted = {task.id: case.planted for task, case in zip(found.tasks, CASES, strict=True) if case.planted}
    confirmed = {
        task for finding in found.result.findings if finding.tier is Tier.CONFIRMED for task in finding.task_ids
    }
    assert confirmed <= set(planted)
    for task, flaw in planted.items():
        checks = EXPECTED_CHECKS[flaw]
        flagged = [f for f in found.result.findings if task in f.task_ids and f.check in checks]
        rows = [row for row in found.result.coverage.of_task(task) if row.check in checks]
        assert flagged or all(row.status is Status.NOT_CHECKED and row.reason for row in rows), (flaw, rows)
