import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.decisions.policy import Decision, load_policy
from agenthard.audit.decisions.repaired_split import decide_repaired, write_repaired_split
from agenthard.audit.repair.file_edits import FileEdit
from agenthard.audit.sources.native import Native
from agenthard.taxonomy import Finding, Severity, Tier
from tests.builders import make_task

POLICY = load_policy()


def finding(name: str, task_id: str, severity: Severity = Severity.AFFECTS_SCORE) -> Finding:
    return Finding(
        id=name,
        check="call-schema",
        check_version="1",
        category="malformed-tool-call",
        severity=severity,
        tier=Tier.CONFIRMED,
        claim=f"claim {name}",
        task_ids=(task_id,),
        evidence=({"task_id": task_id, "pointer": "/id", "quote": task_id},),
    )


FINDINGS = [finding("f1", "t1"), finding("f2", "t1", Severity.MAY_AFFECT_SCORE), finding("f3", "t2")]
DECISIONS = [
    Decision(task_id="t1", action="drop", reasons=("f1",), finding_ids=("f1",)),
    Decision(task_id="t2", action="drop", reasons=("f3",), finding_ids=("f3",)),
    Decision(task_id="t3", action="keep", reasons=("clean",)),
]


@pytest.mark.parametrize(
    ("mended", "unchecked", "actions"),
    [
        ({}, {}, ["drop", "drop", "keep"]),
        ({"t1": ["f1"]}, {}, ["repair", "drop", "keep"]),
        ({"t1": ["f2"]}, {}, ["drop", "drop", "keep"]),
        ({"t1": ["f1", "f2"], "t2": ["f3"]}, {"t2": ["gold-fails"]}, ["repair", "repair", "keep"]),
    ],
)
def test_a_repaired_task_is_put_back_unless_another_finding_drops_it(
    mended: dict[str, list[str]], unchecked: dict[str, list[str]], actions: list[str]
) -> None:
    decided = decide_repaired(POLICY, DECISIONS, FINDINGS, mended, unchecked)
    assert [decision.action for decision in decided] == actions
    reasons = " ".join(reason for decision in decided for reason in decision.reasons if decision.action == "repair")
    assert ("still to be reviewed" in reasons) == (mended == {"t1": ["f1"]})
    assert ("gold-fails ended in an error" in reasons) == bool(unchecked)


def test_a_person_is_not_overruled() -> None:
    override: dict[str, Any] = {"overrides": {"t1": {"action": "drop", "reason": "mine", "by": "me"}}}
    policy = POLICY.model_validate({**POLICY.model_dump(), **override})
    [first, *_] = decide_repaired(policy, DECISIONS, FINDINGS, {"t1": ["f1", "f2"]}, {})
    assert first == DECISIONS[0]
    [settled, *_] = decide_repaired(POLICY, DECISIONS, FINDINGS, {"t1": ["f1", "f2"]}, {}, {"t1"})
    assert settled == DECISIONS[0]


def test_the_manifest_has_repaired_beside_dropped(tmp_path: Path) -> None:
    lines = [make_task(name).model_dump_json(exclude={"origins"}) for name in ("t1", "t2", "t3")]
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines) + "\n")
    source = Native(tmp_path)
    after = decide_repaired(POLICY, DECISIONS, FINDINGS, {"t1": ["f1"]}, {})

    def write(out: str, value: int) -> dict[str, Any]:
        edit = FileEdit(file="tasks.jsonl", line=1, patch=({"op": "replace", "path": "/id", "value": value},))
        write_repaired_split(
            source,
            tmp_path / out,
            DECISIONS,
            after,
            {"t1": [edit]},
            {"t1": "v1:00ff"},
            benchmark=source.version(),
            policy=POLICY,
            checks={"call-schema": "1"},
            agenthard="0",
            quarantined=[],
            accepted={},
        )
        found: dict[str, Any] = json.loads((tmp_path / out / "manifest.json").read_text())
        return found

    manifest = write("a", 1)
    assert manifest["kept_ids"] == ["t1", "t3"]
    assert manifest["counts"] == {"keep": 1, "repair": 1, "drop": 1, "review": 0, "unchecked": 0}
    assert [task["task_id"] for task in manifest["dropped"]] == ["t2"]
    [repaired] = manifest["repaired"]
    assert (repaired["task_id"], repaired["audit_decision"], repaired["finding_ids"]) == ("t1", "drop", ["f1"])
    assert repaired["content_hash"] == "v1:00ff"
    assert (tmp_path / "a" / "tasks.jsonl").read_text().splitlines() == [lines[0], lines[2]]
    assert manifest["split_id"] == write("b", 1)["split_id"] != write("c", 2)["split_id"]
