import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.evaluation import AnswerLeakage
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.native import Native
from agenthard.taxonomy import AgentTask, Coverage, Finding, Status
from agenthard.taxonomy.finding import Tier
from agenthard.taxonomy.pointer import resolve
from tests.audit.probes.benchmark import answer, tasks
from tests.builders import make_task


def audit(records: list[AgentTask]) -> tuple[list[Finding], list[Coverage]]:
    detectors = [AnswerLeakage()]
    shards = [check_shard(records[i : i + 25], {}, detectors) for i in range(0, len(records), 25)]
    return conclude("library", [task.id for task in records], shards, detectors)


def check(made: list[Any]) -> tuple[list[Finding], list[Coverage], list[AgentTask]]:
    records = [make_task(f"lib/{n}", metadata={"candidates": data}) for n, data in enumerate(made)]
    return (*audit(records), records)


def test_a_shortcut_is_one_finding_that_quotes_answers() -> None:
    made = tasks()
    for task in made:
        for choice in task["sets"]:
            choice["candidates"].sort(key=lambda c, truth=choice["truth"]: c["id"] != truth)
    [finding], coverage, records = check(made)
    assert finding.claim.startswith("Over all candidates, the answer is listed first in 100 % of 180 choices")
    assert finding.category == "answer-leakage" and "Shuffle" in finding.fix
    assert finding.measures["rate"] == 1.0 and finding.measures["chance"] == pytest.approx(0.2)
    assert finding.tier is Tier.CONFIRMED and finding.measures["effect"] == 1
    assert len(finding.task_ids) == 60
    assert {row.status for row in coverage} == {Status.FLAGGED}
    by_id = {task.id: task for task in records}
    assert len(finding.evidence) == 3
    for item in finding.evidence:
        assert resolve(by_id[item.task_id], item.pointer) == item.quote


def test_only_tasks_where_the_trait_points_to_the_answer_are_affected() -> None:
    made = tasks(number=80)
    for task in made[:40]:
        for choice in task["sets"]:
            answer(choice)["price"] = min(c["price"] for c in choice["candidates"]) - 1
    findings, _, _ = check(made)
    [finding] = [found for found in findings if "has the lowest price" in found.claim]
    pointed = [
        any(answer(choice)["price"] == min(c["price"] for c in choice["candidates"]) for choice in task["sets"])
        for task in made
    ]
    assert finding.task_ids == tuple(f"lib/{n}" for n, right in enumerate(pointed) if right)
    assert 40 <= len(finding.task_ids) < 80


def test_a_fair_benchmark_is_clean() -> None:
    findings, coverage, _ = check(tasks(rules=True))
    assert findings == []
    assert {row.status for row in coverage} == {Status.CLEAN}


def test_a_task_named_in_the_users_words_gives_its_answer_away() -> None:
    made = tasks(number=12)
    for task in made:
        # make_task's user says "Lend book 7 to Ada.", so the id 7 is named.
        for choice in task["sets"][:1]:
            right = answer(choice)
            right["id"] = choice["truth"] = "7"
        task["pool"] = []
        del task["sets"][1:]
    findings, _, _ = check(made)
    assert any("named most often in the task's text" in finding.claim for finding in findings)


def test_a_task_said_twice_counts_once() -> None:
    made = tasks()
    for task in made:
        for choice in task["sets"]:
            choice["candidates"].sort(key=lambda c, truth=choice["truth"]: c["id"] != truth)
    [finding], _, _ = check([*made, *made[:20]])
    assert finding.measures["n"] == 180
    assert finding.task_ids == tuple(f"lib/{n}" for n in range(60))


def test_a_task_without_candidates_is_not_checked() -> None:
    detectors = [AnswerLeakage()]
    findings, [row] = conclude("library", ["a"], [check_shard([make_task("a")], {}, detectors)], detectors)
    assert findings == []
    assert (row.status, row.reason) == (Status.NOT_CHECKED, "the task states no candidates to choose from")


def test_a_few_choices_decide_nothing() -> None:
    findings, coverage, _ = check(tasks(number=3))
    assert findings == []
    assert {row.reason for row in coverage} == {
        "9 choices in the benchmark; 10 are needed to tell a shortcut from luck"
    }


def test_candidates_that_cannot_be_read_are_an_error_of_that_task_alone() -> None:
    made = tasks(number=20)
    made[3]["sets"][1]["truth"] = "nobody"
    findings, coverage, _ = check(made)
    assert findings == []
    assert [row.status for row in coverage].count(Status.CLEAN) == 19
    assert "candidates/sets/1/truth: 'nobody' is not the id of a candidate" in coverage[3].reason


def test_a_benchmark_in_the_native_format_states_its_candidates(tmp_path: Path) -> None:
    made = tasks()
    for task in made:
        for choice in task["sets"]:
            answer(choice)["price"] = min(c["price"] for c in choice["candidates"]) - 1
    lines = []
    for n, data in enumerate(made):
        task = make_task(f"lib/{n}", metadata={"candidates": data}).model_dump(mode="json", exclude={"origins"})
        lines.append(json.dumps(task))
    lines.append(json.dumps(make_task("lib/plain").model_dump(mode="json", exclude={"origins"})))
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    findings, coverage = audit(list(Native(tmp_path).tasks(Quarantine())))
    assert "has the lowest price" in findings[0].claim and findings[0].measures["rate"] == 1.0
    assert [row.status for row in coverage] == [Status.FLAGGED] * 60 + [Status.NOT_CHECKED]
